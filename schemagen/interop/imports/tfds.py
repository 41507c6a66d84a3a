"""From the features of a TFDS dataset to fields, by how TFDS stores them.

TFDS stores integers, bools and uint64 in int64 lists, and floats in float32 lists. The
values of one sequence are one list. Those of two nested sequences are a list of all
values, and a list of row lengths.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ...runtime.kinds.box_sides import XYWH, XYXY, YXYX
from ...runtime.kinds.classes import Label
from ...runtime.kinds.image_lists import Images
from ...runtime.kinds.images import Image
from ...runtime.kinds.ragged import Ragged
from ...runtime.records.groups import group_of
from ...runtime.shared.dtypes import FLOATS, RAW_ONLY
from ...runtime.shared.values import shortened
from .parts import (
    FieldPlace,
    ImportedField,
    ImportedRecord,
    Made,
    imported_field,
    joined,
    places,
    prose,
    read_bytes,
    unreadable,
)

Shape = tuple[int | None, ...]

_EXPECTED = "the features.json of a TFDS dataset, or the directory it is in"
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)
_TEXT = {"pythonClassName": "Text"}
_SIDES = {"YXYX": YXYX, "XYXY": XYXY, "XYWH": XYWH}


def import_tfds(source: str) -> ImportedRecord:
    """Read the features of a dataset that TFDS has written.

    Args:
        source: a features.json, or the directory of one dataset.

    Raises:
        SchemagenError: it is neither.
    """
    path = Path(source)
    path = path / "features.json" if path.is_dir() else path
    text = read_bytes(path, _EXPECTED)
    try:
        top = json.loads(text)
        features = {**(top.get("featuresDict") or top["content"])["features"]}
    except (*_MALFORMED, RecursionError):
        start = " ".join(text[:60].decode(errors="replace").split())
        message = "not the features of TFDS 4.3 or later"
        raise unreadable(source, message, start, _EXPECTED) from None
    here = _Feature(path.parent, FieldPlace((), ""))
    parts = _grouped(_members(here, features))
    return ImportedRecord(tuple(parts), _description(path.parent))


def _description(directory: Path) -> str:
    """Return the first paragraph of the dataset's description."""
    try:
        info = json.loads((directory / "dataset_info.json").read_bytes())
        return prose(str(info["description"]).strip().partition("\n\n")[0], 84)
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _grouped(parts: list[ImportedField]) -> Iterator[ImportedField]:
    """Take fields out of groups that have no other field."""
    sizes = Counter(group_of(part.field.kind) for part in parts if part.field)
    for part in parts:
        made = part.field
        group = group_of(made.kind) if made else None
        if made and group and sizes[group] == 1:
            part = replace(part, field=made.replaced(group=None))
        yield part


@dataclass(frozen=True)
class _Feature:
    """A feature: where it is, the name of its class, and its parameters.

    Attributes:
        directory: of the files of class names.
        place: of its field.
        lengths: of the sequences that it is in, from the outermost; None for any.
        group: of the lists with an item for each step of the outermost sequence.
        kind: the name of its class.
        says: its parameters, by their names in JSON.
    """

    directory: Path
    place: FieldPlace
    lengths: Shape = ()
    group: str | None = None
    kind: str = ""
    says: Mapping[str, Any] = field(default_factory=dict)

    def read(self, data: Any) -> _Feature:
        """Return the feature that is here."""
        says = next((value for value in data.values() if isinstance(value, dict)), {})
        doc = prose(data.get("description", "")) or self.place.doc
        here = replace(self, place=replace(self.place, doc=doc))
        kind = data["pythonClassName"].rpartition(".")[2]
        return replace(here, kind=kind, says=says)

    @property
    def shape(self) -> Shape:
        """Its shape; None for a size that varies."""
        sizes = map(int, self.says.get("shape", {}).get("dimensions", ()))
        return tuple(None if size == -1 else size for size in sizes)

    @property
    def dtype(self) -> str:
        """Its dtype; "string" for text and bytes alike."""
        found = str(self.says.get("dtype", ""))
        return "string" if found in ("object", "str", "bytes") else found

    def class_names(self, count: int) -> tuple[tuple[str, ...] | None, str]:
        """Return the names of classes from their file, and what is wrong with it."""
        for separator in "-.":
            stem = self.place.key.replace("/", separator)
            path = self.directory / f"{stem}.labels.txt"
            if path.is_file():
                lines = path.read_text(encoding="utf-8").split("\n")
                names = tuple(line.strip() for line in lines if line.strip())
                if len(names) == count == len(set(names)):
                    return names, ""
                return None, f"{path.name} has {len(set(names))} names, not {count}"
        return None, ""


