"""Labels, one or several a record: by id from any number on, and by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from stored_features import blobs, ints

from .case import Drawn, KindCase, declared

NAMES = ("red fox", "hare", 'the "wolf"', "łoś", "{{ elk }}")
VOCABULARY = "".join(f"{name}\n" for name in NAMES)

ENUMS = """\
class Animal(Enum):
    FOX = "red fox"
    HARE = "hare"


class Grade(IntEnum):
    GOOD = 1
    BAD = 0


"""

Store = Callable[[Sequence[int]], tf.train.Feature]


def _ids_from(offset: int) -> Store:
    return lambda ids: ints(*(index + offset for index in ids))


def _from(*values: int) -> Store:
    return lambda ids: ints(*(values[index] for index in ids))


def _names(ids: Sequence[int]) -> tf.train.Feature:
    return blobs(*(NAMES[index].encode() for index in ids))


def _given(index: int, by_name: bool) -> int | str:
    return NAMES[index] if by_name else index


def _label(
    count: int, store: Store, *, named: bool = False
) -> Callable[[str], st.SearchStrategy[Drawn]]:
    def draw(name: str) -> st.SearchStrategy[Drawn]:
        return st.tuples(st.integers(0, count - 1), st.booleans()).map(
            lambda drawn: Drawn(
                _given(drawn[0], named and drawn[1]),
                {name: store([drawn[0]])},
                {name: np.int64(drawn[0])},
            )
        )

    return draw


def _hot(ids: Sequence[int], count: int) -> Any:
    row = np.zeros(count, np.float32)
    row[list(ids)] = 1
    return row


def _multi_label(
    count: int, store: Store, *, named: bool = False
) -> Callable[[str], st.SearchStrategy[Drawn]]:
    def draw(name: str) -> st.SearchStrategy[Drawn]:
        ids = st.lists(st.integers(0, count - 1), unique=True, max_size=count)
        return st.tuples(ids, st.booleans()).map(
            lambda drawn: Drawn(
                [_given(index, named and drawn[1]) for index in drawn[0]],
                {name: store(drawn[0])},
                {name: _hot(drawn[0], count)},
            )
        )

    return draw


def _one_label() -> Iterator[KindCase]:
    files = {"animals.txt": VOCABULARY}
    yield declared(
        "Annotated[int, Label(num_classes=7, offset=1)]", _label(7, _ids_from(1))
    )
    yield declared(
        f"Annotated[int | str, Label(classes={NAMES!r}, offset=200)]",
        _label(5, _ids_from(200), named=True),
    )
    yield declared(
        'Annotated[int, Label(num_classes=3, offset=1, role="info")]',
        _label(3, _ids_from(1)),
    ).optional(-1, masked=False)
    yield declared(
        "Annotated[int, Label(num_classes=3, offset=5)]", _label(3, _ids_from(5))
    ).optional(2, default="2")
    signs = declared(
        'Annotated[int | str, Label(values=(-1, 1), classes=("red fox", "hare"))]',
        _label(2, _from(-1, 1), named=True),
    )
    yield signs
    yield signs.optional(-1, masked=False)
    yield signs.optional(1, default="'hare'")
    yield declared(
        "Annotated[int, Label(values=(90, 1, -7, 2**61), num_classes=4)]",
        _label(4, _from(90, 1, -7, 2**61)),
    ).optional(-1, masked=False)
    yield declared(
        "Annotated[int, Label(values=(1, 2, 3), role='info')]", _label(3, _ids_from(1))
    )
    by_name = declared(
        f'Annotated[int | str, Label(classes={NAMES!r}, stored="text")]',
        _label(5, _names, named=True),
    )
    yield by_name
    yield by_name.optional(1, default="'hare'")
    yield declared(
        'Annotated[int | str, Label(vocabulary="animals.txt", stored="text")]',
        _label(5, _names, named=True),
        files=files,
    ).optional(-1, masked=False)
    yield declared(
        'Annotated[int | str, Label(vocabulary="animals.txt", role="input")]',
        _label(5, _ids_from(0), named=True),
        files=files,
    )


def _declared_classes() -> Iterator[KindCase]:
    """Classes of a Literal or an Enum, and how the annotation takes them."""
    literal = f"Literal[{', '.join(map(repr, NAMES))}]"
    for text in (
        f"Annotated[str, Label(classes={NAMES!r})]",
        f"Annotated[int | str, Label(classes={NAMES!r}, role='input')]",
        literal,
    ):
        named = declared(text, _label(5, _ids_from(0), named=True))
        yield named
    yield named.optional(1, default="'hare'")
    many = declared("Annotated[int, Label(num_classes=300)]", _label(300, _ids_from(0)))
    yield many
    yield many.optional(-1, masked=False)
    animal = declared("Animal", _label(2, _ids_from(0)), prelude=ENUMS)
    yield animal
    yield animal.optional(-1, masked=False)
    grade = "Annotated[Grade, Label(role='info')]"
    yield declared(grade, _label(2, _ids_from(0)), prelude=ENUMS)


def _several_labels() -> Iterator[KindCase]:
    yield declared(
        "Annotated[list[int], MultiLabel(num_classes=9)]",
        _multi_label(9, _ids_from(0)),
    )
    yield declared(
        "Annotated[list[int], MultiLabel(values=(5, 3, 9))]",
        _multi_label(3, _from(5, 3, 9)),
    )
    yield declared(
        'Annotated[np.ndarray, MultiLabel(num_classes=300, offset=1, role="info")]',
        _multi_label(300, _ids_from(1)),
    ).optional(_hot([], 300))
    yield declared(
        f'Annotated[list[int | str], MultiLabel(classes={NAMES!r}, stored="text", '
        'role="input")]',
        _multi_label(5, _names, named=True),
    ).optional(_hot([], 5), default="[]")
    yield declared(
        'Annotated[list[str | int], MultiLabel(vocabulary="animals.txt", offset=3, '
        "key='NAME')]",
        _multi_label(5, _ids_from(3), named=True),
        files={"animals.txt": VOCABULARY},
    )


def cases() -> Iterator[KindCase]:
    yield from _one_label()
    yield from _declared_classes()
    yield from _several_labels()
