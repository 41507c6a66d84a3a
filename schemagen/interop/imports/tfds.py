"""From the features of a TFDS dataset to fields, by how TFDS stores them.

TFDS stores integers, bools and uint64 in int64 lists, and floats in float32 lists. The
values of one sequence are one list. Those of nested sequences are a list of all values,
and a list of row lengths for each inner sequence.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from ...kinds.field import FieldSpec
from ...runtime.shared.values import FLOATS, INTEGERS, RAW_ONLY
from ...schema import Images, Label, Mask, Ragged, Tensor
from .parts import (
    STRINGS,
    Made,
    Part,
    Place,
    Source,
    few,
    joined,
    part_of,
    places,
    prose,
    read_bytes,
    unreadable,
)

Shape = tuple[int | None, ...]

_EXPECTED = "the features.json of a TFDS dataset, or the directory it is in"
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)
_TEXT = {"type": "Text", "content": {}}


def import_tfds(source: str) -> Source:
    """Read the features of a dataset that TFDS has written.

    Args:
        source: a features.json, or the directory of one dataset.

    Raises:
        SchemagenError: it is neither.
    """
    path = Path(source)
    if path.is_dir():
        own = path / "features.json"
        found = [own] if own.is_file() else sorted(path.rglob("features.json"))
        if len(found) != 1:
            names = [each.parent.relative_to(path).as_posix() for each in found]
            raise unreadable(f"{len(found)} datasets", few(names, 5), _EXPECTED)
        (path,) = found
    text = read_bytes(path, _EXPECTED)
    try:
        parts = [*_parts(json.loads(text), _Feature(path.parent, Place((), "")))]
    except (*_MALFORMED, RecursionError):
        parts = [Part("", (), " ".join(text.decode(errors="replace").split())[:60])]
    if any(not part.name for part in parts):
        raise unreadable("not features of TFDS", parts[0].remark, _EXPECTED) from None
    return Source(tuple(_with_roles(parts)), _description(path.parent))


def _description(directory: Path) -> str:
    """Return the first paragraph of the dataset's description."""
    try:
        info = json.loads((directory / "dataset_info.json").read_bytes())
        return prose(str(info["description"]).strip().partition("\n\n")[0], 84)
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _with_roles(parts: Iterable[Part]) -> Iterator[Part]:
    """Take masks out of the model that have no input image of their size."""
    fields = [each for part in parts for each in part.fields]
    inputs = [each.kind for each in fields if each.role == "input"]
    for part in parts:
        if any(each.kind.missing_beside(inputs) for each in part.fields):
            kept_out = (each.replaced(role="info") for each in part.fields)
            part = replace(part, fields=tuple(kept_out))
        yield part


@dataclass(frozen=True)
class _Feature:
    """A feature: where it is, the name of its class, and its parameters.

    Attributes:
        directory: of the files of class names.
        place: of its field.
        lengths: of the sequences that it is in, from the outermost; None for any.
        kind: the name of its class.
        says: its parameters, by their names in JSON.
    """

    directory: Path
    place: Place
    lengths: Shape = ()
    kind: str = ""
    says: Mapping[str, Any] = field(default_factory=dict)

    def read(self, data: Any) -> _Feature:
        """Return the feature that is here, in any form that TFDS itself reads."""
        if "pythonClassName" in data:
            name = data["pythonClassName"]
            content = next((v for v in data.values() if isinstance(v, dict)), {})
        else:  # before TFDS 4.3, and the outermost feature
            name, content = data["type"], data["content"]
            content = json.loads(content) if isinstance(content, str) else content
            if name.endswith("FeaturesDict") and "proto_cls" not in data:
                content = {"features": content}
        says = {
            re.sub("_(.)", lambda match: match[1].upper(), key): value
            for key, value in content.items()
        }
        doc = prose(data.get("description", "")) or self.place.doc
        here = replace(self, place=replace(self.place, doc=doc))
        return replace(here, kind=name.rpartition(".")[2], says=says)

    @property
    def shape(self) -> Shape:
        """Its shape; None for a size that varies."""
        given = self.says.get("shape") or ()
        sizes = given.get("dimensions", ()) if isinstance(given, Mapping) else given
        return tuple(None if n in (None, -1, "-1") else int(n) for n in sizes)

    @property
    def dtype(self) -> str:
        """Its dtype; "string" for text and bytes alike."""
        found = str(self.says.get("dtype", "")).removeprefix("tf.")
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


def _parts(data: Any, here: _Feature) -> Iterator[Part]:
    """Yield what a feature and all features below it become."""
    key = here.place.key
    try:
        feature = here.read(data)
        found = _below(feature)
    except _MALFORMED:
        yield Part(key, (), str(data)[:60], "cannot be imported: not a feature of TFDS")
        return
    if found is None:
        yield part_of(key, feature.kind, partial(_leaf, feature))
    else:
        yield from found


