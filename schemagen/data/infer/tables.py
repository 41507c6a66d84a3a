"""Tables: the fields that columns ask for, and rows as evidence, as if they were Examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...runtime.cells.columns import NO_BYTES, Column, extents
from ...runtime.native import BYTES, FLOAT, INT64
from ...runtime.shared.dtypes import INTEGERS, STRINGS
from .draft import Draft, Drafts
from .evidence import Evidence, KeyEvidence
from .key_words import meaning_of, names_class, names_event
from .labels import label, label_text
from .odd import with_content
from .pictures import mask_or_picture, picture, with_own_sizes
from .plain import plain, plain_draft
from .sounds import sound
from .table_columns import ListValues, TableColumn, columns_of

# What separates the values of CSV files, besides the comma.
_SEPARATORS = {";": "';'", "\t": "a tab", "|": "'|'"}


class TableEvidence:
    """A table as evidence, and the fields of its columns.

    Args:
        table: a `pyarrow.Table` with rows.
        where: its name in errors.
        is_csv: whether it was read from CSV files.

    Attributes:
        evidence: what Examples of its rows would hold.
        alone: the keys of the columns that are no members of structs.

    Raises:
        SchemagenError: a column that no field can hold.
    """

    def __init__(self, table: Any, where: str, *, is_csv: bool = False) -> None:
        self._where, self._is_csv = where, is_csv
        self._columns = {each.key: each for each in columns_of(table, where)}
        keys = {key: _evidence(column) for key, column in self._columns.items()}
        self.evidence = Evidence(table.num_rows, keys, is_table=True)
        self.alone = [
            key for key, column in self._columns.items() if len(column.path) == 1
        ]

    def drafts(self) -> Mapping[str, Draft]:
        """Return the field of each column, by key."""
        drafts = Drafts(self.evidence)
        # A column is a field by the first rule that knows it.
        for rule in _RULES:
            for key, column in self._columns.items():
                draft = rule(drafts, column) if drafts.is_open(key) else None
                if draft is not None:
                    values = column.values
                    doubts = (*values.doubts, *self._doubts_of_csv(column))
                    draft = draft.with_notes(*values.notes).with_doubts(*doubts)
                    drafts = drafts.with_field(draft)
        contents = with_content(drafts, lambda data: None)
        fields = with_own_sizes(self.evidence, contents)
        return {key: fields[key] for key in self._columns}

    def _doubts_of_csv(self, column: TableColumn) -> Iterator[str]:
        """Yield doubts about how a CSV file was read."""
        if not self._is_csv:
            return
        read, pass_on = "read it with pandas.read_csv", "pass that to infer_schema"
        for each, word in _SEPARATORS.items():
            if len(self._columns) == 1 and each in column.key:
                yield (
                    f"one column: is {word} the separator of the file? Then {read} and its "
                    f"sep=, and {pass_on}"
                )
        if column.values.dtype == "bytes":
            yield (
                "not UTF-8: is the text of the file in another encoding? Then "
                f"{read} and its encoding=, and {pass_on}"
            )

    def check_paths(self, paths: Mapping[str, tuple[str, ...]]) -> None:
        """Check that the fields of structs have the names of their members.

        Args:
            paths: the names of each field, by key.

        Raises:
            SchemagenError: they have other ones, or none.
        """
        for key, column in self._columns.items():
            if len(column.path) > 1 and paths[key] != column.path:
                raise column.refused(
                    self._where,
                    "is in a struct that cannot be a nested model",
                    f"a struct with the member {column.path[-1]!r}",
                    "two or more members whose names can be those of fields",
                )


def _evidence(column: TableColumn) -> KeyEvidence:
    """Return what an Example of each row would hold under the column's name."""
    values, lists, key = column.values, column.lists, column.key
    found = KeyEvidence(key)
    found.records = len(column.missing)
    rows = np.flatnonzero(~column.missing)
    lengths = np.ones(len(rows), np.int64) if lists is None else lists.totals
    if values.content is not None:
        sizes = np.fromiter(map(len, values.content), np.int64, len(values.content))
        data = np.frombuffer(b"".join(values.content), np.uint8)
        stored = Column(key, BYTES, rows, lengths, extents(sizes), data)
    elif values.numbers is not None:
        numbers = values.numbers if lists else values.numbers[~values.missing]
        kind = INT64 if numbers.dtype == np.int64 else FLOAT
        stored = Column(key, kind, rows, lengths, numbers, NO_BYTES)
    else:
        return found
    found.add(stored, rows)
    found.values.unusual[values.dtype] = found.lists.unusual  # float64 is stored raw
    return found


