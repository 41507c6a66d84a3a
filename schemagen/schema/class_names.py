"""How classes are declared: by their names, or by how many there are."""

from __future__ import annotations

from collections.abc import Iterator

from ..runtime.shared.errors import Problem
from .kind import is_utf8


def class_name_problems(classes: object, num_classes: object) -> Iterator[Problem]:
    """Yield what is wrong with the names of classes.

    Args:
        classes: the names that are given.
        num_classes: how many are said to be there; None if that is not said.
    """
    if not isinstance(classes, tuple) or not classes:
        one = "a tuple of one has a comma: ('name',)"
        advice = one if isinstance(classes, str) else ""
        yield Problem(f"classes={classes!r}", "a tuple of names", advice)
        return
    strange = [c for c in classes if not isinstance(c, str) or not c]
    if strange:
        yield Problem(f"the class {strange[0]!r}", "a non-empty str")
    elif len(set(classes)) < len(classes):
        twice = next(c for c in classes if classes.count(c) > 1)
        yield Problem(f"the class {twice!r} twice", "each name once")
    elif not all(map(is_utf8, classes)):
        broken = next(c for c in classes if not is_utf8(c))
        yield Problem(f"the class {broken!r}", "text that UTF-8 can hold")
    if num_classes is not None and (
        type(num_classes) is not int or num_classes != len(classes)
    ):
        yield Problem(
            f"num_classes={num_classes!r} and {len(classes)} classes",
            "one or the other",
        )