def _below(feature: _Feature) -> list[Part] | None:
    """Return the parts below a feature; None if it is a value itself."""
    says, length, inner = feature.says, None, None
    members: Mapping[str, Any] = {}
    match feature.kind:
        case "FeaturesDict":
            members = dict(says["features"])
        case "Translation":
            members = dict.fromkeys(says["languages"], _TEXT)
        case "TranslationVariableLanguages":
            texts = dict.fromkeys(("language", "translation"), _TEXT)
            inner = {"type": "FeaturesDict", "content": texts}
        case "Sequence" | "Dataset":
            inner, given = says["feature"], says.get("length")
            length = None if given is None or int(given) < 0 else int(given)
        case "Video":
            length, *shape = feature.shape or (None, None, None, 3)
            inner = {"type": "Image", "content": {**says, "shape": shape}}
        case _:
            return None
    if inner is None:
        prefix = feature.place.key and f"{feature.place.key}/"
        below = zip(places(members, feature.place.path), members.values(), strict=True)
        return [
            part
            for place, data in below
            for part in _parts(
                data, replace(feature, place=replace(place, key=prefix + place.key))
            )
        ]
    lengths = (*feature.lengths, length)
    parts = [*_parts(inner, replace(feature, lengths=lengths))]
    return [*_grouped(parts)] if lengths == (None,) else parts


def _grouped(parts: list[Part]) -> Iterator[Part]:
    """Group the lists of a model that have an item for each step of a sequence."""
    fields = [each for part in parts for each in part.fields]
    counts = Counter(each.path[:-1] for each in fields if _has_steps(each))
    for part in parts:
        made = (
            _in_group(each) if _has_steps(each) and counts[each.path[:-1]] > 1 else each
            for each in part.fields
        )
        yield replace(part, fields=tuple(made))


def _has_steps(made: FieldSpec) -> bool:
    listed = "ragged_" not in made.key.rpartition("/")[2]
    is_list = made.codec.item_size is not None
    return bool(made.path) and is_list and (listed or _has_rows(made))


def _has_rows(made: FieldSpec) -> bool:
    """Tell whether the lengths of inner lists are under a key of their own."""
    return made.codec.length_part.key != made.key


def _in_group(made: FieldSpec) -> FieldSpec:
    key = made.key.rpartition("/")[0] if _has_rows(made) else made.key
    return made.replaced(group=f"{key.rpartition('/')[0]}/{made.path[-2]}")


def _leaf(feature: _Feature) -> Made:
    """Return what a feature without others below it becomes."""
    says, shape, place = feature.says, feature.shape, feature.place
    match feature.kind:
        case "LabeledImage" if not feature.lengths:
            return _mask(feature)
        case "Image" | "LabeledImage":
            return _image(feature)
        case "ClassLabel":
            return _label(feature, int(says.get("numClasses") or 0))
        case "Text" if not says:
            return _listed(feature, "string")
        case "BBoxFeature":
            doc = place.doc or f"A box: {says.get('bboxFormat') or 'REL_YXYX'}."
            feature = replace(feature, place=replace(place, doc=doc))
            dtype = feature.dtype or "float32"
            return _listed(feature, dtype, shape or (4,), role="info")
        case "Audio" if says.get("lazyDecode"):
            return _bytes(feature, "an audio file, which is not decoded")
        case "Tensor" | "Scalar" | "Audio":
            place = replace(place, optional=bool(says.get("optional")))
            feature = replace(feature, place=place)
            encoding = str(says.get("encoding") or "none").lower()
            if encoding != "none":
                return _encoded(feature, encoding)
            if shape.count(None) > (0 if feature.lengths else 1):
                raise ValueError("sizes that vary and are not stored")
            remark = "texts or bytes?" if feature.dtype == "string" else ""
            return _listed(feature, feature.dtype, shape, remark)
    raise ValueError("only TFDS or its package can read it")


def _image(feature: _Feature) -> Made:
    shape, lengths = feature.shape or (None, None, 3), feature.lengths
    form = str(feature.says.get("encodingFormat") or "any")
    dtype, remark, role = feature.dtype or "uint8", "", "input"
    if dtype == "float32":
        dtype, form, shape, role = "uint8", "png", (*shape[:2], 4), "info"
        remark = "four channels are the bytes of one float32"
    elif form != "any":
        remark = f'files are stored as they are: "any" if not all of them are {form}'
    form = "png" if dtype == "uint16" else form
    place = feature.place
    if not lengths:
        if None in shape:
            remark = joined(remark, "sizes vary: resize=(height, width) for batches")
        return (place.image(shape, form, dtype=dtype, role=role),), remark
    alike = len(lengths) == 1 and None not in shape and dtype == "uint8"
    if not alike or feature.kind != "Image":
        return _bytes(feature, f"encoded images of shape {shape}, {dtype}")
    facts: dict[str, Any] = {"shape": shape, "encoding": form, "role": role}
    return (place.field(Images, count=lengths[0], **facts),), remark


