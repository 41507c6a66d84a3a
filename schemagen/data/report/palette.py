"""Colours of splits, and of classes that are drawn over pictures."""

from __future__ import annotations

SERIES = 6
"""So many splits have a colour; there are rarely more than three."""

DASHES = ((), (), (5, 3), (2, 2), (7, 2, 2, 2), (1, 3))
"""How the line of each is broken, for those who do not tell the colours apart."""

CLASSES = (
    (230, 85, 13),
    (31, 120, 220),
    (20, 160, 90),
    (215, 40, 120),
    (245, 190, 20),
    (120, 80, 220),
    (0, 175, 200),
    (170, 95, 30),
    (150, 200, 40),
    (240, 110, 160),
    (90, 110, 130),
    (200, 30, 40),
    (60, 60, 180),
    (0, 110, 80),
    (250, 140, 90),
    (140, 20, 120),
)
"""Red, green and blue of classes, distinct on photographs and on paper."""

SLOTS = 24
"""So many classes are told apart over the pictures of a page, by fields and names."""

OTHERS = SLOTS
"""The slot of all further classes."""

_GREY = (128, 128, 128)


def shade(color: int) -> tuple[int, int, int]:
    """Return red, green and blue of a class's colour; OTHERS is grey."""
    return _GREY if color == OTHERS else CLASSES[color % len(CLASSES)]


def rules() -> str:
    """Return the rules that colour each slot, and hide it where the reader asks."""
    lines = []
    for slot in range(SLOTS + 1):
        shown = "#" + "".join(f"{part:02x}" for part in shade(slot))
        lines.append(f".k{slot}{{--k:{shown}}}")
        lines.append(f'[data-hidden~="{slot}"] .m{slot}{{display:none}}')
    return "\n".join(lines) + "\n"
