"""Old bytes read by new code: the same values, an error with the field's name, or a bug.

Generated code is run from memory. What two schemas agree on is asked of
`compatibility.differences`, as `make_dataset` does; then what it lets pass is read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow as tf
from schemagen import Steps
from schemagen.codegen.render import render
from schemagen.kinds.field import FieldSpec
from schemagen.runtime.shared.compatibility import Change, differences
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import to_data

from .random_rows import Row, arguments, random_rows, translated

# The shared code of this repository serves code that is run from memory.
_HOST = "generated.in_memory"

ROWS = 4


Delivered = dict[str, Any]
"""What is delivered of one field of one record: its value, and whether it is there."""

Columns = dict[str, list[Delivered]]


@dataclass
class Code:
    """A schema and, once it is rendered, its generated functions.

    Attributes:
        spec: what the schema says.
        serialize: writes a row.
        parse_batch: reads records.
    """

    spec: RecordSpec
    _meant: dict[str, list[Delivered]] = field(default_factory=dict)
    serialize: Callable[..., bytes] = field(init=False)
    parse_batch: Callable[..., Any] = field(init=False)

    @cached_property
    def data(self) -> dict[str, Any]:
        """What its spec.json says."""
        return to_data(self.spec)

    @cached_property
    def by_key(self) -> dict[str, FieldSpec]:
        """Its fields."""
        return {each.key: each for each in self.spec.fields}

    def write(self, row: Row) -> bytes:
        """Serialize a row."""
        return self.serialize(**arguments(self.spec, row))

    def meant(self, records: Sequence[bytes], keys: Collection[str]) -> Columns:
        """Parse its own records, whose fields are always the same ones, only once."""
        missing = [key for key in keys if key not in self._meant]
        if missing:
            self._meant |= self.read(records, missing)
        return self._meant

    def read(self, records: Sequence[bytes], keys: Collection[str]) -> Columns:
        """Parse some fields, by key.

        Raises:
            tf.errors.OpError: what the generated parser raises.
        """
        wanted = [self.by_key[key] for key in keys]
        if len(records) > 1 and any(map(_of_any_size, wanted)):
            each = [self.read([record], keys) for record in records]
            return {key: [one[key][0] for one in each] for key in keys}
        batch = _flat(
            self.parse_batch(tf.constant(records), [each.name for each in wanted])
        )
        found: Columns = {}
        for each in wanted:
            values = _rows(batch.pop(each.name))
            mask = batch.pop(f"{each.name}_present", None)
            found[each.key] = [{"value": value} for value in values]
            if mask is not None:
                for one, there in zip(found[each.key], _rows(mask), strict=True):
                    one["present"] = there
        assert not batch
        return found


def _of_any_size(field: FieldSpec) -> bool:
    """Tell whether a field's pictures cannot be stacked."""
    shape = getattr(field.kind, "shape", ())
    if field.kind.name not in ("Image", "Mask") or None not in shape:
        return False
    return getattr(field.kind, "resize", None) is None or None in shape[2:]


def render_all(codes: Sequence[Code]) -> dict[str, str]:
    """Generate code for all of them and give them their functions.

    Returns:
        All that was rendered, by path; the records are called m0, m1, and so on.
    """
    specs = [replace(code.spec, record=f"m{at}") for at, code in enumerate(codes)]
    texts = {file.path: file.text for file in render(tuple(specs))}
    with TemporaryDirectory() as directory:
        spec = Path(directory, "spec.json")  # which serializers read
        for at, code in enumerate(codes):
            spec.write_text(texts[f"m{at}/spec.json"])
            # Parsers may import their serializer.
            sys.modules[_HOST] = ModuleType(_HOST)
            code.serialize = _run(texts[f"m{at}/serializer.py"], spec).serialize
            code.parse_batch = _run(texts[f"m{at}/parser.py"], spec).parse_batch
    return texts


def _run(text: str, spec: Path) -> Any:
    part = "serializer" if "def serialize(" in text else "parser"
    module = sys.modules[f"{_HOST}.{part}"] = ModuleType(f"{_HOST}.{part}")
    module.__package__ = _HOST
    module.__file__ = str(spec)
    exec(compile(text, f"{part}.py", "exec", dont_inherit=True), vars(module))
    return module


