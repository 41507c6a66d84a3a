"""What a record is, apart from pydantic and from any target: frozen values."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, ClassVar

Item = bool | int | float | str | bytes
Default = Item | tuple["Default", ...] | None


_SELDOM = {"seldom": True}


def seldom(default: Any) -> Any:
    """Declare an attribute that JSON leaves out where it has this value."""
    return field(default=default, metadata=_SELDOM)


@dataclass(frozen=True)
class FieldSpec:
    """A field of any kind.

    Attributes:
        name: the field's name: keyword, dictionary key and model input.
        key: the feature's key in the Example.
        role: input, target, weight or info.
        optional: whether the feature may be absent from an Example.
        default: what readers deliver where it is; None if it has no value that says
            so, which then is NaN for floats and a mask of its own for the rest.
        doc: the field's description.
        presence: whether a mask of its own tells which are there, in any case.
        path: where it stands in a nested row, from the outermost name to its own;
            empty for a field that is not nested.
    """

    _: KW_ONLY
    name: str
    key: str
    role: str
    optional: bool = False
    default: Default = None
    doc: str = ""
    presence: bool = seldom(False)
    path: tuple[str, ...] = seldom(())

    kind: ClassVar[str]


@dataclass(frozen=True)
class AugmentSpec:
    """How pictures are varied in training; what is not said does not happen.

    `crop` is in pixels; `value_range` is (black, white), if not those of the dtype.
    """

    flip_left_right: bool = False
    flip_up_down: bool = False
    crop: int = 0
    brightness: float = 0.0
    contrast: float = 0.0
    value_range: tuple[float, ...] | None = None

    def said(self) -> dict[str, Any]:
        """Return what is unlike the default, by name."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True)
class ImageSpec(FieldSpec):
    """A picture, [height, width, channels]; None for a size that may vary.

    `resize` is the (height, width) to which it is brought when read. Its size, channels
    and format may be stored under further keys.
    """

    shape: tuple[int | None, ...]
    encoding: str
    dtype: str
    resize: tuple[int, ...] | None = None
    interpolation: str = seldom("bilinear")
    height_key: str | None = seldom(None)
    width_key: str | None = seldom(None)
    channels_key: str | None = seldom(None)
    format_key: str | None = seldom(None)
    format_text: str | None = seldom(None)
    augment: AugmentSpec | None = field(default=None, metadata=_SELDOM)

    kind: ClassVar[str] = "Image"


@dataclass(frozen=True)
class ImagesSpec(FieldSpec):
    """Encoded pictures: `count` of them, or any number up to `max_count`.

    The rest is said as of one picture.
    """

    shape: tuple[int | None, ...]
    encoding: str
    count: int | None = None
    max_count: int | None = None
    resize: tuple[int, ...] | None = None
    interpolation: str = seldom("bilinear")
    group: str | None = seldom(None)
    augment: AugmentSpec | None = field(default=None, metadata=_SELDOM)

    kind: ClassVar[str] = "Images"


@dataclass(frozen=True)
class LabelSpec(FieldSpec):
    """A class id from 0 to `num_classes` - 1; `classes` may be empty.

    Stored are the id plus `offset`, or the class's name if `stored` is "text".
    """

    num_classes: int
    classes: tuple[str, ...] = ()
    offset: int = seldom(0)
    stored: str = seldom("id")

    kind: ClassVar[str] = "Label"


@dataclass(frozen=True)
class MultiLabelSpec(FieldSpec):
    """Any number of classes, each stored as by LabelSpec."""

    num_classes: int
    classes: tuple[str, ...] = ()
    offset: int = seldom(0)
    stored: str = seldom("id")

    kind: ClassVar[str] = "MultiLabel"


@dataclass(frozen=True)
class SparseSpec(FieldSpec):
    """A tensor of which only some values are stored, the rest being zero.

    Their indices are stored under the keys of `index_key`, one for each dimension.
    """

    shape: tuple[int, ...]
    index_key: tuple[str, ...]
    dtype: str = "float32"
    dense: bool = False
    exact: bool = True
    finite: bool = True

    kind: ClassVar[str] = "Sparse"


@dataclass(frozen=True)
class VarLenSpec(FieldSpec):
    """A sequence of items of `item_shape`, padded or ragged when read.

    What is longer than `max_length` is `too_long`: an error, or cut. With `pad_on_disk`
    what is shorter is filled up on disk. Sequences of one `group` are equally long, and
    one that is missing there reads as `fill_value` for each item of the group.
    """

    dtype: str
    max_length: int | None = None
    item_shape: tuple[int, ...] = ()
    padding_value: bool | int | float | str = 0
    ragged: bool = False
    exact: bool = True
    finite: bool = True
    too_long: str = seldom("error")
    pad_on_disk: bool = seldom(False)
    group: str | None = seldom(None)
    fill_value: bool | int | float | str | None = seldom(None)

    kind: ClassVar[str] = "VarLen"


