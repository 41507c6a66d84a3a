"""Which colours the classes of masks and boxes have in the pictures of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...kinds.field import FieldSpec
from ...kinds.mask import Mask
from ..statistics.samples import Sample as Kept
from .boxes import BoxFields, boxes_in
from .columns import name_of
from .features import Features
from .masks import MOST_LAYERS, MaskPixels, areas, class_word
from .palette import OTHERS, SLOTS
from .view import Key, Legend

# What covers more of the masks than this is ground, which would hide the pictures.
_GROUND = 0.5


@dataclass(frozen=True)
class SampleRead:
    """A sample, with its masks."""

    kept: Kept
    features: Features
    masks: tuple[MaskPixels, ...]


@dataclass
class Colors:
    """The slot and the colour of each class that has one, by field and class."""

    slots: dict[tuple[str, int | str], tuple[int, int]] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)

    def of(self, name: str, class_: int | str) -> tuple[int, int]:
        """Return slot and colour of a class."""
        return self.slots.get((name, class_), (OTHERS, OTHERS))

    def of_ids(self, name: str) -> dict[int, tuple[int, int]]:
        """Return slots and colours of a mask's ids."""
        return {
            class_: found
            for (field_name, class_), found in self.slots.items()
            if field_name == name and isinstance(class_, int)
        }

    def give(self, name: str, class_: int | str, word: str) -> tuple[int, int]:
        """Give a class a slot, and the colour of its name."""
        color = self.words.setdefault(word, len(self.words))
        self.slots[name, class_] = len(self.slots), color
        return self.slots[name, class_]


def legends_of(
    every: Sequence[SampleRead],
    masks: Sequence[FieldSpec[Mask]],
    boxes: Sequence[BoxFields],
) -> tuple[Colors, tuple[Legend, ...]]:
    """Give the most frequent classes a colour each, and the others a common one."""
    colors = Colors()
    legends = []
    for field_ in masks:
        covered: dict[int | str, int] = {}
        for each in every:
            for mask in each.masks:
                if mask.field is field_:
                    for id_, area in areas(mask).items():
                        covered[id_] = covered.get(id_, 0) + area
        words = {id_: class_word(field_, int(id_)) for id_ in covered}
        ground = sum(covered.values()) * _GROUND
        legend = _legend(
            colors, (field_.name, name_of(field_), "Masks"), covered, words, ground
        )
        legends += [legend] if legend else []
    for some in boxes:
        counts: dict[int | str, int] = {}
        for each in every:
            # Only the names matter here, and they do not depend on a picture's size.
            for box in boxes_in(some, each.features, 1 << 30, 1 << 30):
                counts[box.label] = counts.get(box.label, 0) + 1
        words = {label: str(label) or "box" for label in counts}
        legend = _legend(colors, (some.name, some.name, "Boxes"), counts, words)
        legends += [legend] if legend else []
    return colors, tuple(legends)


def _legend(
    colors: Colors,
    names: tuple[str, str, str],
    counts: Mapping[int | str, int],
    words: Mapping[int | str, str],
    ground: float = float("inf"),
) -> Legend | None:
    field_, shown, kind = names
    order = sorted(counts, key=lambda each: (-counts[each], str(each)))
    top = order[: max(0, min(MOST_LAYERS, SLOTS - len(colors.slots)))]
    keys = [
        Key(*colors.give(field_, class_, words[class_]), words[class_], visible)
        for class_ in sorted(top, key=_by_id)
        for visible in [counts[class_] <= ground]
    ]
    if len(counts) > len(top):
        keys.append(Key(OTHERS, OTHERS, f"{len(counts) - len(top):,} others", True))
    return Legend(shown, kind, tuple(keys)) if keys else None


def _by_id(class_: int | str) -> tuple[int, str]:
    return (class_, "") if isinstance(class_, int) else (0, class_)
