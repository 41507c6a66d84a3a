"""What templates see of a spec: names, shapes and choices, decided in code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ..spec.model import (
    FieldSpec,
    ImageSpec,
    LabelSpec,
    RecordSpec,
    ScalarSpec,
    TextSpec,
    VarLenSpec,
    VectorSpec,
)
from ..support.values import RAW_ONLY, Numbers, shape_text
from .layout import WIDTH
from .literals import Code, identifier, literal

_STRINGS = ("string", "bytes")

# numpy has no type of its own for it.
_NUMPY = {"bfloat16": "Any"}


@dataclass(frozen=True)
class FieldView:
    """One field as templates see it; what its spec says is in `spec`."""

    spec: FieldSpec

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def macros(self) -> str:
        """The template of this kind's macros."""
        return f"kinds/{self.spec.kind.lower()}.jinja"

    @property
    def dtype(self) -> str:
        """The dtype of the parsed tensor, by its TensorFlow name."""
        match self.spec:
            case LabelSpec():
                return "int64"
            case TextSpec():
                return "string"
            case _:
                found: str = self.spec.dtype  # type: ignore[attr-defined]
                return "string" if found in _STRINGS else found

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The static shape of one record's tensor; None varies."""
        match self.spec:
            case ImageSpec(shape=shape, resize=resize):
                return (*(resize or shape[:2]), shape[2])
            case VarLenSpec(item_shape=item_shape):
                return (None, *item_shape)
            case VectorSpec(shape=shape):
                return shape
            case _:
                return ()

    @property
    def tf_dtype(self) -> Code:
        return Code(f"tf.{self.dtype}")

    @property
    def raw(self) -> bool:
        """Whether it is stored as raw little-endian bytes."""
        if isinstance(self.spec, (ImageSpec, VectorSpec, ScalarSpec)):
            return self.spec.encoding == "raw"
        return isinstance(self.spec, VarLenSpec) and self.spec.dtype in RAW_ONLY

    @property
    def stored_dtype(self) -> Code:
        """The dtype in which tensorflow parses the feature, before any cast."""
        encoded = isinstance(self.spec, ImageSpec)
        if self.raw or encoded or self.dtype == "string":
            return Code("tf.string")
        return Code("tf.float32" if self.dtype == "float32" else "tf.int64")

    @property
    def narrowed(self) -> bool:
        """Whether stored int64 values are cast to a narrower dtype."""
        return self.stored_dtype == "tf.int64" and self.dtype != "int64"

    @property
    def missing(self) -> bool:
        """Whether a missing value has no default that stands for it."""
        return self.spec.optional and self.spec.default is None

    @property
    def is_float(self) -> bool:
        return self.dtype in ("float16", "bfloat16", "float32", "float64")

    @property
    def nan_if_missing(self) -> bool:
        """Whether a missing value reads as NaN, which no mask needs to explain."""
        fixed = isinstance(self.spec, (ScalarSpec, VectorSpec))
        return self.missing and fixed and self.is_float

    @property
    def masked(self) -> bool:
        """Whether a mask of its own says which values are there."""
        in_band = self.nan_if_missing or isinstance(self.spec, LabelSpec)
        return self.missing and not in_band

    @property
    def mask_name(self) -> str:
        return f"{self.name}_present"

    @property
    def required_sequence(self) -> bool:
        """Whether tensorflow by itself would read it as empty where it is missing."""
        listed = isinstance(self.spec, VarLenSpec) and not self.raw
        return listed and not self.spec.optional

    @property
    def default_value(self) -> Code:
        """The `default_value` of the feature's description, as source code."""
        spec = self.spec
        shape = self.shape if isinstance(spec, VectorSpec) else ()
        if self.raw:
            return self._raw_default()
        if isinstance(spec, LabelSpec):
            return literal(-1 if spec.default is None else spec.default)
        if self.stored_dtype == "tf.string":
            text = spec.default or ""
            return literal(text.encode() if isinstance(text, str) else text)
        if spec.default is None:
            if shape:
                filler = "np.nan" if self.is_float else "0"
                kind = "np.float32" if self.is_float else "np.int64"
                return Code(f"np.full({literal(shape)}, {filler}, {kind})")
            return literal(float("nan") if self.is_float else 0)
        default: Any = spec.default
        if self.stored_dtype == "tf.int64":  # a bool is stored as 0 or 1
            return literal(_tuples(np.asarray(default, np.int64).tolist()))
        return literal(default)

    def _raw_default(self) -> Code:
        """Return the bytes that stand for a missing raw tensor."""
        spec = self.spec
        if isinstance(spec, VarLenSpec):
            return literal(b"")
        shape = tuple(size or 0 for size in self.shape)
        numbers = Numbers(self.dtype, finite=False)
        if spec.default is not None:
            values = np.asarray(spec.default)
            return literal(numbers.raw(numbers.convert(values)).tobytes())
        fill_nan = self.nan_if_missing
        one = np.array([np.nan if fill_nan else 0.0]).astype(
            "float64" if self.is_float else "uint8"
        )
        item = numbers.raw(numbers.convert(one)).tobytes()
        if set(item) == {0}:
            return Code(f"bytes({len(item) * prod(shape)})")
        return Code(f"{literal(item)} * {prod(shape)}" if shape else literal(item))

    @property
    def tokens(self) -> bool:
        """Whether a sequence's items are ids or words rather than quantities."""
        spec = self.spec
        single = isinstance(spec, VarLenSpec) and not spec.item_shape
        return single and not self.is_float and self.dtype != "bool"

    @property
    def adapts(self) -> bool:
        """Whether its encoder has a layer that learns from data first."""
        return not isinstance(self.spec, (ImageSpec, LabelSpec))

    @property
    def pixel_scale(self) -> Code:
        """What brings a pixel to about [0, 1]."""
        if self.is_float:
            return Code("1.0")
        return Code(f"1 / {np.iinfo(self.dtype).max}")

    @property
    def size(self) -> int:
        """How many numbers a row holds, of a field of fixed shape."""
        return prod(size or 0 for size in self.shape)

    @property
    def head_name(self) -> str:
        return f"{self.name}_flat"

    @property
    def batch_shape(self) -> str:
        return f"[{', '.join(map(str, ('B', *self.shape)))}]"

    @property
    def uses_numpy(self) -> bool:
        """Whether the parser's description of it needs numpy."""
        return self.spec.optional and self.default_value.startswith("np.")

    @property
    def takes(self) -> Code:
        """The type of the writer's keyword."""
        spec = self.spec
        match spec:
            case ImageSpec(encoding="raw"):
                text = f"NDArray[{_NUMPY.get(spec.dtype, f'np.{spec.dtype}')}]"
            case ImageSpec():
                text = "bytes | NDArray[np.uint8]"
            case LabelSpec(classes=classes):
                text = "int | str" if classes else "int"
            case TextSpec():
                text = "str"
            case ScalarSpec(dtype=dtype):
                text = {"bytes": "bytes", "bool": "bool"}.get(dtype, "")
                text = text or ("float" if self.is_float else "int")
            case VarLenSpec(dtype=dtype) if dtype in _STRINGS:
                text = f"Sequence[{'str' if dtype == 'string' else 'bytes'}]"
            case _:
                text = "ArrayLike"
        return Code(f"{text} | None" if spec.optional else text)

    @property
    def takes_column(self) -> Code:
        """The type of the batch writer's keyword."""
        if self.spec.optional:
            return Code("Column | None")
        return Code("Column")

    @property
    def wanted(self) -> str:
        """What the writer takes, in words."""
        spec = self.spec
        match spec:
            case ImageSpec(encoding="raw"):
                text = (
                    f"{spec.dtype} {shape_text(spec.shape)}, [height, width, channels]"
                )
            case ImageSpec():
                text = (
                    f"a {spec.encoding} image as bytes, or its pixels, uint8 "
                    f"{shape_text(spec.shape)}"
                )
            case LabelSpec():
                text = f"a class id from 0 to {spec.num_classes - 1}"
                text += ", or its name" if spec.classes else ""
            case TextSpec():
                text = "text"
            case ScalarSpec():
                text = f"one {spec.dtype}" if spec.dtype != "bytes" else "opaque bytes"
            case VarLenSpec():
                text = f"{spec.dtype} {shape_text(self.shape)}"
                if spec.max_length is not None:
                    text += f", at most {spec.max_length} items"
            case _:
                text = f"{self.dtype} {shape_text(self.shape)}"
        return f"{text}; None if missing" if spec.optional else text

    @property
    def delivers(self) -> str:
        """The parsed batch's tensor, in words."""
        spec = self.spec
        sizes: list[object] = ["B", *self.shape]
        if isinstance(spec, VarLenSpec):
            sizes[1] = "(T)" if spec.ragged else "T"
        elif isinstance(spec, ImageSpec):
            sizes[1:3] = [s or n for s, n in zip(self.shape, ("H", "W"), strict=False)]
        text = f"{self.dtype} [{', '.join(map(str, sizes))}]"
        if isinstance(spec, VarLenSpec):
            text += (
                ", ragged" if spec.ragged else f", padded with {spec.padding_value!r}"
            )
        if not spec.optional:
            return text
        return f"{text}; {self._missing_text} if missing"

    @property
    def _missing_text(self) -> str:
        """What a missing value reads as, in words."""
        spec = self.spec
        if isinstance(spec, VarLenSpec):
            return "empty"
        if spec.default is not None:
            return repr(spec.default)
        if self.nan_if_missing:
            return "NaN"
        if isinstance(spec, LabelSpec):
            return "-1"
        return "''" if self.dtype == "string" else "0"


