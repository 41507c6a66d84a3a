"""The layers that know tokens by number, learned from data by `adaptation`.

Index 0 is padding, 1 any token that is not known, and the known ones follow, the most
frequent first. All of them save their tokens with the weights, byte for byte: those of
Keras write text lines, which a token with a line break in it would tear apart, and which
`save_weights` leaves out.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..shared.requirements import keras, layers, ops, tf

DEFAULT_TOKENS = 20_000
PADDING, UNKNOWN = 0, 1
_SPECIAL = 2  # how many indices come before that of the first token


@cache
def widest_integer() -> str:
    """Return "int64", or "int32" where Keras has no wider one, as with JAX by default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX says that it gives another dtype
        found: str = keras.backend.standardize_dtype(ops.zeros((), "int64").dtype)
    return found


def _searchsorted(tokens: Any, wanted: Any) -> Any:
    """Return where each wanted token belongs among the sorted ones."""
    if (
        keras.backend.backend() == "tensorflow"
    ):  # ops has it for graphs since Keras 3.12
        return tf.searchsorted(tokens, wanted)
    return ops.searchsorted(ops.convert_to_tensor(tokens), wanted)


@keras.saving.register_keras_serializable("schemagen")
class IntegerVocabulary(layers.Layer):  # type: ignore[misc]
    """Looks up integers, with any backend of Keras and inside compiled functions.

    Args:
        padding_value: the integer that stands for no token.
        max_tokens: the number of indices, those of padding and unknown tokens included.
    """

    def __init__(
        self, padding_value: int, max_tokens: int = DEFAULT_TOKENS, **kwargs: Any
    ) -> None:
        super().__init__(autocast=False, **kwargs)
        self.padding_value = padding_value
        self.max_tokens = max_tokens
        size = (max_tokens - _SPECIAL,)
        options = {"shape": size, "initializer": "zeros", "trainable": False}
        self.tokens = self.add_weight(name="tokens", dtype=widest_integer(), **options)
        self.indices = self.add_weight(name="indices", dtype="int32", **options)
        self.built = True

    def learn(self, tokens: Sequence[int]) -> None:
        """Take these for the tokens there are, the most frequent first."""
        # Of equal tokens the first is found: repeating one fills the rest up.
        filled = np.full(self.tokens.shape, max(tokens, default=0), np.int64)
        indices = np.full(self.indices.shape, UNKNOWN, np.int32)
        order = np.argsort(np.asarray(tokens, np.int64))
        filled[: len(order)] = np.asarray(tokens, np.int64)[order]
        indices[: len(order)] = order + _SPECIAL
        self.tokens.assign(filled)
        self.indices.assign(indices)

    def call(self, inputs: Any) -> Any:
        """Return int32 indices of the inputs' shape."""
        wanted = ops.cast(inputs, self.tokens.dtype)
        flat = ops.reshape(wanted, (-1,))
        places = _searchsorted(self.tokens, flat)
        places = ops.minimum(places, self.max_tokens - _SPECIAL - 1)
        known = ops.equal(ops.take(self.tokens, places), flat)
        found = ops.where(known, ops.take(self.indices, places), UNKNOWN)
        found = ops.where(ops.equal(flat, self.padding_value), PADDING, found)
        return ops.reshape(ops.cast(found, "int32"), ops.shape(inputs))

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return the same shape, of int32."""
        return keras.KerasTensor(inputs.shape, dtype="int32")

    def get_config(self) -> dict[str, Any]:
        """Return what `__init__` takes."""
        own = {"padding_value": self.padding_value, "max_tokens": self.max_tokens}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("schemagen")
class StringVocabulary(layers.StringLookup):  # type: ignore[misc]
    """Looks up strings, which need not be UTF-8. For the TensorFlow backend.

    It has one table, which changes: that of Keras is replaced by another, and functions
    that were traced before go on with the old one when other weights are loaded.
    """

    def _uninitialized_lookup_table(self) -> Any:
        with tf.init_scope():
            return tf.lookup.experimental.MutableHashTable(
                tf.string, tf.int64, self._default_value
            )

    def _lookup_table_from_tokens(self, tokens: Any) -> Any:
        table = (
            getattr(self, "lookup_table", None) or self._uninitialized_lookup_table()
        )
        table.remove(table.export()[0])
        table.insert(tokens, np.arange(len(tokens)) + _SPECIAL)
        return table

    def _lookup_dense(self, inputs: Any) -> Any:
        return tf.ensure_shape(super()._lookup_dense(inputs), inputs.shape)

    def learn(self, tokens: Sequence[bytes]) -> None:
        """Take these for the tokens there are, the most frequent first."""
        # As objects: an array of numpy's own strings would lose NULs at the end.
        self._lookup_table_from_tokens(np.array(list(tokens), object))

    def known(self) -> list[bytes]:
        """Return the tokens in the order of their indices."""
        tokens, indices = self.lookup_table.export()
        order = np.argsort(indices.numpy())
        found: list[bytes] = tokens.numpy()[order].tolist()
        return found

    def save_own_variables(self, store: Any) -> None:
        """Save the tokens with the weights."""
        tokens = self.known()
        store["lengths"] = np.array([len(token) for token in tokens], np.int64)
        store["bytes"] = np.frombuffer(b"".join(tokens), np.uint8)

    def load_own_variables(self, store: Any) -> None:
        """Load what `save_own_variables` saved."""
        lengths, joined = np.array(store["lengths"]), np.array(store["bytes"]).tobytes()
        ends = np.cumsum(lengths)
        self.learn(
            [joined[end - n : end] for end, n in zip(ends, lengths, strict=True)]
        )

    def save_assets(self, dir_path: str) -> None:
        """Save nothing more: the weights have it all."""

    def load_assets(self, dir_path: str) -> None:
        """Load nothing more: the weights have it all."""


@keras.saving.register_keras_serializable("schemagen")
class Words(layers.TextVectorization):  # type: ignore[misc]
    """Splits text into words and looks them up. For the TensorFlow backend."""

    def __init__(self, max_tokens: int = DEFAULT_TOKENS, **kwargs: Any) -> None:
        super().__init__(max_tokens=max_tokens, **kwargs)
        self.vocabulary_limit = max_tokens
        self._lookup_layer = StringVocabulary(max_tokens=max_tokens, mask_token="")

    def words(self, strings: tf.Tensor) -> tf.Tensor:
        """Return all words of strings [B], one after the other: string [N]."""
        return self._preprocess(strings).flat_values

    def learn(self, tokens: Sequence[bytes]) -> None:
        """Take these for the words there are, the most frequent first."""
        self._lookup_layer.learn(tokens)

    def known(self) -> list[bytes]:
        """Return the words in the order of their indices."""
        found: list[bytes] = self._lookup_layer.known()
        return found

    # What there is to save is the lookup's, which Keras saves as a layer of its own.

    def save_own_variables(self, store: Any) -> None:
        """Save nothing beside the lookup."""

    def load_own_variables(self, store: Any) -> None:
        """Load nothing beside the lookup."""

    def save_assets(self, dir_path: str) -> None:
        """Save nothing beside the lookup."""

    def load_assets(self, dir_path: str) -> None:
        """Load nothing beside the lookup."""