def _parts(data: Any, here: _Feature) -> Iterator[ImportedField]:
    """Yield what a feature and all features below it become."""
    key = here.place.key
    try:
        feature = here.read(data)
        found = _below(feature)
    except _MALFORMED:
        yield ImportedField(
            key, None, str(data)[:60], "cannot be imported: not a feature of TFDS"
        )
        return
    if found is None:
        yield imported_field(key, feature.kind, partial(_leaf, feature))
    else:
        yield from found


def _below(feature: _Feature) -> list[ImportedField] | None:
    """Return the parts below a feature; None if it is a value itself."""
    says = feature.says
    match feature.kind:
        case "FeaturesDict":
            return _members(feature, {**says["features"]})
        case "Translation":
            return _members(feature, dict.fromkeys(says["languages"], _TEXT))
        case "Sequence" | "Dataset":
            length, inner = int(says.get("length", -1)), says["feature"]
        case "Video":
            length, *sizes = map(int, says["shape"]["dimensions"])
            shape = {"dimensions": sizes}
            inner = {"pythonClassName": "Image", "image": {**says, "shape": shape}}
        case _:
            return None
    lengths = (*feature.lengths, None if length < 0 else length)
    return [*_parts(inner, replace(feature, lengths=lengths))]


def _members(feature: _Feature, members: Mapping[str, Any]) -> list[ImportedField]:
    """Return the parts of the features of a dict."""
    place, group, prefix = feature.place, None, ""
    if place.key:
        prefix = f"{place.key}/"
    if feature.lengths[:1] == (None,):
        group = f"{prefix}{place.path[-1]}"
    below = zip(places(members, place.path), members.values(), strict=True)
    return [
        part
        for own, data in below
        for part in _parts(
            data,
            replace(feature, place=replace(own, key=prefix + own.key), group=group),
        )
    ]


def _leaf(feature: _Feature) -> Made:
    """Return what a feature without others below it becomes."""
    says, place = feature.says, feature.place
    shape, dtype = feature.shape, feature.dtype
    match feature.kind:
        case "Image":
            return _image(feature)
        case "ClassLabel":
            return _label(feature, int(says.get("numClasses") or 0))
        case "Text" if not says:
            return _listed(feature, "string")
        case "BBoxFeature":
            return _box(feature)
        case "Tensor" | "Scalar" | "Audio" if not says.get("lazyDecode"):
            place = replace(place, optional=bool(says.get("optional")))
            feature = replace(feature, place=place)
            if (encoding := str(says.get("encoding", "none")).lower()) != "none":
                return _encoded(feature, encoding)
            if shape.count(None) > (0 if feature.lengths else 1):
                raise ValueError("sizes that vary and are not stored")
            remark = "texts or bytes?" if dtype == "string" else ""
            return _listed(feature, dtype, shape, remark)
    raise ValueError("only TFDS or its package can read it")


