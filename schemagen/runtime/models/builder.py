"""The functions of generated `model.py`: inputs, model, checks, adapt and export."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ..shared.errors import warn
from ..shared.options import options_by_name
from ..shared.requirements import keras, tf
from . import adaptation, agreement, assembly, blocks, segmentation, serving
from .assembly import Encoder, Head
from .record_model import RecordModel

Shape = tuple[int | None, ...]

Made = str | Callable[[], Any]
"""A loss or metric by its Keras name, or a function that makes one for each model."""


@dataclass(frozen=True)
class Input:
    """One input of a model.

    Attributes:
        shape: of one record; None varies.
        dtype: its name.
        encoder: from the Keras input to features [B, D].
        layout: the layout of its tensors.
        field: the field that delivers it; None if that has the input's name.
        vocabulary: whether the encoder takes `max_tokens` and `sequence_length`.
    """

    shape: Shape
    dtype: str
    encoder: Encoder
    layout: Literal["dense", "ragged", "sparse"] = "dense"
    field: str | None = None
    vocabulary: bool = False

    @property
    def only_tensorflow(self) -> str:
        """Why Keras takes it with the TensorFlow backend only; "" if it does not."""
        if self.dtype == "string":
            return "ragged strings" if self.layout == "ragged" else "strings"
        return "" if self.layout == "dense" else self.layout

    @property
    def is_of_any_size(self) -> bool:
        """Whether it is an image or a mask of which a batch has one."""
        encoder = getattr(self.encoder, "func", None)
        return encoder in (blocks.image, segmentation.encode) and None in self.shape[:2]

    def tensor(self, name: str) -> Any:
        """Return a Keras input."""
        options = {} if self.layout == "dense" else {self.layout: True}
        return keras.Input(self.shape, dtype=self.dtype, name=name, **options)


@dataclass(frozen=True)
class Target:
    """One output of a model, and what it is trained on.

    Attributes:
        shape: of one record's target; None varies.
        dtype: its name.
        head: from features [B, D] to predictions. That of a mask also takes the
            inputs, a dict by name.
        predicts: the shape of one record's predictions.
        loss: what `compile` gets.
        metrics: likewise.
        takes_inputs: whether the head takes the inputs as well.
    """

    shape: Shape
    dtype: str
    head: Head
    predicts: Shape
    loss: Made
    metrics: Sequence[Made]
    takes_inputs: bool = False


@dataclass(frozen=True)
class ModelBuilder:
    """Builds models of one record; generated modules offer its methods as functions.

    Attributes:
        name: the record's name.
        inputs: the inputs by name.
        targets: the targets by name.
        parse_batch: the generated parser.
        keys: the key of each field.
        weighted: whether datasets deliver sample weights.
    """

    name: str
    inputs: Mapping[str, Input]
    targets: Mapping[str, Target]
    parse_batch: Callable[[tf.Tensor, Collection[str]], Any]
    keys: Mapping[str, str]
    weighted: bool = False

    def __repr__(self) -> str:
        return f"ModelBuilder({self.name!r})"

    def make_inputs(self, fields: Collection[str] | None = None) -> dict[str, Any]:
        """Return a Keras input for each feature that `make_dataset` delivers.

        Args:
            fields: the names given to `make_dataset(fields=...)`; None for all.

        Raises:
            ValueError: a name that is not an input field, or an input that the backend
                of Keras cannot take.
        """
        field_of = {name: given.field or name for name, given in self.inputs.items()}
        reasons = {
            field_of[name]: given.only_tensorflow
            for name, given in self.inputs.items()
            if given.only_tensorflow
        }
        known = tuple(dict.fromkeys(field_of.values()))
        chosen = assembly.choose_fields(known, fields, reasons)
        return {
            name: given.tensor(name)
            for name, given in self.inputs.items()
            if field_of[name] in chosen
        }

    @options_by_name
    def build_model(
        self,
        *,
        fields: Collection[str] | None = None,
        inputs: Collection[str] | None = None,
        encoders: Mapping[str, Encoder] | None = None,
        head: Head | Mapping[str, Head] | None = None,
        loss_weights: Mapping[str, float] | None = None,
        max_tokens: int = blocks.DEFAULT_TOKENS,
        sequence_length: int | None = None,
        optimizer: Any = "adam",
    ) -> keras.Model:
        """Build the model, and compile it if the record has a target.

        Call `adapt` before training it.

        Args:
            fields: the names given to `make_dataset(fields=...)`; None for all.
            inputs: the names of the inputs to learn from. The others are declared, as
                the dataset delivers them, and ignored. None for all.
            encoders: functions from a Keras input to features [B, D], by input name,
                in place of the generated ones.
            head: a function from features [B, D] to predictions, in place of the
                generated one, or a dict of such functions by target name. The head of
                a mask also takes the inputs to learn from, a dict by name.
            loss_weights: the weight of each target's loss, by name; 1 by default.
            max_tokens: the size of each vocabulary of the generated encoders.
            sequence_length: the number of tokens that these read of each sequence or
                text; None for all.
            optimizer: anything that `keras.Model.compile` takes.

        Returns:
            A functional model from a dict of inputs to its predictions: a tensor for
            one target, a dict by name for several, features float32 [B, D] for none.

        Raises:
            ValueError: an unknown name, or an encoder or head of another shape.
        """
        # Keras passes tensors to the wrong inputs if a dataset's dict has more names
        # than the model, so every feature is declared, used or not.
        declared = self.make_inputs(fields)
        sizes = {"max_tokens": max_tokens, "sequence_length": sequence_length}
        known = {
            name: partial(given.encoder, **sizes) if given.vocabulary else given.encoder
            for name, given in self.inputs.items()
        }
        chosen = assembly.choose_encoders(known, declared, inputs, encoders)
        heads = {name: target.head for name, target in self.targets.items()}
        if self.targets:
            heads = assembly.choose_heads(heads, head)
            weights = assembly.choose_loss_weights(heads, loss_weights)
        elif head is not None or loss_weights is not None:
            raise ValueError(
                f"head and loss_weights: the record {self.name} has no target"
            )
        assembly.reserve_names(self.keys)
        values = {name: declared[name] for name in chosen}
        features = assembly.combine(
            {name: encode(values[name]) for name, encode in chosen.items()}
        )
        if not self.targets:
            return RecordModel(declared, features, name=self.name)
        outputs = {
            name: assembly.predicted(
                name,
                heads[name](features, values)
                if target.takes_inputs
                else heads[name](features),
                target.predicts,
            )
            for name, target in self.targets.items()
        }
        single = self._single_target
        if single and loss_weights is not None:
            raise ValueError(
                f"loss_weights: {single!r} is the only target of the record"
            )
        model = RecordModel(
            declared, outputs[single] if single else outputs, name=self.name
        )
        losses = {name: _made(target.loss) for name, target in self.targets.items()}
        metrics = {
            name: [_made(metric) for metric in target.metrics]
            for name, target in self.targets.items()
        }
        model.compile(
            optimizer=optimizer,
            loss=losses[single] if single else losses,
            loss_weights=None if single else weights,
            # Unweighted metrics would ignore the weights that training uses.
            **{
                "weighted_metrics" if self.weighted else "metrics": metrics[single]
                if single
                else metrics
            },
        )
        return model

    def check_dataset(self, model: keras.Model, dataset: tf.data.Dataset) -> None:
        """Check that a dataset delivers what a model takes and is trained on.

        Args:
            model: from `build_model`.
            dataset: for `model.fit` or `model.evaluate`.

        Raises:
            ValueError: another name, shape or dtype; says which, and what to do.
        """
        targets = {
            name: tf.TensorSpec((None, *target.shape), target.dtype)
            for name, target in self.targets.items()
        }
        agreement.check(model, dataset, targets, weighted=self.weighted)

    @options_by_name
    def adapt(self, model: keras.Model, dataset: tf.data.Dataset) -> None:
        """Adapt normalizations and vocabularies to data before training.

        A model without them needs no `adapt`; its dataset is only checked. A
        RuntimeWarning names an input or a target that has one value in all records, and
        a target that is mostly missing.

        Args:
            model: from `build_model`.
            dataset: of training data, from `make_dataset`; read to its end, a batch at
                a time.

        Raises:
            ValueError: the dataset is empty or endless, or does not match the model.
        """
        single = {
            name: target.predicts != (1,)
            for name, target in self.targets.items()
            if target.shape == ()
        }
        adaptation.adapt(model, dataset, single)

    @options_by_name
    def export_serving(
        self,
        model: keras.Model,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
    ) -> None:
        """Save a model as a TensorFlow SavedModel, which is served without Python code.

        Its signature `serving_default` takes `examples`, string [B], and parses it with
        `parse_batch`; only the model's inputs have to be there. It returns predictions
        by the names of the targets, or `features` of a record without targets.

        An input that Python decodes, such as a TIFF image, is not read from `examples`:
        the signature takes its decoded values by its name, and no `examples` if all
        inputs are such ones. A RuntimeWarning says so.

        If an input is an image or a mask of any size, a RuntimeWarning says that a
        request can have one record only.

        Args:
            model: from `build_model`, adapted, with any encoders and on any inputs.
            path: the directory to write. It gets this name when it is complete.
            overwrite: replace a SavedModel that is there.

        Raises:
            FileExistsError: `path` exists.
            TypeError: `model` is not a Keras model, or its inputs are not a dict.
            ValueError: one of its inputs is not a field.
            RuntimeError: the model has not been adapted.
            NotImplementedError: Keras has another backend than TensorFlow.
        """
        serving.export(
            model,
            path,
            parse=self.parse_batch,
            fields=self.keys,
            output=self._single_target or "features",
            overwrite=overwrite,
        )
        for name, given in self.inputs.items():
            if given.is_of_any_size and name in model.input:
                warn(
                    f"{path}: input {name!r} is of any size, so that a request can have "
                    "one record only; declare resize=(height, width) to allow several"
                )

    @property
    def _single_target(self) -> str:
        """The name of the only target; "" if there are several or none."""
        return next(iter(self.targets)) if len(self.targets) == 1 else ""


def _made(given: Made) -> Any:
    """Return a loss or metric that no other model shares."""
    return given if isinstance(given, str) else given()
