"""From the features of a TFDS dataset to fields, by how TFDS writes them.

TFDS stores every int, bool and uint64 in an int64 list and every float in a float32
list. What stands in one sequence becomes one list of all its steps; what stands in
several a list of all values and, for each inner level, one of the rows' lengths.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.images import Images
from ...kinds.mask import Mask
from ...kinds.ragged import Ragged
from ...kinds.tensor import Tensor
from ...kinds.varlen import VarLen
from ...runtime.shared.values import FLOATS, INTEGERS, RAW_ONLY
from .outcome import Imported, Outcome, few, joined
from .place import Place, field_names, prose, zero_of
from .tfds_features import Feature, find_features, read_features
from .tfds_lists import FOREIGN, Here, Shape, fields_of, list_outcome

_NO_PICTURE = "readers cannot decode such pictures"
_CHANNELS = {"jpeg": (1, 3), "png": (1, 3, 4), "any": (1, 3, 4)}
_BOXES = {
    "REL_YXYX": "ymin, xmin, ymax, xmax, as shares of the picture's size",
    "XYXY": "xmin, ymin, xmax, ymax, in pixels",
    "XYWH": "xmin, ymin, width, height, in pixels",
    "CENTER_XYWH": "x and y of the centre, width, height, in pixels",
    "REL_XYXY": "xmin, ymin, xmax, ymax, as shares of the picture's size",
    "REL_XYWH": "xmin, ymin, width, height, as shares of the picture's size",
    "REL_CENTER_XYWH": "x and y of the centre, width, height, as shares of the size",
}


def import_tfds(source: str) -> Imported:
    """Read the features of a dataset that TFDS has written.

    Args:
        source: a features.json, or the directory of one dataset.

    Raises:
        SchemagenError: it is neither.
    """
    path = find_features(Path(source))
    top = read_features(path)
    inputs = frozenset(each.shape[:2] for each in top.leaves() if each.kind == "Image")
    outcomes: list[Outcome] = []
    for name, place in _places(top, ()):
        here = Here(name, place, (), path.parent, inputs, _stem(name))
        outcomes += _outcomes(top.members[name], here)
    return Imported(tuple(outcomes), _description(path.parent))


def _description(directory: Path) -> str:
    """Return the first paragraph of what the dataset says of itself."""
    try:
        text = (directory / "dataset_info.json").read_text(encoding="utf-8")
        found = json.loads(text).get("description")
    except (OSError, ValueError, AttributeError):
        return ""
    return prose(str(found or "").strip().partition("\n\n")[0], 84)


def _places(feature: Feature, path: tuple[str, ...]) -> Iterator[tuple[str, Place]]:
    """Yield the names of the members of a dict of features with their places."""
    names = field_names(feature.members, set())
    for (key, member), name in zip(feature.members.items(), names, strict=True):
        yield key, Place((*path, name), key, member.doc)


def _stem(name: str) -> str:
    """Return what TFDS makes of a feature's name in the name of a file."""
    return name.replace("/", ".")


def _outcomes(feature: Feature, here: Here) -> Iterator[Outcome]:
    """Yield what becomes of a feature and all that is below it."""
    kind = feature.kind
    if kind == "FeaturesDict":
        yield from _dict(feature, here)
    elif kind in ("Sequence", "Dataset") and feature.inner is not None:
        given = feature.says.get("length")
        length = None if given is None or int(given) < 0 else int(given)
        step = replace(feature.inner, doc=feature.inner.doc or here.place.doc)
        yield from _grouped(_outcomes(step, here.below(length)), here, length)
    elif kind == "Video":
        frames, *shape = feature.shape or (None, None, None, 3)
        frame = replace(feature, kind="Image", says={**feature.says, "shape": shape})
        yield from _outcomes(frame, here.below(frames))
    elif kind == "Translation":
        texts = {name: Feature("Text") for name in feature.says.get("languages", ())}
        yield from _dict(replace(feature, members=texts), here)
    elif kind == "TranslationVariableLanguages":
        pair = {"language": Feature("Text"), "translation": Feature("Text")}
        found = _dict(replace(feature, members=pair), here.below(None))
        yield from _grouped(found, here, None)
    else:
        doc = prose(feature.doc or here.place.doc)
        yield _leaf(feature, replace(here, place=replace(here.place, doc=doc)))


