"""Tables: what the types of columns say, and their rows as evidence, as of Examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...findings import refused
from ...runtime.cells.columns import NO_BYTES, Column, Rows, extents
from ...runtime.native import BYTES, FLOAT, INT64
from ...runtime.shared.dtypes import INTEGERS, STRINGS
from ..formatting import plural
from .draft import Draft, Drafts
from .evidence import Evidence, KeyEvidence
from .key_words import meaning_of, names_class, names_event
from .labels import label, label_text
from .odd import with_content
from .pictures import mask_or_picture, picture, with_own_sizes
from .plain import plain, plain_draft

# Arrow's names of dtypes that have another one here.
_DTYPES = {"halffloat": "float16", "float": "float32", "double": "float64"}

# More values of one column are no classes.
_MOST_CLASSES = 1000

# Every float below it that has no fraction is an integer of its own.
_WHOLE_END = 2.0**53

# So large a share of different numbers has to differ as float32, too.
_DISTINCT = 0.99

_FLATTEN = "flatten it into columns, or leave it out"


@dataclass(frozen=True)
class Values:
    """The values of a column, or of the items of its lists.

    Attributes:
        dtype: of a value: that of a number, "string", "bytes", or "" if it is unknown.
        numbers: the numbers as int64 or float32; None for bytes.
        content: the bytes of strings; None for numbers.
        missing: which of them are missing.
        facts: more parameters of their field.
        notes: what is said of them.
        doubts: what is doubtful.
    """

    dtype: str
    missing: NDArray[np.bool_]
    numbers: NDArray[Any] | None = None
    content: Sequence[bytes] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableColumn:
    """A column, or a member of the structs in one.

    Attributes:
        key: its name; that of a member follows those of its structs and slashes.
        path: these names.
        values: its values, or the items of its lists.
        missing: the rows that have none.
        lengths: how many items each list has; None for single values.
        totals: how many values each list has in all its items.
        sizes: the sizes of each item, if it is a list itself; -1 if they vary.
    """

    key: str
    path: tuple[str, ...]
    values: Values
    missing: NDArray[np.bool_]
    lengths: Rows | None = None
    totals: Rows | None = None
    sizes: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of all lists; None if they differ."""
        lengths = np.unique(self.lengths if self.lengths is not None else ())
        if len(lengths) != 1 or -1 in self.sizes or not lengths[0]:
            return None
        return (int(lengths[0]), *self.sizes)


class Table:
    """A table as evidence, and the fields that its columns ask for.

    Args:
        table: a `pyarrow.Table` with rows.
        where: its name in errors.

    Raises:
        SchemagenError: a column that no field can hold.
    """

    def __init__(self, table: Any, where: str) -> None:
        self._where = where
        names = table.schema.names
        if len(set(names)) < len(names):
            raise self._refused("columns of one name", ", ".join(map(repr, names)))
        columns = [
            column
            for name in names
            for column in self._columns((name,), _combined(table[name]))
        ]
        self._by_key = {column.key: column for column in columns}
        self.alone = [each.key for each in columns if len(each.path) == 1]
        self.evidence = Evidence(table.num_rows, is_table=True)
        for column in columns:
            self.evidence.keys[column.key] = _evidence(column)

    def drafts(self) -> Mapping[str, Draft]:
        """Return the field of each column, by key."""
        drafts = Drafts(self.evidence)
        # A column is a field by the first rule that knows it.
        for rule in _RULES:
            for key, column in self._by_key.items():
                draft = rule(drafts, column) if drafts.is_open(key) else None
                if draft is not None:
                    values = column.values
                    draft = draft.with_notes(*values.notes).with_doubts(*values.doubts)
                    drafts = drafts.with_field(draft)
        contents = with_content(drafts, lambda data: None)
        fields = with_own_sizes(self.evidence, contents)
        return {key: fields[key] for key in self._by_key}

    def check_paths(self, paths: Mapping[str, tuple[str, ...]]) -> None:
        """Check that fields have the names of structs and their members, by key.

        Raises:
            SchemagenError: rows hold other names.
        """
        for key, column in self._by_key.items():
            if len(column.path) > 1 and paths[key] != column.path:
                raise self._refused(
                    f"the members of column {column.path[0]!r} cannot be fields of a model",
                    f"a struct with the member {column.path[-1]!r}",
                    "two or more members with names of Python",
                )

    def _refused(self, message: str, found: str, expected: str = "") -> Exception:
        return refused(
            self._where,
            message,
            rule="SG442",
            found=found,
            expected=expected,
            advice=_FLATTEN if expected else "rename them",
        )

    def _columns(self, path: tuple[str, ...], array: Any) -> Iterator[TableColumn]:
        """Yield a column, or the members of its structs."""
        import pyarrow as pa

        types, kind, name = pa.types, array.type, path[0]
        if types.is_struct(kind):
            if array.null_count:
                nulls = plural(array.null_count, "row has null", "rows have null")
                what = (
                    f"column {name!r} is a struct, and a nested model is never missing"
                )
                raise self._refused(what, nulls, "members that are null")
            for at in range(kind.num_fields):
                inner = (*path, kind.field(at).name)
                yield from self._columns(inner, array.field(at))
            return
        missing = np.asarray(array.is_null())
        lists = _lists(array) if _is_list(kind) else None
        array = array if lists is None else lists.items
        values = _values(array, single=lists is None)
        if values is None or (lists is not None and "unit" in values.facts):
            raise self._refused(
                f"column {name!r} has a type that no field holds",
                str(kind),
                "numbers, bools, text, bytes, times, or lists and structs of them",
            )
        if not path[-1]:
            named = "a name for each column"
            raise self._refused("a column has no name", f"{kind} without a name", named)
        if lists is None:
            yield TableColumn("/".join(path), path, values, values.missing)
            return
        if array.null_count or (-1 in lists.sizes and len(lists.sizes) > 1):
            raise self._refused(
                f"column {name!r} has lists that no field holds",
                "null among their items"
                if array.null_count
                else "items whose shape varies",
                "lists of values, of arrays of one shape, or of lists",
            )
        yield TableColumn(
            "/".join(path),
            path,
            values,
            missing,
            lists.lengths,
            lists.totals,
            lists.sizes,
        )


