"""From evidence to a record: all rules in order, then names, roles and comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...spec.model import RecordSpec
from ...spec.names import snake_case
from ..formatting import plural
from .draft import DOUBT, Draft, Scene, listed, quoted
from .evidence import Evidence
from .file_groups import FileKeys, lacking_keys
from .lists import (
    group_lists,
    take_objects,
    take_padded,
    take_ragged,
)
from .naming import Names, order
from .pictures import take_pictures
from .plain import take_labels, take_rest
from .raw import take_fixed_raw, take_raw
from .roles import give_roles, lacking_roles, rank_of
from .shapes import take_protos, take_shaped
from .steps import step_drafts
from .words import LABELS, split_before
from .wrapped import say_wrapped

_FEW = 20
"""Fewer records can all be alike by chance."""

# What earlier rules take, later ones leave alone.
_RULES = (
    take_ragged,
    take_pictures,
    take_protos,
    take_raw,
    take_fixed_raw,
    take_labels,
    take_objects,
    take_shaped,
    take_padded,
    take_rest,
)


@dataclass(frozen=True)
class Drafted:
    """A record that was inferred.

    Attributes:
        spec: its spec.
        comments: by the names of fields, what was seen and what is doubtful; "" above
            the class.
        left_out: why keys are in no field, by key.
        lacking: that it has no target or no input, and what could be one; what the
            split `train` lacks.
    """

    spec: RecordSpec
    comments: Mapping[str, Sequence[str]]
    left_out: Mapping[str, str]
    lacking: tuple[str, ...] = ()

    @property
    def doubts(self) -> int:
        """How many comments the user has to decide upon."""
        comments = (text for texts in self.comments.values() for text in texts)
        return sum(text.startswith(DOUBT) for text in comments)


def draft_record(
    evidence: Evidence,
    class_name: str,
    *,
    files: Sequence[FileKeys] = (),
) -> Drafted:
    """Decide which record these could be.

    The result reads every record that the evidence is of.

    Args:
        evidence: of Examples or of SequenceExamples.
        class_name: the record's class.
        files: the keys of each file.
    """
    scene = _ruled(evidence)
    say_wrapped(scene, _ruled)
    left_out = _unusable(evidence)
    is_sequence = bool(evidence.steps)
    drafts = dict(scene.drafts)
    if is_sequence:
        lists, reasons = step_drafts(evidence.steps, evidence.keys)
        drafts |= lists
        left_out |= reasons
    names = _names_of(drafts, nested=not is_sequence)
    group_lists(scene, names)
    give_roles(scene, drafts)
    lacking, doubts = lacking_roles(evidence, drafts), _of_all(evidence, drafts)
    for where, untrained in lacking_keys(files, drafts):
        if not untrained:
            doubts.append(f"{where}: are these files of one kind?")
        else:
            lacking.append(
                f"{where}: models cannot learn from them: the training split lacks them"
            )
    comments = {"": [DOUBT + each for each in (*doubts, *lacking, *_reasons(left_out))]}
    keys = order(names.paths, {key: rank_of(draft) for key, draft in drafts.items()})
    flat = {key: "_".join(names.paths[key]) for key in keys}
    comments |= {
        flat[key]: drafts[key].comments for key in keys if drafts[key].comments
    }
    spec = RecordSpec(
        record=snake_case(class_name),
        class_name=class_name,
        source="",
        doc="",
        fields=tuple(drafts[key].spec(flat[key], names.paths[key]) for key in keys),
        message="SequenceExample" if evidence.steps else "Example",
    )
    return Drafted(spec, comments, left_out, tuple(lacking))


def _ruled(evidence: Evidence) -> Scene:
    """Return the scene of some evidence after all rules."""
    scene = Scene(evidence)
    for key in _unusable(evidence):
        scene.share(key, "nothing")
    for rule in _RULES:
        rule(scene)
    return scene


def _names_of(drafts: Mapping[str, Draft], *, nested: bool) -> Names:
    """Name the fields; all keys of a field in a model begin with the model's prefix."""
    # Keys with / of the many formats with image/encoded are no models.
    above = {key: key.split("/")[0] for key in drafts if "/" in key}
    flat = {
        first
        for key, first in above.items()
        if key.endswith("/encoded") or first in LABELS
    }
    splits = {split for key in drafts if (split := split_before(key)[0])}
    flat |= splits if len(splits) == 1 else set()
    alone: set[str] = set()
    while True:
        names = Names(drafts, flat, alone, nested=nested)
        outside = {
            key
            for key, draft in drafts.items()
            for further in draft.further_keys
            if not further.startswith(names.prefix(key))
        }
        if outside <= alone:
            return names
        alone |= outside


def _unusable(evidence: Evidence) -> dict[str, str]:
    """Return the keys that no field can have, and why."""
    found: dict[str, str] = {}
    for key, data in evidence.keys.items():
        if not key:
            found[key] = "an empty key cannot be the key of a field"
        elif not data.kinds:
            found[key] = "never has a value, so its type is unknown"
        elif len(data.kinds) > 1:
            found[key] = " and ".join(
                f"{kind} in {plural(count, 'record')}"
                for kind, count in sorted(data.kinds.items())
            )
    return found


def _of_all(evidence: Evidence, drafts: Mapping[str, Draft]) -> list[str]:
    """Return doubts about all records."""
    doubts: list[str] = []
    if evidence.records < _FEW:
        doubts.append(
            f"{plural(evidence.records, 'record')}: too few to tell rules from chance"
        )
    bare = np.ones(evidence.records, np.bool_)
    for key in drafts:
        steps = evidence.steps.get(key)
        bare &= (evidence.keys[key].lengths if steps is None else steps.steps) < 0
    if bare.any():
        doubts.append(
            f"{plural(int(bare.sum()), 'record')} without a value in any field: parsers "
            "refuse them, since records of something else look the same"
        )
    for fact, times in sorted(evidence.unknown.items()):
        doubts.append(
            f"{fact} in {plural(times, 'record')}, which a tf.train.Example does not have; "
            "readers skip it"
        )
    for key, times in sorted(evidence.repeated.items()):
        doubts.append(
            f"{quoted(key)} occurs twice in {plural(times, 'record')}; the last one "
            "counts"
        )
    return doubts


def _reasons(left_out: Mapping[str, str]) -> Iterator[str]:
    """Say which keys are in no field."""
    reasons: dict[str, list[str]] = {}
    for key, reason in left_out.items():
        reasons.setdefault(reason, []).append(quoted(key))
    for reason, keys in reasons.items():
        yield f"left out: {listed(keys, 10)}: {reason}"
