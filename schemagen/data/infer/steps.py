"""The feature lists of a SequenceExample."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...runtime.codecs.registry import KINDS
from .draft import Draft
from .evidence import Evidence, KeyEvidence, StepEvidence
from .pictures import image_draft, resized
from .plain import plain_draft
from .raw import raw_draft


def step_drafts(evidence: Evidence) -> dict[str, Draft]:
    """Return the fields of feature lists that can have one."""
    drafts = {
        key: _draft(lists)
        for key, lists in evidence.steps.items()
        if not step_problem(evidence, key)
    }
    return _with_groups(drafts, evidence.steps)


def step_problem(evidence: Evidence, key: str) -> str:
    """Say why feature lists can have no field; "" if they can."""
    each = evidence.steps[key].each
    if key in evidence.keys:
        return "a key of the context and of feature lists"
    if not key:
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
    facts = {"step": KINDS[step.kind](**step.facts)}
    missing = bool((lists.steps < 0).any())
    draft = Draft(lists.key, "Steps", facts, missing, "", step.doubts, step.notes)
    present = lists.steps[lists.steps >= 0]
    low, high = int(present.min()), int(present.max())
    return draft.with_notes(f"{low:,} to {high:,} steps") if low < high else draft


def _step(each: KeyEvidence) -> Draft:
    image = image_draft(each) if each.is_single else None
    if image is None or each.values.empty:
        return raw_draft(each, {}) or plain_draft(each)
    return resized(image, each.values)


def _with_groups(
    drafts: dict[str, Draft], steps: Mapping[str, StepEvidence]
) -> dict[str, Draft]:
    """Return feature lists with groups of those that have equally many steps."""
    found: dict[bytes, list[str]] = {}
    for key in drafts:
        counts = steps[key].steps
        if len(np.unique(counts[counts >= 0])) > 1:
            found.setdefault(counts.tobytes(), []).append(key)
    groups = [members for members in found.values() if len(members) > 1]
    names = {
        key: "steps" if number == 1 else f"steps_{number}"
        for number, members in enumerate(groups, 1)
        for key in members
    }
    return drafts | {
        key: drafts[key].with_facts(group=name) for key, name in names.items()
    }
