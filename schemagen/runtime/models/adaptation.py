"""Letting a generated model see data before it is trained, one batch after the other.

What is held in memory is a batch and what has been learned so far: means and variances
of numbers, counts of tokens. Layers are found by their class and the name of their field:
a model whose encoder was replaced does not have them, and nothing is learned for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from math import isnan
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..shared.requirements import tf
from . import vocabularies
from .agreement import check_features
from .layers import Adapted, Normalization, densify
from .vocabularies import (
    DEFAULT_TOKENS,
    IntegerVocabulary,
    StringVocabulary,
    widest_integer,
)

Token = TypeVar("Token", bound=Hashable)

# How many different tokens are counted for each that a vocabulary has room for.
_CANDIDATES = 10

_OUT_OF_VOCABULARY = b"[UNK]"


class Learner(Protocol):
    """What one layer learns from batches of its field."""

    def see(self, layer: Any, batch: Any) -> None:
        """Learn from a batch of the field."""

    def teach(self, layer: Any) -> None:
        """Let the layer have what has been learned."""


def learn(model: Any, dataset: tf.data.Dataset) -> None:
    """Let a model's layers see a dataset, in one pass.

    Args:
        model: a generated one.
        dataset: of features by name, or of tuples that begin with them.

    Raises:
        ValueError: the dataset is empty or endless, or its features do not fit.
    """
    check_features(model, dataset)
    found = [(layer, *known) for layer in model.layers if (known := _learner_of(layer))]
    if not found:
        return
    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise ValueError(
            "adapt reads a dataset to its end, and this one has none: make it with "
            "repeat=False, or take a part of it, such as dataset.take(1000)"
        )
    batches = 0
    for element in dataset:
        features = element[0] if isinstance(element, tuple) else element
        for layer, name, learner in found:
            _check_int32(name, features[name])
            learner.see(layer, features[name])
        batches += 1
    if not batches:
        raise ValueError(
            "adapt has nothing to learn from, the dataset is empty: expected at least "
            "one batch; drop_remainder=True leaves none of fewer records than "
            "batch_size, and take, skip or shard may leave none either"
        )
    for layer, _, learner in found:
        learner.teach(layer)
    _open_gates(model)


def _learner_of(layer: Any) -> tuple[str, Learner] | None:
    """Return the field of a layer that learns from data, and what learns for it.

    Layers of other classes are a user's own, whatever their names.
    """
    name = layer.name
    learner: Learner
    if isinstance(layer, Normalization):
        padding = layer.padding_value
        learner = Numbers() if padding is None else Items(padding)
        return name.removesuffix("_normalization"), learner
    if isinstance(layer, IntegerVocabulary):
        learner = Tokens(layer.padding_value, layer.max_tokens)
        return name.removesuffix("_lookup"), learner
    if isinstance(layer, StringVocabulary):
        learner = Tokens(layer.mask_token, layer.max_tokens)
        return name.removesuffix("_lookup"), learner
    if isinstance(layer, vocabularies.Words):
        return name.removesuffix("_vectorization"), Words(layer.vocabulary_limit)
    return None


class Numbers:
    """Means and variances of a field's numbers, row by row."""

    def __init__(self) -> None:
        self.moments = Moments()

    def see(self, layer: Any, batch: Any) -> None:
        """Learn from the rows [B, ...] without those that are not finite."""
        values = tf.cast(densify(batch, 0), tf.float32).numpy()
        self.moments.add(values.reshape(-1, layer.mean_shape[0]))

    def teach(self, layer: Any) -> None:
        """Set the normalization; without any finite row it changes nothing."""
        if self.moments.count:
            layer.learn(self.moments.mean, self.moments.variance)


class Items(Numbers):
    """Means and variances of the items of a field's sequences, without padding."""

    def __init__(self, padding_value: Any) -> None:
        super().__init__()
        self.padding_value = float(padding_value)

    def see(self, layer: Any, batch: Any) -> None:
        """Learn from the items of sequences [B, T, ...]."""
        values = tf.cast(_flat_values(batch), tf.float32).numpy()
        rows = values.reshape(-1, layer.mean_shape[0])
        padding = self.padding_value
        pads = np.isnan(rows) if isnan(padding) else rows == np.float32(padding)
        self.moments.add(rows[~pads.all(axis=1)])


