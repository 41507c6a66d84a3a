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

from ....kinds.field import FieldSpec
from ....kinds.ragged import Ragged
from ....kinds.varlen import VarLen
from ....schema_source import field_name
from ..outcome import Imported, Outcome
from ..places import Place, prose
from . import table
from .connectors import Connector, find_features, read_features
from .here import Here, refused, stem_of
from .lists import bytes_outcome, list_outcome
from .pictures import image_outcome, label_outcome
from .tensors import box_outcome, tensor_outcome


def import_tfds(source: str) -> Imported:
    """Read the features of a dataset that TFDS has written.

    Args:
        source: a features.json, or the directory of one dataset.

    Raises:
        Unreadable: it is neither.
    """
    path = find_features(Path(source))
    top = read_features(path)
    pictures = frozenset(
        each.shape[:2] for each in _leaves(top) if each.kind == "Image"
    )
    outcomes: list[Outcome] = []
    for name, place in _named(top, ()):
        here = Here(name, place, (), path.parent, pictures, stem_of(name))
        outcomes += _outcomes(top.members[name], here)
    return Imported(tuple(outcomes), _description(path.parent))


def _leaves(connector: Connector) -> Iterator[Connector]:
    for member in connector.members.values():
        yield from _leaves(member)
    if not connector.members:
        yield connector


def _description(directory: Path) -> str:
    """Return the first paragraph of what the dataset says of itself."""
    try:
        text = (directory / "dataset_info.json").read_text(encoding="utf-8")
        found = json.loads(text).get("description")
    except (OSError, ValueError, AttributeError):
        return ""
    paragraph = str(found or "").strip().partition("\n\n")[0]
    return prose(paragraph, 84)


def _named(connector: Connector, path: tuple[str, ...]) -> Iterator[tuple[str, Place]]:
    """Yield the members of a dict of features with their places."""
    taken: set[str] = set()
    for key, member in connector.members.items():
        name = field_name(key, taken)
        taken.add(name)
        yield key, Place((*path, name), key, member.doc)


def _outcomes(feature: Connector, here: Here) -> Iterator[Outcome]:
    """Yield what becomes of a feature and all that is below it."""
    kind, place = feature.kind, here.place
    if kind == "FeaturesDict":
        yield from _dict(feature, here)
    elif kind in ("Sequence", "Dataset") and feature.inner is not None:
        given = feature.says.get("length")
        known = None if given is None or int(given) < 0 else int(given)
        inner = replace(here, lengths=(*here.lengths, known))
        outcomes = [*_outcomes(_with_doc(feature.inner, place.doc), inner)]
        yield from _grouped(outcomes) if not here.rank and known is None else outcomes
    elif kind == "Video":
        frames, *shape = feature.shape or (None, None, None, 3)
        frame = replace(feature, kind="Image", says={**feature.says, "shape": shape})
        inner = replace(here, lengths=(*here.lengths, frames))
        yield from _outcomes(frame, inner)
    elif kind == "Translation":
        texts = {name: _text() for name in feature.says.get("languages", ())}
        yield from _dict(replace(feature, members=texts), here)
    elif kind == "TranslationVariableLanguages":
        pair = {"language": _text(), "translation": _text()}
        inner = replace(here, lengths=(*here.lengths, None))
        found = [*_dict(replace(feature, members=pair), inner)]
        yield from _grouped(found) if not here.rank else found
    else:
        yield _leaf(feature, here)


def _with_doc(feature: Connector, doc: str) -> Connector:
    return replace(feature, doc=feature.doc or doc)


def _text() -> Connector:
    return Connector("Text", {}, {})


def _dict(feature: Connector, here: Here) -> Iterator[Outcome]:
    for key, place in _named(feature, here.place.path):
        below = replace(place, key=f"{here.place.key}/{place.key}")
        yield from _outcomes(
            feature.members[key],
            replace(
                here,
                part=f"{here.part}/{key}",
                place=below,
                stem=f"{here.stem}-{stem_of(key)}",
            ),
        )


def _grouped(outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Say of the lists in one model that they are equally long."""
    models: dict[tuple[str, ...], int] = {}
    for outcome in outcomes:
        for field in outcome.fields:
            if _may_group(field):
                models[field.path[:-1]] = models.get(field.path[:-1], 0) + 1
    for outcome in outcomes:
        fields = tuple(
            _in_group(field)
            if _may_group(field) and models[field.path[:-1]] > 1
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


def _leaf(feature: Connector, here: Here) -> Outcome:
    """Return what becomes of one feature that is stored."""
    here = replace(
        here, place=replace(here.place, doc=prose(feature.doc or here.place.doc))
    )
    if feature.kind in ("Image", "LabeledImage"):
        return image_outcome(feature, here)
    if feature.kind == "ClassLabel":
        return label_outcome(feature, here)
    if feature.kind == "Text":
        if feature.says:
            return refused(table.ENCODED_TEXT, here)
        return list_outcome("string", (), here, table.TEXT)
    if feature.kind == "BBoxFeature":
        return box_outcome(feature, here)
    if feature.kind == "Audio" and feature.says.get("lazyDecode"):
        form = feature.says.get("fileFormat") or "any format"
        remark = f"the bytes of an audio file ({form}), which schemagen does not decode"
        return bytes_outcome(table.LAZY_AUDIO, remark, here)
    if feature.kind in ("Tensor", "Scalar", "Audio"):
        return tensor_outcome(feature, here)
    return replace(refused(table.OTHER, here), remark=feature.kind)