def _dict(feature: Feature, here: Here) -> Iterator[Outcome]:
    for name, place in _places(feature, here.place.path):
        below = replace(
            here,
            part=f"{here.part}/{name}",
            place=replace(place, key=f"{here.place.key}/{place.key}"),
            stem=f"{here.stem}-{_stem(name)}",
        )
        yield from _outcomes(feature.members[name], below)


def _grouped(
    found: Iterator[Outcome], here: Here, length: int | None
) -> Iterator[Outcome]:
    """Say that the lists in one model of an outermost sequence are equally long."""
    outcomes = list(found)
    if here.rank or length is not None:
        yield from outcomes
        return
    lists = [f.path[:-1] for o in outcomes for f in o.fields if _may_group(f)]
    for outcome in outcomes:
        fields = tuple(
            _in_group(field)
            if _may_group(field) and lists.count(field.path[:-1]) > 1
            else field
            for field in outcome.fields
        )
        yield replace(outcome, fields=fields)


def _may_group(field: FieldSpec) -> bool:
    """Tell whether a field has an item for each step."""
    if not field.path or not hasattr(field.kind, "group"):
        return False
    return "ragged_" not in field.key.rpartition("/")[2] or field.kind.name == "Ragged"


def _in_group(field: FieldSpec) -> FieldSpec:
    """Put a list into the group of its model, whose name is below the model's keys."""
    key = field.key
    if isinstance(field.kind, Ragged):
        key = key.rpartition("/")[0]
    given: Any = {"group": f"{key.rpartition('/')[0]}/{field.path[-2]}"}
    if isinstance(field.kind, VarLen):
        given["exact"] = True  # no plain list[float] any more
    return field.replaced(**given)


def _leaf(feature: Feature, here: Here) -> Outcome:
    """Return what becomes of one feature that is stored."""
    kind = feature.kind
    if kind in ("Image", "LabeledImage"):
        return _image(feature, here)
    if kind == "ClassLabel":
        return _label(feature, here)
    if kind == "Text" and feature.says:
        return here.refused("only TFDS knows how its encoder reads")
    if kind == "Text":
        return list_outcome("string", (), here)
    if kind == "BBoxFeature":
        order = str(feature.says.get("bboxFormat") or "REL_YXYX")
        doc = here.place.doc or f"A box: {_BOXES.get(order, order)}."
        here = replace(here, place=replace(here.place, doc=doc))
        dtype, shape = feature.dtype or "float32", feature.shape or (4,)
        return list_outcome(dtype, shape, here, role="info")
    if kind == "Audio" and feature.says.get("lazyDecode"):
        form = feature.says.get("fileFormat") or "any format"
        remark = f"the bytes of an audio file ({form}), which schemagen does not decode"
        return here.as_bytes(remark)
    if kind in ("Tensor", "Scalar", "Audio"):
        return _tensor(feature, here)
    return here.refused(FOREIGN, kind)


def _image(feature: Feature, here: Here) -> Outcome:
    shape: Shape = feature.shape or (None, None, 3)
    form = str(feature.says.get("encodingFormat") or "any")
    dtype = feature.dtype or "uint8"
    if len(shape) != 3 or form not in _CHANNELS:
        return here.refused(_NO_PICTURE, f"shape {shape}, encoding {form}")
    if feature.kind == "LabeledImage" and not here.rank:
        return _mask(feature, shape, here)
    role, said = "input", ""
    if dtype == "float32":
        dtype, form, shape = "uint8", "png", (*shape[:2], 4)
        role = "info"
        said = "four channels are the bytes of one float32"
    elif form != "any":
        said = f'TFDS keeps files as they are: "any" if not all of them are {form}'
    if dtype == "uint16":
        form = "png"
    if shape[2] not in _CHANNELS[form]:
        return here.refused(_NO_PICTURE, f"{shape[2]} channels")
    given: dict[str, Any] = {"shape": shape, "encoding": form}
    if not here.rank:
        if None in shape:
            said = joined(said, "sizes vary: resize=(height, width) for batches")
        image = FieldSpec.of(Image, **here.place.common(role), **given, dtype=dtype)
        return Outcome(here.part, (image,), said)
    if here.rank > 1 or None in shape or dtype != "uint8" or feature.kind != "Image":
        sizes = "x".join("any" if size is None else str(size) for size in shape)
        return here.as_bytes(f"encoded pictures, {sizes}, {dtype}")
    count = here.lengths[0] or None
    images = FieldSpec.of(Images, **here.place.common(role), **given, count=count)
    return Outcome(here.part, (images,), said)