def _flat(tensors: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tensors.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{name}_")
        else:
            found[prefix + name] = value
    return found


def _rows(tensor: Any) -> list[Any]:
    """Return a tensor's rows, as arrays or as lists if they are ragged."""
    if isinstance(tensor, tf.RaggedTensor):
        found: list[Any] = tensor.to_list()
        return found
    if isinstance(tensor, tf.SparseTensor):
        tensor = tf.sparse.to_dense(tensor)
    return list(tensor.numpy())


@dataclass
class Outcome:
    """What reading has shown.

    Attributes:
        misread: what was read otherwise than written silently, in words.
        unnamed: errors that do not name the field.
        unforeseen: errors of fields of which nothing was said beforehand.
        same: how many fields were read as they were written.
        refused: how many had an error that names them.
        unseen: fields that no row could show anything of.
    """

    misread: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    unforeseen: list[str] = field(default_factory=list)
    same: int = 0
    refused: int = 0
    unseen: list[str] = field(default_factory=list)


def refusals(written: Code, expected: Code) -> list[Change]:
    """Return why data would not be opened."""
    found = differences(written.data, expected.data)
    return [change for change in found if not change.record_by_record]


def readable(written: Code, expected: Code) -> dict[str, set[str]]:
    """Return the fields that could be read, and what is said of each by rule."""
    found = differences(written.data, expected.data)
    names = {change.field for change in found if not change.record_by_record}
    if "" in names:
        return {}
    fields = [each for each in expected.spec.fields if each.key in written.by_key]
    rules = {
        each.key: {change.rule for change in found if change.field == each.name}
        for each in fields
    }
    for each in fields:  # what is wrong with one field of a group is so with all
        group = getattr(each.kind, "group", None)
        if group is not None and "SG210" in rules[each.key]:
            for other in fields:
                if getattr(other.kind, "group", None) == group:
                    rules[other.key].add("SG210")
    return {each.key: rules[each.key] for each in fields if each.name not in names}


def compare(
    written: Code, expected: Code, outcome: Outcome, only: Collection[str]
) -> bool:
    """Write rows with one schema's code and read some fields with the other's.

    Returns:
        Whether there was anything that may be read.
    """
    all_rules = readable(written, expected)
    rules = {key: said for key, said in all_rules.items() if key in only}
    if not rules:
        return False
    rows = random_rows(written.spec, ROWS, seed=5)
    records = [written.write(row) for row in rows]
    meant = written.meant(records, rules)
    anew = [_written_anew(row, written, expected, set(rules)) for row in rows]
    again = [record for record, _ in anew if record is not None]
    try:
        found = expected.read([*records, *again], rules)
    except tf.errors.OpError:
        for key in rules:
            side = _Field(key, rules[key], written, expected, outcome)
            side.compare_alone(rows, records, anew)
        return True
    for key in rules:
        side = _Field(key, rules[key], written, expected, outcome)
        read, rest = iter(found[key][: len(rows)]), iter(found[key][len(rows) :])
        seen = False
        for row, was, value, (record, kept) in zip(
            rows, meant[key], read, anew, strict=True
        ):
            other = None if record is None else next(rest)
            seen |= side.check(row, was, value, other if key in kept else None)
        if seen:
            outcome.same += 1
        else:
            outcome.unseen.append(side.words)
    return True


@dataclass
class _Field:
    """A field that both schemas have, and where to say what has become of it."""

    key: str
    rules: set[str]
    written: Code
    expected: Code
    outcome: Outcome

    @property
    def old(self) -> FieldSpec:
        return self.written.by_key[self.key]

    @property
    def new(self) -> FieldSpec:
        return self.expected.by_key[self.key]

    @property
    def words(self) -> str:
        """What was changed."""
        return f"{self.written.spec.record}: {_changed(self.old, self.new)}"

    def compare_alone(
        self,
        rows: Sequence[Row],
        records: Sequence[bytes],
        anew: Sequence[tuple[bytes | None, set[str]]],
    ) -> None:
        """Look at one field, record by record."""
        seen = refused = False
        for row, record, (again, kept) in zip(rows, records, anew, strict=True):
            (was,) = self.written.read([record], [self.key])[self.key]
            try:
                (found,) = self.expected.read([record], [self.key])[self.key]
            except tf.errors.OpError as error:
                refused = True
                self._note(error)
                continue
            other = None
            if again is not None and self.key in kept:
                (other,) = self.expected.read([again], [self.key])[self.key]
            seen |= self.check(row, was, found, other)
        self.outcome.same += seen
        self.outcome.refused += refused
        if not seen and not refused:
            self.outcome.unseen.append(self.words)

    def _note(self, error: tf.errors.OpError) -> None:
        words = f"{self.words}: {error.message}"
        label = ".".join(self.new.path)
        if repr(self.new.name) not in words and repr(label) not in words:
            self.outcome.unnamed.append(words)
        if not self.rules:
            self.outcome.unforeseen.append(words)

    def check(
        self, row: Row, was: Delivered, found: Delivered, anew: Delivered | None
    ) -> bool:
        """Compare one value; tell whether there was anything to compare it with."""
        given = row.get(self.key)
        words = f"{self.words}: {given!r} was {was}, is {found}"
        stored = _cut(given, self.old)
        if stored is not given:  # and so other data would be written again
            anew = None
        if anew is not None and not all(_same(found[n], anew[n]) for n in found):
            self.outcome.misread.append(f"{words}, and written again {anew}")
        if "SG232" in self.rules:
            return anew is not None
        before = _cut(_meaning(was["value"], self.old, self.new, stored), self.new)
        after = _meaning(found["value"], self.new, self.old, stored)
        same = _same(before, after)
        if "present" in was and "present" in found:
            same = same and was["present"] == found["present"]
        if not same:
            self.outcome.misread.append(words)
        return True


def _written_anew(
    row: Row, written: Code, expected: Code, wanted: set[str]
) -> tuple[bytes | None, set[str]]:
    """Write a row with the reader's schema: the record, and the fields that count.

    What that schema refuses gives way to a value of its own.
    """
    given = translated(row, written.spec, expected.spec)
    own = random_rows(expected.spec, 1, seed=6)[0]
    kept = set(given)
    for each in expected.spec.fields:
        if not each.optional and each.key not in given:
            given[each.key] = own[each.key]
    for _ in range(len(expected.spec.fields) + 1):
        try:
            return expected.write(given), kept & wanted
        except (TypeError, ValueError) as error:
            named = _named_in(str(error), expected.spec) & kept
            if not named:
                return None, set()
            for key in named:
                given[key] = own[key]
            kept -= named
    return None, set()


def _named_in(text: str, spec: RecordSpec) -> set[str]:
    return {
        each.key
        for each in spec.fields
        if re.search(
            rf"(?<![\w.]){re.escape('.'.join(each.path) or each.name)}\b", text
        )
        or re.search(rf"(?<![\w.]){re.escape(each.name)}\b", text)
    }


def _changed(old: FieldSpec, new: FieldSpec) -> str:
    """Say what differs in two fields."""
    found = []
    facts = new.facts()
    for name, before in old.facts().items():
        if repr(before) != repr(facts.get(name)):
            found.append(f"{name} {before!r} -> {facts.get(name)!r}")
    return f"{old.kind.name} {old.name!r} with {', '.join(found) or 'nothing else'}"


def _cut(items: Any, spec: FieldSpec) -> Any:
    """Return what a writer leaves of a row, or a reader of what is stored."""
    most = getattr(spec.kind, "max_length", None)
    policy = getattr(spec.kind, "too_long", "error")
    if items is None or policy == "error" or len(items) <= most:
        return items
    return items[:most] if policy == "keep_head" else items[-most:]


def _meaning(value: Any, spec: FieldSpec, other: FieldSpec, given: Any) -> Any:
    """Return what a delivered value says, whatever fills it up and calls it."""
    if isinstance(spec.kind, Steps):
        items = _listed(value)[: 0 if given is None else len(given)]
        assert isinstance(other.kind, Steps)
        return [_meaning(item, spec.step, other.step, ()) for item in items]
    if given is None and spec.kind.name in ("Image", "Mask", "Tensor"):
        return None  # what stands for it is no value: its mask says so
    names = getattr(spec.kind, "classes", ())
    if spec.kind.name == "Label" and names and getattr(other.kind, "classes", ()):
        return names[value] if value >= 0 else None
    if spec.kind.name == "MultiLabel":
        ids = [int(index) for index in np.nonzero(value)[0]]
        assert all(value[index] == 1 for index in ids)
        named = names and getattr(other.kind, "classes", ())
        return sorted(names[index] for index in ids) if named else ids
    if spec.kind.name in ("VarLen", "Images"):
        value = _listed(value)
        if getattr(spec.kind, "fill_value", None) is not None and given is None:
            return []  # as many as the group has, which is seen in what is written again
        return value[: 0 if given is None else len(given)]
    if spec.kind.name == "Ragged":
        rows = [] if given is None else given
        return [
            _listed(inner)[: len(row)] for inner, row in zip(value, rows, strict=False)
        ]
    if spec.kind.name == "Tensor":
        value = value[tuple(map(slice, np.shape(given)))]
    return _listed(value)


def _listed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def _same(one: Any, other: Any) -> bool:
    """Compare what may be nested, with NaN equal to itself."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and _same(one.tolist(), other.tolist())
    one, other = _listed(one), _listed(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and one != one:
        return isinstance(other, float) and other != other
    return bool(one == other)