@dataclass(frozen=True)
class RaggedSpec(FieldSpec):
    """A list of lists, whose lengths stand under `row_lengths_key`."""

    dtype: str
    row_lengths_key: str
    ragged: bool = True
    padding_value: bool | int | float | str = 0
    max_length: int | None = None
    group: str | None = None
    exact: bool = True
    finite: bool = True

    kind: ClassVar[str] = "Ragged"


@dataclass(frozen=True)
class VectorSpec(FieldSpec):
    """Numbers of a fixed shape, stored as a list or as raw bytes.

    `dequantize` is the (scale, offset) that turns stored integers into floats.
    """

    shape: tuple[int, ...]
    dtype: str
    encoding: str = "list"
    exact: bool = True
    finite: bool = True
    dequantize: tuple[float, float] | None = seldom(None)

    kind: ClassVar[str] = "Vector"


@dataclass(frozen=True)
class MaskSpec(FieldSpec):
    """A class id for each pixel, [height, width]; None for a size that may vary.

    Ids go from 0 to `num_classes` - 1, or are any of the dtype if it is None; `ignore`
    is one more. Size and encoding may be stored under keys of their own.
    """

    shape: tuple[int | None, ...]
    num_classes: int | None
    encoding: str
    dtype: str
    classes: tuple[str, ...] = seldom(())
    ignore: int | None = seldom(None)
    resize: tuple[int, ...] | None = seldom(None)
    height_key: str | None = seldom(None)
    width_key: str | None = seldom(None)
    format_key: str | None = seldom(None)
    augment: AugmentSpec | None = field(default=None, metadata=_SELDOM)

    kind: ClassVar[str] = "Mask"


@dataclass(frozen=True)
class ScalarSpec(FieldSpec):
    """One number, bool or bytes value."""

    dtype: str
    encoding: str = "list"
    exact: bool = True
    finite: bool = True

    kind: ClassVar[str] = "Scalar"


@dataclass(frozen=True)
class TensorSpec(FieldSpec):
    """Numbers of a shape some sizes of which may vary, padded when read.

    Their sizes are stored under `shape_key`: all under one key, or each under its own
    with None for one that is not stored. The encoding "proto" has them inside.
    """

    shape: tuple[int | None, ...]
    dtype: str
    encoding: str = "raw"
    shape_key: str | tuple[str | None, ...] | None = None
    padding_value: bool | int | float = 0
    exact: bool = True
    finite: bool = True

    kind: ClassVar[str] = "Tensor"


@dataclass(frozen=True)
class TextSpec(FieldSpec):
    """One UTF-8 string."""

    kind: ClassVar[str] = "Text"


@dataclass(frozen=True)
class StepsSpec(FieldSpec):
    """A feature list: in each step one value of the kind `step`, which has no key.

    What has more than `max_length` steps is `too_long`: an error, or cut. Fields of one
    `group` have equally many.
    """

    step: FieldSpec
    padding_value: bool | int | float | str
    max_length: int | None = None
    ragged: bool = False
    too_long: str = seldom("error")
    group: str | None = seldom(None)

    kind: ClassVar[str] = "Steps"


KINDS: dict[str, type[FieldSpec]] = {
    spec.kind: spec
    for spec in (
        ImageSpec,
        ImagesSpec,
        LabelSpec,
        MaskSpec,
        MultiLabelSpec,
        RaggedSpec,
        ScalarSpec,
        SparseSpec,
        StepsSpec,
        TensorSpec,
        TextSpec,
        VarLenSpec,
        VectorSpec,
    )
}


@dataclass(frozen=True)
class RecordSpec:
    """A whole record.

    Attributes:
        record: its name in snake case, the name of its generated package.
        class_name: the name of its class.
        source: the schema file, relative to the project, with forward slashes.
        doc: the class's docstring.
        fields: in the order of their declaration.
        message: "Example" or "SequenceExample": what a record is stored as.
        reserved: names and keys of former fields, which no field may bear again.
        draft: whether a break is no more than a warning yet.
    """

    record: str
    class_name: str
    source: str
    doc: str
    fields: tuple[FieldSpec, ...]
    message: str = seldom("Example")
    reserved: tuple[str, ...] = seldom(())
    draft: bool = seldom(False)

    def with_role(self, role: str) -> tuple[FieldSpec, ...]:
        """Return the fields of one role, in order."""
        return tuple(field for field in self.fields if field.role == role)

    def by_key(self) -> tuple[FieldSpec, ...]:
        """Return the fields in the order in which they are written."""
        return tuple(sorted(self.fields, key=lambda field: field.key.encode()))