def _image(feature: _Feature) -> Made:
    shape, lengths = feature.shape or (None, None, 3), feature.lengths
    form = str(feature.says.get("encodingFormat") or "any")
    dtype, remark = feature.dtype or "uint8", ""
    if form != "any":
        remark = f'files are stored as they are: "any" if not all of them are {form}'
    facts: dict[str, Any] = {"shape": shape, "encoding": form}
    if not lengths:
        if None in shape:
            remark = joined(remark, "sizes vary: resize=(height, width) for batches")
        return feature.place.field(Image, dtype=dtype, **facts), remark
    if len(lengths) > 1 or None in shape or dtype != "uint8":
        return _listed(
            feature, "bytes", (), f"encoded images of shape {shape}, {dtype}"
        )
    facts |= {"count": lengths[0], "group": feature.group}
    return feature.place.field(Images, **facts), remark


def _box(feature: _Feature) -> Made:
    given = str(feature.says.get("bboxFormat") or "")
    form = given or "REL_YXYX"
    doc = feature.place.doc or f"A box: {form}."
    feature = replace(feature, place=replace(feature.place, doc=doc))
    dtype, shape = feature.dtype or "float32", feature.shape or (4,)
    sides = _SIDES.get(form.removeprefix("REL_"))
    remarks = []
    if not given:
        remarks.append(
            "no format: ymin first, as TFDS stored them before there were any"
        )
    elif sides and sides[0] == "xmin":
        remarks.append("of arrays: TFDS stores its own BBox with ymin first")
    if sides is None:
        remarks.append(f"{form}, which box= does not have")
    elif not form.startswith("REL_"):
        remarks.append("in pixels: box_image= says of which image")
    return _listed(feature, dtype, shape, joined(*remarks), role="info", box=sides)


def _label(feature: _Feature, count: int) -> Made:
    names, remark = feature.class_names(count)
    if count and not feature.lengths:
        return feature.place.field(Label, num_classes=count, classes=names), remark
    if names and feature.lengths == (None,):
        return _listed(feature, "int64", (), remark, role="info", classes=names)
    remark = f"class ids of {count or 'unknown'} classes"
    remark += f": {shortened(names)}" if names else ""
    return _listed(feature, "int64", (), remark, role="info")


def _encoded(feature: _Feature, encoding: str) -> Made:
    """Return what numbers become that TFDS stores as bytes."""
    shape, dtype, place = feature.shape, feature.dtype, feature.place
    if encoding == "bytes" and not feature.lengths:
        if dtype in RAW_ONLY and None not in shape[1:]:
            return place.values(dtype, shape)
        if shape and None not in shape:
            return place.values(dtype, shape, encoding="raw")
    if encoding == "bytes" and shape.count(None) <= 1:
        sizes = tuple(-1 if size is None else size for size in shape)
        remark = f"np.frombuffer(value, {dtype!r}).reshape({sizes})"
        return _listed(feature, "bytes", (), remark)
    raise ValueError(f"{encoding} of dtype {dtype} and shape {shape}")


def _listed(
    feature: _Feature, dtype: str, shape: Shape = (), remark: str = "", **facts: Any
) -> Made:
    """Return what values become that TFDS stores in a list."""
    place, lengths = feature.place, feature.lengths
    if dtype == "uint64":
        dtype = "int64"
        said = "uint64 with the bits of int64: from 2**63 on it reads negative"
        remark = joined(remark, said)
    elif dtype in FLOATS and dtype != "float32":
        remark = joined(remark, f"{dtype}, which TFDS stores as float32")
        dtype = "float32"
    if len(lengths) < 2:
        made, flat = place.values(dtype, (*lengths, *shape), **facts)
        if feature.group and not flat:
            made = made.replaced(group=feature.group)
        return made, joined(remark, flat)
    if len(lengths) > 2 or shape:
        raise ValueError("sequences of sequences of lists")
    key = f"{place.key}/ragged_row_lengths_0"
    place = replace(place, key=f"{place.key}/ragged_flat_values")
    facts |= {"dtype": dtype, "row_lengths_key": key, "group": feature.group}
    return place.field(Ragged, **facts), remark