class Tokens:
    """How often each token of a field occurs."""

    def __init__(self, padding_value: Any, max_tokens: int = DEFAULT_TOKENS) -> None:
        text = isinstance(padding_value, str)
        self.padding = padding_value.encode() if text else int(padding_value)
        self.counts: TokenCounts[Any] = TokenCounts(max_tokens)

    def see(self, layer: Any, batch: Any) -> None:
        """Count the tokens of sequences [B, T]."""
        flat = tf.reshape(_flat_values(batch), (-1,))
        if flat.dtype != tf.string:
            flat = tf.cast(flat, tf.int64)
        self.counts.add(flat.numpy().tolist())

    def teach(self, layer: Any) -> None:
        """Set the vocabulary to the most frequent tokens."""
        layer.learn(self.counts.most_frequent({self.padding, _OUT_OF_VOCABULARY}))


class Words(Tokens):
    """How often each word of a field's texts occurs."""

    def __init__(self, max_tokens: int = DEFAULT_TOKENS) -> None:
        super().__init__("", max_tokens)

    def see(self, layer: Any, batch: Any) -> None:
        """Count the words of texts [B], as the layer splits them."""
        self.counts.add(layer.words(batch).numpy().tolist())


class Moments:
    """The mean and the variance of rows that come batch by batch.

    Merged as Chan, Golub and LeVeque do, in float64: sums of squares would lose the
    variance of numbers that are large beside it.
    """

    def __init__(self) -> None:
        self.count = 0
        self.mean: Any = 0.0
        self._squares: Any = 0.0  # of what differs from the mean

    def add(self, rows: NDArray[Any]) -> None:
        """Take in rows [N, D], without those that are not finite."""
        rows = rows[np.isfinite(rows).all(axis=1)].astype(np.float64)
        if not len(rows):
            return
        count = self.count + len(rows)
        mean = rows.mean(axis=0)
        apart = mean - self.mean
        self._squares += ((rows - mean) ** 2).sum(axis=0)
        self._squares += apart**2 * (self.count * len(rows) / count)
        self.mean = self.mean + apart * (len(rows) / count)
        self.count = count

    @property
    def variance(self) -> Any:
        """The mean square of what differs from the mean, [D]."""
        return self._squares / max(self.count, 1)


class TokenCounts(dict[Token, int]):
    """How often tokens have been seen, of a bounded number of different ones.

    Exact as long as there are at most ten times as many tokens as the vocabulary has
    room for. Of more, the rarest are forgotten from time to time, to be counted anew
    if they come again.

    Args:
        max_tokens: the size of the vocabulary.
    """

    def __init__(self, max_tokens: int) -> None:
        super().__init__()
        self.max_tokens = max_tokens

    def add(self, tokens: Iterable[Token]) -> None:
        """Count tokens."""
        for token, times in Counter(tokens).items():
            self[token] = self.get(token, 0) + times
        if len(self) > _CANDIDATES * self.max_tokens:
            kept = self._ranked()[: _CANDIDATES * self.max_tokens // 2]
            counts = {token: self[token] for token in kept}
            self.clear()
            self.update(counts)

    def most_frequent(self, special: set[Token]) -> list[Token]:
        """Return what fills the vocabulary, without tokens that have a meaning."""
        ranked = [token for token in self._ranked() if token not in special]
        return ranked[: self.max_tokens - 2]

    def _ranked(self) -> list[Token]:
        """Return the tokens, the most frequent first; of equals, the greater first.

        That is the order of Keras, the same whatever came first.
        """
        return sorted(self, key=lambda token: (self[token], token), reverse=True)


def _flat_values(batch: Any) -> Any:
    """Return the values of a batch, without the lengths of a ragged one's rows."""
    return batch.flat_values if isinstance(batch, tf.RaggedTensor) else batch


def _check_int32(name: str, batch: Any) -> None:
    """Refuse integers that Keras would cut to 32 bits without a word."""
    if batch.dtype not in (tf.int64, tf.uint64) or widest_integer() == "int64":
        return
    values = _flat_values(batch)
    beyond = values != tf.cast(tf.cast(values, tf.int32), values.dtype)
    if tf.reduce_any(beyond):
        found = tf.boolean_mask(values, beyond)[0].numpy()
        raise ValueError(
            f"input {name!r}: found {found}, expected integers of 32 bits: Keras cuts "
            "longer ones with this backend, which is JAX without JAX_ENABLE_X64=1; set "
            f"that, or leave {name!r} out of fields"
        )


def _open_gates(model: Any) -> None:
    """Let values pass from now on; what was traced before is forgotten."""
    model.train_function = model.test_function = model.predict_function = None
    for layer in model.layers:
        if isinstance(layer, Adapted):
            layer.ready = True