@dataclass(frozen=True)
class _Lists:
    """The lists of a column that are not null; fields as those of `TableColumn`."""

    lengths: Rows
    totals: Rows
    sizes: tuple[int, ...]
    items: Any


def _lists(array: Any) -> _Lists:
    """Return lists, and their items as far as these are lists again."""
    lengths, items = _items(array)
    totals = lengths
    sizes: tuple[int, ...] = ()
    while _is_list(items.type) and not items.null_count:
        inner, items = _items(items)
        found = np.unique(inner)
        sizes += (int(found[0]) if len(found) == 1 else -1,)
        ends, sums = np.cumsum(totals), np.append(0, np.cumsum(inner))
        totals = sums[ends] - sums[ends - totals]
    return _Lists(lengths, totals, sizes, items)


def _combined(column: Any) -> Any:
    """Return a column in one piece, its categories among each other."""
    return column.unify_dictionaries().combine_chunks() if column.num_chunks else column


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    known = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(is_kind(kind) for is_kind in known)


def _items(array: Any) -> tuple[Rows, Any]:
    """Return the lengths of the lists that there are, and their items."""
    import pyarrow.compute as pc

    there = array.drop_null()
    lengths = np.asarray(pc.list_value_length(there)).astype(np.int64)
    return lengths, pc.list_flatten(there)


def _values(array: Any, *, single: bool) -> Values | None:
    """Return the values of an array; None if no field holds such.

    Args:
        array: without lists and structs.
        single: whether each is the value of a row.
    """
    import pyarrow as pa

    types, kind = pa.types, array.type
    missing = np.asarray(array.is_null())
    if types.is_null(kind):
        return Values("", missing)
    if types.is_dictionary(kind):
        found = _categories(array, missing) if single else None
        return found or _values(array.dictionary_decode(), single=single)
    if types.is_boolean(kind):
        return Values("bool", missing, _numpy(array, False, np.int64))
    if types.is_integer(kind):
        # Of uint64, what is larger than int64 is a large number in any case.
        numbers = _numpy(array)
        if numbers.dtype == np.uint64:
            numbers = np.minimum(numbers, np.uint64(np.iinfo(np.int64).max))
        return Values(str(kind), missing, numbers.astype(np.int64))
    if types.is_decimal(kind):
        return _floats(array.cast(pa.float64()), "float64", single=single)
    if types.is_floating(kind):
        return _floats(array, _DTYPES[str(kind)], single=single)
    if types.is_date(kind):
        array = array.cast(pa.date32()).cast(pa.timestamp("s"))
        return Values("int64", missing, _integers(array), facts={"unit": "s"})
    if types.is_timestamp(kind):
        return Values("int64", missing, _integers(array), facts={"unit": kind.unit})
    if types.is_duration(kind) or types.is_time(kind):
        facts = {"unit": kind.unit, "duration": True}
        notes = ("since midnight",) if types.is_time(kind) else ()
        return Values("int64", missing, _integers(array), facts=facts, notes=notes)
    text = str(kind).removeprefix("large_").removesuffix("_view")
    if text.startswith("fixed_size_binary"):
        text = "binary"
    if text not in ("string", "binary"):
        return None
    content = array.drop_null().cast(pa.large_binary()).to_pylist()
    return Values("string" if text == "string" else "bytes", missing, content=content)