def _mask(feature: _Feature) -> Made:
    if feature.says.get("encodingFormat") == "jpeg":
        raise ValueError("JPEG changes class ids")
    count = int((feature.says.get("label") or {}).get("numClasses") or 0)
    names, remark = feature.class_names(count)
    dtype = "uint16" if feature.dtype == "uint16" else "uint8"
    facts: dict[str, Any] = {"num_classes": count or None, "classes": names}
    facts |= {"shape": feature.shape[:2], "encoding": "png", "dtype": dtype}
    return (feature.place.field(Mask, **facts),), remark


def _label(feature: _Feature, count: int) -> Made:
    names, remark = feature.class_names(count)
    if count and not feature.lengths:
        return (feature.place.field(Label, num_classes=count, classes=names),), remark
    remark = f"class ids of {count or 'unknown'} classes"
    remark += f": {few([*map(repr, names)])}" if names else ""
    return _listed(feature, "int64", (), remark, role="info")


def _encoded(feature: _Feature, encoding: str) -> Made:
    """Return what numbers become that TFDS stores as bytes."""
    shape, dtype, place = feature.shape, feature.dtype, feature.place
    if dtype not in (*INTEGERS, *FLOATS, "bool"):
        raise ValueError(f"bytes of dtype {dtype}")
    raw, wide = encoding == "bytes" and not feature.lengths, dtype in RAW_ONLY
    gaps = shape.count(None)
    if raw and gaps > 1:
        facts: dict[str, Any] = {"shape_key": f"{place.key}/shape", "encoding": "raw"}
        place = replace(place, key=f"{place.key}/value")
        return (place.field(Tensor, shape=shape, dtype=dtype, **facts),), ""
    if raw and wide and (not shape or (gaps and shape[0] is None)):
        return (place.array(dtype, shape),), ""
    if raw and not gaps:
        remark = "" if shape else "one number, stored as raw bytes"
        return (place.array(dtype, shape or (1,), encoding="raw"),), remark
    if gaps > 1:
        raise ValueError("sizes that vary in compressed tensors")
    value = "zlib.decompress(value)" if encoding == "zlib" else "value"
    sizes = tuple(-1 if size is None else size for size in shape)
    return _bytes(feature, f"np.frombuffer({value}, {dtype!r}).reshape{sizes}")


def _bytes(feature: _Feature, remark: str) -> Made:
    return _fields(feature, "bytes", ()), remark


def _listed(
    feature: _Feature, dtype: str, shape: Shape = (), remark: str = "", **facts: Any
) -> Made:
    """Return what values become that TFDS stores in a list."""
    said, flat, rank = "", "", len(feature.lengths)
    if dtype == "uint64":
        dtype = "int64"
        said = "uint64 with the bits of int64: from 2**63 on it reads negative"
    elif dtype in FLOATS and dtype != "float32":
        said, dtype = f"{dtype}, which TFDS stores as float32", "float32"
    sizes = tuple(-1 if size is None else size for size in (*feature.lengths, *shape))
    if rank > 2 or (rank == 2 and shape):
        flat = "all values; the fields below have the lengths of the rows"
    elif rank < 2 and (-1 in sizes[1:] or (dtype == "string" and sizes)):
        flat = f"flat: reshape{sizes}" if sizes != (-1,) else ""
    return _fields(feature, dtype, shape, **facts), joined(remark, said, flat)


def _fields(
    feature: _Feature, dtype: str, shape: Shape, **facts: Any
) -> list[FieldSpec]:
    """Return the fields of a value: its own, and those of the lengths of rows."""
    place, lengths = feature.place, feature.lengths
    if len(lengths) < 2:
        sizes = (*lengths, *shape)
        if dtype in STRINGS and sizes and None not in sizes:
            facts["max_length"] = prod(size or 0 for size in sizes)
        return [place.array(dtype, sizes, **facts)]
    flat = replace(place, key=f"{place.key}/ragged_flat_values")
    rows = [
        place.at(f"_lengths_{level}", f"{place.key}/ragged_row_lengths_{level}")
        for level in range(len(lengths) - 1)
    ]
    if len(rows) == 1 and not shape:
        return [flat.field(Ragged, dtype=dtype, row_lengths_key=rows[0].key, **facts)]
    more = (replace(row, doc="").array("int64", (None,), role="info") for row in rows)
    return [flat.array(dtype, (None, *shape), **facts), *more]