# Fields of columns: each function knows some, and returns None for others.


def _unknown(drafts: Drafts, column: TableColumn) -> Draft | None:
    """Draft the field of a column without a value."""
    if drafts.evidence.keys[column.key].kinds:
        return None
    values, doubt = column.values, "no row has a value"
    if values.dtype == "string" and column.lists is None:
        draft = Draft(column.key, "Text")
    else:
        kind = "Scalar" if column.lists is None else "VarLen"
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
        "a time: to learn from it, add columns of its parts, such as the hour"
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
    if dtype not in INTEGERS and (dtype != "string" or column.lists is not None):
        return None
    if column.lists and (column.lists.sizes or column.lists.shape):
        return None
    return label(drafts, data)


def _label_text(drafts: Drafts, column: TableColumn) -> Draft | None:
    """Draft a label of texts, if there is no other one."""
    is_text = column.values.dtype == "string" and column.lists is None
    return label_text(drafts, drafts.evidence.keys[column.key]) if is_text else None


def _sound(drafts: Drafts, column: TableColumn) -> Draft | None:
    data = drafts.evidence.keys[column.key]
    single = column.values.dtype == "bytes" and column.lists is None
    return sound(drafts, data) if single and not data.values.empty else None


def _picture(drafts: Drafts, column: TableColumn) -> Draft | None:
    return _encoded(picture, drafts, column)


def _mask(drafts: Drafts, column: TableColumn) -> Draft | None:
    return _encoded(mask_or_picture, drafts, column)


def _encoded(rule: Rule, drafts: Drafts, column: TableColumn) -> Draft | None:
    """Draft a field of encoded images; columns of their sizes stay fields."""
    evidence = drafts.evidence
    if column.values.dtype != "bytes" or column.lists is not None:
        return None
    if evidence.keys[column.key].values.empty:
        return None
    images = {key: data for key, data in evidence.keys.items() if data.values.images}
    fields = {key: each for key, each in drafts.fields.items() if key in images}
    others = Drafts(replace(evidence, keys=images), fields)
    return rule(others, evidence.keys[column.key])


def _plain(drafts: Drafts, column: TableColumn) -> Draft:
    """Draft a field that states no more than the type of its column."""
    data, dtype = drafts.evidence.keys[column.key], column.values.dtype
    if column.lists is not None:
        draft = _list(drafts, column.key, dtype, column.lists)
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


def _list(drafts: Drafts, key: str, dtype: str, lists: ListValues) -> Draft:
    """Draft a field of lists."""
    facts: dict[str, Any] = {"dtype": dtype}
    if -1 in lists.sizes or (lists.sizes and dtype in STRINGS):
        return Draft(key, "Ragged", facts)
    if lists.shape and dtype not in STRINGS:
        draft = Draft(key, "Vector", {**facts, "shape": lists.shape})
        other = plain(
            drafts, drafts.evidence.keys[key]
        )  # doubts the shape of flat lists
        return draft if lists.sizes else draft.with_doubts(*other.doubts)
    items = {"item_shape": lists.sizes} if lists.sizes else {}
    return Draft(key, "VarLen", {**facts, **items})


Rule = Callable[[Drafts, KeyEvidence], Draft | None]

_RULES = (
    _unknown,
    _time,
    _category,
    _label,
    _label_text,
    _sound,
    _picture,
    _mask,
    _plain,
)