def import_line(module: str, names: list[str]) -> str:
    """Write an import of names, one a line if they do not fit."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    listed = "".join(f"    {name},\n" for name in names)
    return f"from {module} import (\n{listed})"


def _imports(*groups: list[str]) -> Code:
    return Code("\n\n".join("\n".join(group) for group in groups if group))


def _with_masks(fields: tuple[FieldView, ...]) -> tuple[str, ...]:
    return tuple(
        name
        for field in fields
        for name in ((field.name, field.mask_name) if field.masked else (field.name,))
    )


def _feature_class(field: FieldView) -> str:
    """Return the class in `_support.features` that stores a field."""
    match field.spec:
        case ImageSpec(encoding="raw") | VectorSpec():
            return "Tensor"
        case ImageSpec():
            return "EncodedImage"
        case ScalarSpec(dtype=dtype):
            return "Bytes" if dtype == "bytes" else "Tensor"
        case VarLenSpec(dtype=dtype):
            return "Strings" if dtype in _STRINGS else "VarLen"
        case _:
            return field.spec.kind


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class RecordView:
    """A record as templates see it."""

    spec: RecordSpec
    fingerprint: str

    @cached_property
    def fields(self) -> tuple[FieldView, ...]:
        return tuple(map(FieldView, self.spec.fields))

    @cached_property
    def by_key(self) -> tuple[FieldView, ...]:
        """The fields in the order in which they are written."""
        return tuple(map(FieldView, self.spec.by_key()))

    def _with_role(self, role: str) -> tuple[FieldView, ...]:
        return tuple(map(FieldView, self.spec.with_role(role)))

    @property
    def inputs(self) -> tuple[FieldView, ...]:
        return self._with_role("input")

    @property
    def targets(self) -> tuple[FieldView, ...]:
        return self._with_role("target")

    @property
    def weights(self) -> tuple[FieldView, ...]:
        return self._with_role("weight")

    @property
    def infos(self) -> tuple[FieldView, ...]:
        return self._with_role("info")

    @property
    def adapted(self) -> tuple[FieldView, ...]:
        """The inputs whose encoders learn from data first."""
        return tuple(field for field in self.inputs if field.adapts)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names in the dict of features: inputs and their masks."""
        return _with_masks(self.inputs)

    @property
    def info_names(self) -> tuple[str, ...]:
        return _with_masks(self.infos)

    @property
    def info_text(self) -> str:
        return ", ".join(self.info_names)

    @property
    def arguments(self) -> Code:
        """Every field passed on by its own keyword."""
        names = [identifier(field.name) for field in self.fields]
        return Code(", ".join(f"{name}={name}" for name in names))

    @property
    def element(self) -> Code:
        """A dataset's element, of the variables that hold its members."""
        parts = ["features"]
        parts += ["targets"] * bool(self.targets)
        # Keras takes weights as the third member, and only beside targets.
        parts += ["weights"] * bool(self.targets and self.weights)
        return Code(", ".join(parts))

    @property
    def element_text(self) -> str:
        """What a dataset delivers, in words."""
        if not self.targets:
            return "Elements are the features, a dict by name."
        names = ", ".join(f"`{field.name}`" for field in self.targets)
        single = len(self.targets) == 1
        parts = f"features, {names if single else 'targets'}"
        parts += f", `{self.weights[0].name}` as weights" if self.weights else ""
        text = f"Elements are ({parts}), with features a dict by name"
        return f"{text}." if single else f"{text}, and targets with {names}."

    @property
    def served(self) -> Code:
        """The expression for what a served model returns, by name."""
        call = "model({name: batch[name] for name in model.input})"
        if len(self.targets) > 1:
            return Code(call)
        name = self.targets[0].name if self.targets else "features"
        return Code(f"{{{literal(name)}: {call}}}")

    @property
    def metrics(self) -> Code:
        """The keyword of `compile` for metrics; weights have to count in them."""
        return Code("weighted_metrics" if self.weights else "metrics")

    @property
    def serializer_imports(self) -> Code:
        """The imports of `serializer.py`, and no more than it uses."""
        types = [field.takes for field in self.fields]
        text = " ".join(types)
        classes = {_feature_class(field) for field in self.fields}
        functions = ["encode_example", "encode_examples"]
        typing = [name for name in ("ArrayLike", "NDArray") if name in text]
        abc = ["Iterable", "Mapping"] + ["Sequence"] * ("Sequence" in text)
        return _imports(
            [
                "import os",
                import_line("collections.abc", abc),
                import_line("typing", ["Any"]),
            ],
            ["import numpy as np"] * ("np." in text)
            + [import_line("numpy.typing", typing)] * bool(typing),
            [
                import_line(
                    ".._support.features", [*sorted({*classes, "Column"}), *functions]
                ),
                import_line(".._support.manifest", ["load_spec"]),
                import_line(
                    ".._support.shards", ["DEFAULT_SHARD_BYTES", "ShardedWriter"]
                ),
            ],
        )

    @property
    def parser_imports(self) -> Code:
        """The imports of `parser.py`, and no more than it uses."""
        numpy = any(field.uses_numpy for field in self.fields)
        return _imports(
            [
                import_line("collections.abc", ["Collection"]),
                import_line("typing", ["Any"]),
            ],
            ["import numpy as np"] * numpy + ["import tensorflow as tf"],
            [import_line(".._support", ["reading"])],
        )

    @property
    def model_imports(self) -> Code:
        """The imports of `model.py`."""
        abc = ["Callable", "Collection", "Mapping"]
        return _imports(
            [
                "import os",
                import_line("collections.abc", abc),
                import_line("typing", ["Any"]),
            ],
            ["import keras", "import tensorflow as tf"],
            [
                import_line(".._support", ["blocks"]),
                import_line(".parser", ["KEYS", "parse_batch"]),
            ],
        )

    @property
    def optional_only(self) -> bool:
        """Whether nothing in a record has to be there."""
        return all(field.spec.optional for field in self.fields)

    @property
    def required_keys(self) -> tuple[str, ...]:
        """The keys of lists whose absence has to be looked for."""
        return tuple(field.spec.key for field in self.by_key if field.required_sequence)

    @property
    def named_labels(self) -> tuple[FieldView, ...]:
        """The labels whose classes have names."""
        return tuple(
            field
            for field in self.fields
            if isinstance(field.spec, LabelSpec) and field.spec.classes
        )