def _numpy(array: Any, filler: Any = 0, dtype: Any = None) -> NDArray[Any]:
    found: NDArray[Any] = np.asarray(array.fill_null(filler))
    return found.astype(dtype) if dtype else found


def _integers(times: Any) -> NDArray[Any]:
    """Return times as the integers that Arrow stores."""
    width = times.type.bit_width
    return _numpy(times.view(f"int{width}"), dtype=np.int64)


def _categories(array: Any, missing: NDArray[np.bool_]) -> Values | None:
    """Return the ids of categories; None for what is not text, empty or too much."""
    names = array.dictionary.to_pylist()
    texts = all(isinstance(name, str) and name for name in names)
    if (
        not texts
        or len(set(names)) < len(names)
        or not 2 <= len(names) <= _MOST_CLASSES
    ):
        return None
    facts = {"classes": tuple(names), "num_classes": len(names)}
    return Values("int64", missing, _numpy(array.indices, dtype=np.int64), facts=facts)


def _floats(array: Any, dtype: str, *, single: bool) -> Values:
    """Return floats, of which NaN is missing; integers if a frame seems to hold these.

    float64 becomes float32, in which models compute, unless numbers would become one or
    infinite.
    """
    numbers, missing = _numpy(array, 0.0), np.asarray(array.is_null())
    if not single:
        return Values(
            _float_of(numbers, dtype, single=False), missing, _narrow(numbers)
        )
    missing = missing | np.isnan(numbers)
    there = numbers[~missing]
    whole = (there == np.rint(there)).all() and (abs(there) < _WHOLE_END).all()
    if dtype == "float64" and missing.any() and len(there) and whole:
        doubt = (
            "whole numbers, and missing ones, for which frames hold floats: or a float?"
        )
        integers = np.where(missing, 0, numbers).astype(np.int64)
        return Values("int64", missing, integers, doubts=(doubt,))
    found, numbers = _float_of(there, dtype, single=True), _narrow(numbers)
    notes = ("float32 cannot tell these numbers apart",) if found == "float64" else ()
    return Values(found, missing, numbers, notes=notes)


def _float_of(numbers: NDArray[Any], dtype: str, *, single: bool) -> str:
    """Return the dtype in which floats are declared."""
    if dtype != "float64":
        return dtype
    with np.errstate(over="ignore"):
        narrow = numbers.astype(np.float32)
    if (np.isinf(narrow) & np.isfinite(numbers)).any():
        return dtype
    distinct = len(np.unique(numbers)) if single else 0
    return dtype if len(np.unique(narrow)) < _DISTINCT * distinct else "float32"


def _narrow(numbers: NDArray[Any]) -> NDArray[np.float32]:
    """Return floats as float32; those out of its range are its largest ones."""
    largest = np.finfo(np.float32).max
    finite = np.isfinite(numbers)
    return np.where(finite, np.clip(numbers, -largest, largest), numbers).astype(
        np.float32
    )


def _evidence(column: TableColumn) -> KeyEvidence:
    """Return what an Example of each row would hold under the column's name."""
    values, found = column.values, KeyEvidence(column.key)
    found.records = len(column.missing)
    rows = np.flatnonzero(~column.missing)
    lengths = np.ones(len(rows), np.int64) if column.totals is None else column.totals
    if values.content is not None:
        sizes = np.fromiter(map(len, values.content), np.int64, len(values.content))
        data = np.frombuffer(b"".join(values.content), np.uint8)
        stored = Column(column.key, BYTES, rows, lengths, extents(sizes), data)
    elif values.numbers is not None:
        numbers = values.numbers
        numbers = numbers[~values.missing] if column.lengths is None else numbers
        kind = INT64 if numbers.dtype == np.int64 else FLOAT
        stored = Column(column.key, kind, rows, lengths, numbers, NO_BYTES)
    else:
        return found
    found.add(stored, rows)
    found.values.unusual[values.dtype] = found.lists.unusual  # which may be stored raw
    return found


# Fields of columns: each function knows some, and returns None for others.