def _mask(feature: Feature, shape: Shape, here: Here) -> Outcome:
    if feature.says.get("encodingFormat") == "jpeg":
        return here.refused("JPEG changes class ids")
    count = int((feature.says.get("label") or {}).get("numClasses") or 0)
    names, doubt = _class_names(here, count)
    role = "target" if count and shape[:2] in here.inputs else "info"
    field = FieldSpec.of(
        Mask,
        **here.place.common(role),
        shape=shape[:2],
        num_classes=count or None,
        classes=names,
        encoding="png",
        dtype="uint16" if feature.dtype == "uint16" else "uint8",
    )
    return Outcome(here.part, (field,), doubt)


def _class_names(here: Here, count: int) -> tuple[tuple[str, ...], str]:
    """Return the names of classes out of their file, and what is doubtful about it."""
    path = here.directory / f"{here.stem}.labels.txt"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return (), ""
    names = tuple(line.strip() for line in lines if line.strip())
    if len(names) != count or len(set(names)) < len(names):
        return (), f"{path.name} has {len(set(names))} names for {count} classes"
    return names, ""


def _label(feature: Feature, here: Here) -> Outcome:
    count = feature.number("numClasses")
    names, doubt = _class_names(here, count)
    if here.rank:
        said = f"class ids from 0 to {count - 1}" if count else "class ids"
        said += f", in the order of {few([*map(repr, names)])}" if names else ""
        return list_outcome("int64", (), here, said, role="info")
    if not count:
        said = "a class id; no one says how many classes there are"
        return list_outcome("int64", (), here, said, role="info")
    field = here.place.label("target", count, classes=names)
    return Outcome(here.part, (field,), doubt)


def _tensor(feature: Feature, here: Here) -> Outcome:
    """Return what becomes of numbers or texts of any shape."""
    shape, dtype = feature.shape, feature.dtype
    encoding = str(feature.says.get("encoding") or "none").lower()
    if feature.says.get("optional"):
        here = replace(here, place=replace(here.place, optional=True))
    if 0 in shape:
        return here.refused("it holds nothing", f"shape {shape}")
    if encoding != "none":
        return _encoded(encoding, shape, dtype, here)
    if (here.rank and None in shape) or shape.count(None) > 1:
        return here.refused("several sizes vary, and are not stored", f"shape {shape}")
    if dtype == "string":
        said = "TFDS does not say whether these are texts or bytes"
        return list_outcome("string", shape, here, said)
    return list_outcome(dtype, shape, here)


def _encoded(encoding: str, shape: Shape, dtype: str, here: Here) -> Outcome:
    """Return what becomes of numbers that TFDS has turned into bytes."""
    place = here.place
    if dtype not in (*INTEGERS, *FLOATS, "bool"):
        return here.refused(FOREIGN, f"dtype {dtype}")
    raw = encoding == "bytes" and not here.rank
    gaps = shape.count(None)
    wide = dtype in RAW_ONLY
    field: FieldSpec
    if raw and gaps > 1:
        sizes = f"{place.key}/shape"
        field = FieldSpec.of(
            Tensor,
            **replace(place, key=f"{place.key}/value").common("input"),
            shape=shape,
            dtype=dtype,
            encoding="raw",
            shape_key=sizes,
            padding_value=zero_of(dtype),
        )
        return Outcome(here.part, (field,))
    if raw and not gaps:
        said = "" if shape or wide else "one number, stored as raw bytes"
        known = tuple(size or 0 for size in shape) or (1,)
        field = place.vector(known, dtype, raw=True, role="input")
        field = place.scalar(dtype) if wide and not shape else field
        return Outcome(here.part, (field,), said)
    if raw and wide and shape[0] is None:
        return Outcome(here.part, (place.array(dtype, shape),))
    value = "zlib.decompress(value)" if encoding == "zlib" else "value"
    words = f"np.frombuffer({value}, {dtype!r}).reshape"
    if gaps < 2:
        sizes = str(tuple(-1 if size is None else size for size in shape))
        return here.as_bytes(words + sizes)
    key = f"{place.key}/shape"
    numbers = replace(here, place=replace(place, key=f"{place.key}/value"))
    shapes = replace(here, place=place.next_to("_shape", key))
    found = numbers.as_bytes(f"{words}(value of {key!r})")
    more = fields_of("int32", (len(shape),), shapes, "info")
    return replace(found, fields=(*found.fields, *more))
