"""The feature lists of a SequenceExample."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .draft import Draft
from .evidence import KeyEvidence, StepEvidence
from .pictures import add_resize, image_facts
from .plain import plain_draft
from .raw import fixed_draft


def step_drafts(
    steps: Mapping[str, StepEvidence], context: Mapping[str, object]
) -> tuple[dict[str, Draft], dict[str, str]]:
    """Return the fields of feature lists, and why others can have none.

    Args:
        steps: the feature lists, by key.
        context: the keys of the context, which share one set of keys with them.
    """
    drafts: dict[str, Draft] = {}
    left_out: dict[str, str] = {}
    for key, lists in steps.items():
        reason = _problem(lists, key in context)
        if reason:
            left_out[key] = reason
        else:
            drafts[key] = _draft(lists)
    _group(drafts, steps)
    return drafts, left_out


def _problem(lists: StepEvidence, in_context: bool) -> str:
    each = lists.each
    if in_context:
        return "a key of the context and of feature lists"
    if not lists.key:
        return "a feature list without a key"
    if not each.longest:
        return "no value in any step"
    if len(each.kinds) > 1:
        return f"steps of several kinds, {' and '.join(sorted(each.kinds))}"
    shortest = 0 if each.missing else each.shortest
    if shortest < each.longest or (each.kind == "bytes" and each.longest > 1):
        return f"{shortest:,} to {each.longest:,} {each.kind} values in a step"
    return ""


def _draft(lists: StepEvidence) -> Draft:
    step = _step(lists.each)
    draft = Draft(
        lists.key,
        "Steps",
        optional=bool((lists.steps < 0).any()),
        doubts=step.doubts,
        notes=step.notes,
        step=step,
    )
    present = lists.steps[lists.steps >= 0]
    low, high = int(present.min()), int(present.max())
    if low < high:
        draft.notes.append(f"{low:,} to {high:,} steps")
    return draft


def _step(each: KeyEvidence) -> Draft:
    facts = image_facts(each.values) if each.is_single else None
    if facts is None or each.values.empty:
        return fixed_draft(each, {}) or plain_draft(each)
    draft = Draft(each.key, "Image", facts)
    add_resize(draft, each.values)
    return draft


def _group(drafts: dict[str, Draft], steps: Mapping[str, StepEvidence]) -> None:
    """Group feature lists that have equally many steps in every record."""
    found: dict[bytes, list[Draft]] = {}
    for key, draft in drafts.items():
        counts = steps[key].steps
        if (counts >= 0).all() and len(np.unique(counts)) > 1:
            found.setdefault(counts.tobytes(), []).append(draft)
    groups = [members for members in found.values() if len(members) > 1]
    for number, members in enumerate(groups, 1):
        for draft in members:
            draft.facts["group"] = "steps" if number == 1 else f"steps_{number}"