def _unknown(drafts: Drafts, column: TableColumn) -> Draft | None:
    """Draft the field of a column without a value."""
    if drafts.evidence.keys[column.key].kinds:
        return None
    values, doubt = column.values, "no row has a value"
    if values.dtype == "string" and column.lengths is None:
        draft = Draft(column.key, "Text")
    else:
        kind = "Scalar" if column.lengths is None else "VarLen"
        draft = Draft(column.key, kind, {"dtype": values.dtype or "float32"})
        doubt += "" if values.dtype else ": its type is unknown"
    draft = draft if "classes" in values.facts else draft.with_facts(**values.facts)
    return replace(draft, optional=True, role="info").with_doubts(doubt)


def _time(_: Drafts, column: TableColumn) -> Draft | None:
    """Draft a point in time, which models do not learn from, or a duration."""
    facts = column.values.facts
    if "unit" not in facts:
        return None
    draft = Draft(column.key, "Scalar", {"dtype": "int64", **facts})
    if "duration" in facts:
        return draft
    return draft.with_role("info").with_notes(
        "a time: models learn from parts of it, such as the hour, in columns of their own"
    )


def _category(_: Drafts, column: TableColumn) -> Draft | None:
    """Draft a label of categories, which is an input unless its name is that of a target."""
    if "classes" not in column.values.facts:
        return None
    key, meaning = column.key, meaning_of(column.key)
    target = names_class(key) or names_event(key) or meaning == "answer"
    role = "" if target else "info" if meaning == "info" else "input"
    return Draft(key, "Label", column.values.facts, role=role)


def _label(drafts: Drafts, column: TableColumn) -> Draft | None:
    """Draft a label of ids or of texts, by the name of the column."""
    data, dtype = drafts.evidence.keys[column.key], column.values.dtype
    if dtype not in INTEGERS and (dtype != "string" or column.lengths is not None):
        return None
    return None if column.sizes or column.shape else label(drafts, data)


def _label_text(drafts: Drafts, column: TableColumn) -> Draft | None:
    """Draft a label of texts, if there is no other one."""
    is_text = column.values.dtype == "string" and column.lengths is None
    return label_text(drafts, drafts.evidence.keys[column.key]) if is_text else None


def _picture(drafts: Drafts, column: TableColumn) -> Draft | None:
    return _encoded(picture, drafts, column)


def _mask(drafts: Drafts, column: TableColumn) -> Draft | None:
    return _encoded(mask_or_picture, drafts, column)


def _encoded(rule: Rule, drafts: Drafts, column: TableColumn) -> Draft | None:
    """Draft a field of encoded images; columns of their sizes stay fields."""
    evidence = drafts.evidence
    if column.values.dtype != "bytes" or column.lengths is not None:
        return None
    if evidence.keys[column.key].values.empty:
        return None
    images = {key: data for key, data in evidence.keys.items() if data.kind == BYTES}
    fields = {key: each for key, each in drafts.fields.items() if key in images}
    others = Drafts(replace(evidence, keys=images), fields)
    return rule(others, evidence.keys[column.key])


def _plain(drafts: Drafts, column: TableColumn) -> Draft:
    """Draft a field that states no more than the type of its column."""
    data, dtype = drafts.evidence.keys[column.key], column.values.dtype
    if column.lengths is not None:
        draft = _list(drafts, column)
    elif dtype == "string":
        draft = Draft(column.key, "Text")
    elif dtype == "bytes":
        draft = plain_draft(data)
        if draft.kind == "Text":
            text = "all are text: decode them, and declare str?"
            draft = Draft(column.key, "Scalar", {"dtype": dtype}).with_doubts(text)
    elif dtype == "bool":
        draft = Draft(column.key, "Scalar", {"dtype": dtype})
    else:
        draft = plain_draft(data).with_facts(dtype=dtype)
    return draft.with_facts(finite=False) if data.lists.unusual else draft


def _list(drafts: Drafts, column: TableColumn) -> Draft:
    """Draft a field of lists."""
    data, facts = drafts.evidence.keys[column.key], {"dtype": column.values.dtype}
    if -1 in column.sizes:
        return Draft(column.key, "Ragged", facts)
    if column.shape and column.values.dtype not in STRINGS:
        draft = Draft(column.key, "Vector", {**facts, "shape": column.shape})
        doubts = () if column.sizes else plain(drafts, data).doubts
        return draft.with_doubts(*doubts)
    items = {"item_shape": column.sizes} if column.sizes else {}
    return Draft(column.key, "VarLen", {**facts, **items})


Rule = Callable[[Drafts, KeyEvidence], Draft | None]

_RULES = (_unknown, _time, _category, _label, _label_text, _picture, _mask, _plain)
