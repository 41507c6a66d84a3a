"""From evidence to a record: all rules in order, then names, roles and comments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ...spec.model import RecordSpec
from ...spec.names import snake_case
from ..formatting import plural
from .draft import DOUBT, Draft, Drafts, odd_doubt, quoted, with_commas
from .evidence import Evidence, KeyEvidence
from .key_words import LABELS, split_before
from .labels import label, label_text, object_classes
from .lists import (
    object_list,
    padded,
    ragged,
    serialized_tensor,
    shaped_list,
    with_groups,
    with_one_shape,
)
from .naming import Names, order
from .numbered import numbered_images
from .odd import with_content
from .pictures import mask_or_picture, picture, with_own_sizes
from .plain import plain, step_drafts, step_problem
from .raw import fixed_raw, sized_raw, varying_raw
from .reading import FileKeys, drift, lacking_keys
from .relations import with_relations
from .roles import lacking_roles, rank_of, with_roles
from .single_values import with_single_values
from .sounds import sound

_FEW = 20
"""Fewer records can all be alike by chance."""

Rule = Callable[[Drafts, KeyEvidence], Draft | None]

# A key becomes the field of the first rule that knows it. Each rule is applied to all keys
# before the next one, and sees the fields that there are.
RULES: tuple[Rule, ...] = (
    ragged,
    numbered_images,
    sound,
    picture,
    mask_or_picture,
    serialized_tensor,
    sized_raw,
    fixed_raw,
    varying_raw,
    label,
    label_text,
    object_classes,
    object_list,
    shaped_list,
    padded,
    plain,
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
    def doubts(self) -> tuple[str, ...]:
        """The comments that the user has to decide upon."""
        said = (text for texts in self.comments.values() for text in texts)
        return tuple(
            text.removeprefix(DOUBT) for text in said if text.startswith(DOUBT)
        )


def draft_record(
    evidence: Evidence,
    class_name: str,
    *,
    files: Sequence[FileKeys] = (),
    columns: Mapping[str, Draft] = MappingProxyType({}),
    alone: Sequence[str] = (),
) -> Drafted:
    """Decide which record these could be.

    The result reads every record that the evidence is of, but for NaN and infinities
    in few of them.

    Args:
        evidence: of Examples, of SequenceExamples or of the rows of a table.
        class_name: the record's class.
        files: the keys of each file.
        columns: the fields of all columns of a table, by key, in order.
        alone: the keys of columns that are in no model.
    """
    drafts = _drafted(evidence, () if columns else evidence.keys)

    def judge(data: KeyEvidence) -> Draft | None:
        others = replace(evidence, keys={**evidence.keys, data.key: data})
        return _drafted(others, [data.key]).fields.get(data.key)

    fields: Mapping[str, Draft] = with_content(drafts, judge) | step_drafts(evidence)
    fields = columns or with_one_shape(with_own_sizes(evidence, fields))
    names = _names_of(fields, alone, nested=not evidence.steps)
    fields = with_roles(evidence, with_groups(evidence, fields, names))
    fields = with_single_values(evidence, with_relations(evidence, fields))
    left_out = {} if columns else _left_out(evidence, files)
    lacking, doubts = lacking_roles(evidence, fields), _of_all(evidence, fields)
    fields = {key: _with_odd(draft, evidence, files) for key, draft in fields.items()}
    doubts += [
        f"{quoted(key)}: {doubt}"
        for key, some in evidence.odd.items()
        if key not in fields
        for doubt in some
    ]
    for where, untrained in lacking_keys(files, fields):
        if not untrained:
            doubts.append(f"{where}: are these files of one kind?")
        else:
            lacking.append(
                f"{where}: models cannot learn from them: the training split lacks them"
            )
    comments = {"": [DOUBT + each for each in (*doubts, *lacking, *_reasons(left_out))]}
    ranks = {key: rank_of(draft) for key, draft in fields.items()}
    keys = list(columns) or order(names.paths, ranks)
    flat = {key: "_".join(names.paths[key]) for key in keys}
    comments |= {
        flat[key]: fields[key].comments for key in keys if fields[key].comments
    }
    spec = RecordSpec(
        record=snake_case(class_name),
        class_name=class_name,
        source="",
        doc="",
        fields=tuple(fields[key].spec(flat[key], names.paths[key]) for key in keys),
        message="SequenceExample" if evidence.steps else "Example",
    )
    return Drafted(spec, comments, left_out, tuple(lacking))


def _drafted(evidence: Evidence, keys: Iterable[str]) -> Drafts:
    """Return the fields that the rules draft of some keys."""
    usable = [key for key in keys if key and evidence.keys[key].kind]
    drafts = Drafts(evidence)
    for rule in RULES:
        for key in usable:
            draft = rule(drafts, evidence.keys[key]) if drafts.is_open(key) else None
            if draft is not None and drafts.admits(draft):
                drafts = drafts.with_field(draft)
    return drafts


def _names_of(
    drafts: Mapping[str, Draft], in_no_model: Iterable[str], *, nested: bool
) -> Names:
    """Name the fields; all keys of a field in a model begin with the model's prefix."""
    # Keys with / of the many formats with image/encoded are no models.
    texts = _texts_of(drafts)
    above = {key: key.split("/")[0] for key in texts.values() if "/" in key}
    flat = {
        first
        for key, first in above.items()
        if key.endswith("/encoded") or first in LABELS
    }
    splits = {split for key in texts.values() if (split := split_before(key)[0])}
    flat |= splits if len(splits) == 1 else set()
    alone = set(in_no_model)
    while True:
        names = Names(texts, flat, alone, nested=nested)
        outside = {
            key
            for key, draft in drafts.items()
            for further in draft.further_keys
            if not further.startswith(names.prefix(key))
        }
        if outside <= alone:
            return names
        alone |= outside


def _texts_of(drafts: Mapping[str, Draft]) -> dict[str, str]:
    """Return what each field is named after: its key, or what numbered keys share."""
    found = {key: draft.key_without_number for key, draft in drafts.items()}
    times = Counter(found.values())
    return {key: text if times[text] == 1 else key for key, text in found.items()}


def _with_odd(draft: Draft, evidence: Evidence, files: Sequence[FileKeys]) -> Draft:
    """Return a field with doubts about the records that differ in it."""
    data = evidence.of(draft.key)
    kind = draft.facts.get("step") or draft.declared.kind
    raw = getattr(kind, "encoding", "") == "raw"
    unusual = data.values.unusual[kind.dtype] if raw else data.lists.unusual
    what = "NaN or infinities"
    of = plural(len(data.present), "step" if draft.kind == "Steps" else "record")
    if not getattr(kind, "finite", True):
        draft = draft.with_doubts(f"{what} in {unusual:,} of {of}: are they meant?")
    elif unusual:
        draft = draft.with_doubts(odd_doubt(unusual, of, what))
    draft = draft.with_doubts(*evidence.odd.get(draft.key, ()))
    return draft.with_notes(*drift(files, draft.key))


def _left_out(evidence: Evidence, files: Sequence[FileKeys]) -> dict[str, str]:
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
            found[key] += "".join(f" ({each})" for each in drift(files, key))
    steps = {key: step_problem(evidence, key) for key in evidence.steps}
    return found | {key: reason for key, reason in steps.items() if reason}


def _of_all(evidence: Evidence, drafts: Mapping[str, Draft]) -> list[str]:
    """Return doubts about all records."""
    doubts: list[str] = []
    if evidence.records < _FEW:
        doubts.append(
            f"{plural(evidence.records, 'record')}: too few to distinguish rules from chance"
        )
    bare = np.ones(evidence.records, np.bool_)
    for key in drafts:
        steps = evidence.steps.get(key)
        bare &= (evidence.keys[key].lengths if steps is None else steps.steps) < 0
    if bare.any() and evidence.is_table:
        rows = plural(int(bare.sum()), "row")
        doubts.append(f"{rows} without any value cannot be written: leave them out")
    elif bare.any():
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
        yield f"left out: {with_commas(keys, 10)}: {reason}"
