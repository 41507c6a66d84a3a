"""What `breaking` says of a change, and what becomes of data that was written before it."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import schemagen
import tensorflow as tf
from command_line import findings_of
from schemagen.evolution import BREAKING_RULES
from schemagen.runtime.compatibility import differences
from schemagen.runtime.kinds.registry import KINDS
from schemagen.runtime.kinds.spec_json import attributes_of, judged_of
from schemagen.runtime.shared.errors import SchemaMismatchError

from .changes import CHANGES, EXAMPLES, HEAD, Change

if TYPE_CHECKING:
    from conftest import Workspace

ALL = [*CHANGES, *EXAMPLES]

_AXES = {rule.id: rule.axis for rule in BREAKING_RULES.values()}

# Rules for what each record tells by itself: such data is opened.
_BY_RECORD = {"SG210", "SG232", "SG233", "SG234"}


def _by_record(change: Change) -> set[str]:
    """Return these rules; a range is a limit, and each record tells whether it is in it."""
    has_range = re.search(r"\b(min|max)=", change.after + change.before)
    now_classes = "VarLen" in change.before and "classes=" not in change.before
    by_record = has_range or (now_classes and "classes=" in change.after)
    return _BY_RECORD | ({"SG208"} if by_record else set())


class Sides:
    """The code of all records before and after their changes, and what is said of them.

    Attributes:
        before: the project with the classes as they were.
        after: the project with the changed classes.
        said: by mode, the findings of `breaking` for each record.
    """

    def __init__(self, make: Any) -> None:
        pairs = [change.classes(f"C{at}") for at, change in enumerate(ALL)]
        self.before, self.after = (
            make(HEAD + "\n\n\n".join(texts)) for texts in zip(*pairs, strict=True)
        )
        self.said = {mode: self._findings(mode) for mode in ("backward", "forward")}

    def _findings(self, mode: str) -> dict[str, list[dict[str, Any]]]:
        old = self.before.root / self.before.package
        call = ("breaking", "--against", old, "--project", self.after.root)
        found: dict[str, list[dict[str, Any]]] = {}
        for finding in findings_of(*call, "--mode", mode, code=1):
            name = finding["message"].partition(":")[0]
            found.setdefault(name, []).append(finding)
        return found

    def rules(self, mode: str, number: int) -> set[str]:
        """Return the rules that one change comes under."""
        return {each["rule"] for each in self.said[mode].get(f"C{number}", [])}

    def data_rules(self, mode: str, number: int) -> set[str]:
        """Return those of them that are about data, and not about programs."""
        return {rule for rule in self.rules(mode, number) if rule < "SG240"}

    def of(self, mode: str) -> tuple[Workspace, Workspace]:
        """Return the side that writes and the one that reads."""
        both = self.before, self.after
        return both if mode == "backward" else both[::-1]


@pytest.fixture(scope="module")
def sides(package_of: Any) -> Iterator[Sides]:
    """All records, generated once, and run without tracing."""
    tf.config.run_functions_eagerly(True)
    yield Sides(package_of)
    tf.config.run_functions_eagerly(False)


def test_the_gate_names_the_rules_of_each_change(sides: Sides) -> None:
    """In both directions, and at the record's class or one of its fields."""
    wrong = []
    schema = (sides.after.root / "schemas" / "records.py").read_text(encoding="utf-8")
    lines = schema.split("\n")
    for at, change in enumerate(CHANGES):
        for mode in ("backward", "forward"):
            expected = set(getattr(change, mode).split())
            if sides.rules(mode, at) != expected:
                wrong.append((str(change), mode, sides.rules(mode, at), expected))
            for finding in sides.said[mode].get(f"C{at}", []):
                before = lines[: finding["location"]["line"]]
                classes = [line for line in before if line.startswith("class C")]
                assert not classes or classes[-1].startswith(f"class C{at}(")
                assert finding["severity"] in ("error", "warning")
    assert wrong == []


def test_the_examples_of_the_rules_come_under_them(sides: Sides) -> None:
    """In the direction that the rule says, and under no other rule of their axis."""
    for at, change in enumerate(EXAMPLES, start=len(CHANGES)):
        for mode in ("backward", "forward"):
            found = sides.rules(mode, at)
            of_axis = {rule for rule in found if _AXES[rule] == _AXES[change.rule]}
            assert of_axis == set(getattr(change, mode).split()), (change.rule, mode)


def test_every_attribute_of_every_kind_is_changed(sides: Sides) -> None:
    """Whoever adds an attribute decides what a change of it means."""
    every, changed = set(), set()
    for at in range(len(ALL)):
        old, new = (
            {f["key"]: f for f in _spec(side, at)["fields"]}
            for side in (sides.before, sides.after)
        )
        for key in old.keys() | new.keys():
            before, after = old.get(key, {}), new.get(key, {})
            names = {
                (each["kind"], n) for each in (before, after) if each for n in each
            }
            every |= names
            if before.get("kind") == after.get("kind"):
                changed |= {(k, n) for k, n in names if before.get(n) != after.get(n)}
            elif not (before and after):
                changed |= {(k, "key") for k, _ in names}
    others = {"Augment", "Nested", "Record", "SequenceRecord"}
    kinds = {name for name in schemagen.__all__ if name[0].isupper()} - others
    assert {kind for kind, _ in every} == kinds
    shared = {
        "default",
        "key",
        "kind",
        "name",
        "role",
        "doc",
        "path",
        "optional",
        "presence",
    }
    assert {(k, n) for k, n in every - changed if n not in shared} == set()
    assert {n for _, n in every} - {n for _, n in changed} <= {"kind"}


def _spec(side: Workspace, at: int) -> dict[str, Any]:
    path = side.root / side.package / f"c{at}" / "spec.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_check_names_each_record_that_has_changed_and_no_other(
    sides: Sides, tmp_path: Path
) -> None:
    """Whichever attribute of a field, or of the record, has another value."""
    root = shutil.copytree(sides.before.root, tmp_path / "project")
    shutil.copytree(sides.after.root / "schemas", root / "schemas", dirs_exist_ok=True)
    stale: dict[str, set[str]] = {}
    for finding in findings_of("check", "--project", root, code=1):
        assert finding["rule"] == "SG302"
        assert "schemas/records.py changed" in finding["message"]
        for file in finding["files"]:
            _, record, name = Path(file).parts
            stale.setdefault(record, set()).add(name)
    pairs = {
        f"c{at}": [_spec(side, at) for side in (sides.before, sides.after)]
        for at in range(len(ALL))
    }
    assert stale.keys() == {name for name, (old, new) in pairs.items() if old != new}
    assert len(stale) > 200
    names = set(next(iter(stale.values())))
    assert all(files == names for files in stale.values())
    assert "spec.json" in names


@pytest.mark.parametrize("mode", ["backward", "forward"])
def test_data_is_opened_where_the_gate_says_so(
    sides: Sides, tmp_path: Path, mode: str
) -> None:
    """And is refused under the same rules where it does not."""
    old, new = sides.of(mode)
    for at, change in enumerate(ALL):
        data = tmp_path / str(at)
        write, again = (side.module(f"c{at}", "serializer") for side in (old, new))
        with warnings.catch_warnings(action="ignore"):
            write.write_dataset([], data, "train", shards=1, allow_empty=True)
            said = _refusal(
                again.write_dataset, [], data, "b", shards=1, allow_empty=True
            )
        expected = sides.data_rules(mode, at) - _by_record(change)
        assert set(re.findall(r"\((SG\d+)\)", said)) == expected, str(change)
        if expected:
            make_dataset = new.module(f"c{at}", "pipeline").make_dataset
            opened = _refusal(make_dataset, data, "train", batch_size=1)
            assert set(re.findall(r"\((SG\d+)\)", opened)) == expected, str(change)
        shutil.rmtree(data)


def _refusal(call: Any, *arguments: Any, **options: Any) -> str:
    try:
        call(*arguments, **options)
    except SchemaMismatchError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("mode", ["backward", "forward"])
def test_data_reads_as_if_the_reader_s_schema_had_written_it(
    sides: Sides, mode: str
) -> None:
    """What may be opened: the same tensors as of the row written anew, or an error.

    An error names the field, and is one that the gate has foretold. A row that the
    reader's schema refuses is not read, or a rule says so.
    """
    compared = 0
    for at, change in enumerate(ALL):
        if sides.data_rules(mode, at) - _by_record(change):
            continue
        for row in change.rows:
            outcome = _outcome(*sides.of(mode), at, row)
            compared += outcome == "same"
            allowed = {"same", "not written"}
            if sides.rules(mode, at):
                allowed |= {"refused", "read alone"}
            if "keep_" in change.before + change.after:  # the writer cuts it
                allowed |= {"other"}
            assert outcome in allowed, (str(change), mode, row, outcome)
    assert compared > 100


# Here the tensors are the same, and what they stand for is not: a class or a number,
# padding or a value, a promise, a pixel that counts or does not.
_SAME_TENSORS = {"SG225", "SG227", "SG229", "SG230", "SG232", "SG233", "SG234"}
_NEW_FIELD = {"SG201", "SG202", "SG235"}


@pytest.mark.parametrize("mode", ["backward", "forward"])
def test_what_the_rules_say_happens(sides: Sides, mode: str) -> None:
    """The examples of wire do not parse, and those of meaning read as something else."""
    for at, change in enumerate(EXAMPLES, start=len(CHANGES)):
        if not change.rows or change.rule in _SAME_TENSORS | _NEW_FIELD:
            continue
        found = {
            _outcome(*sides.of(mode), at, row, as_before=True) for row in change.rows
        }
        bad = {"wire": {"refused"}, "meaning": {"other", "read alone"}}
        happens = bool(bad[_AXES[change.rule]] & found)
        assert happens == bool(getattr(change, mode)), (change.rule, mode, found)


def _outcome(
    old: Workspace,
    new: Workspace,
    at: int,
    row: Mapping[str, Any],
    *,
    as_before: bool = False,
) -> str:
    """Return what becomes of a row that one schema has written and the other reads.

    With `as_before` it is the same only if it was delivered like this before, too.
    """
    writers = [side.module(f"c{at}", "serializer") for side in (old, new)]
    record, anew = (_written(writer, row) for writer in writers)
    if record is None:
        return "not written"
    parser = new.module(f"c{at}", "parser")
    try:
        found = _values(parser.parse_batch([record]))
    except tf.errors.InvalidArgumentError as error:
        fields = _spec(old, at)["fields"] + _spec(new, at)["fields"]
        keys = [v for f in fields for n, v in f.items() if n == "name" or "key" in n]
        named = any(str(key) in str(error) for key in keys)
        return "refused" if named else f"refused without a name: {error}"
    if anew is None:
        return "read alone"
    same = found == _values(parser.parse_batch([anew]))
    if as_before:
        same &= found == _values(old.module(f"c{at}", "parser").parse_batch([record]))
    return "same" if same else "other"


def _written(writer: ModuleType, row: Mapping[str, Any]) -> bytes | None:
    """Return a row's record, with what of it the writer has fields for."""
    names = inspect.signature(writer.serialize).parameters
    given = {name: value for name, value in row.items() if name in names}
    if row and not given:
        return None
    try:
        record: bytes = writer.serialize(
            **{"number": 1, **given} if "number" in names else given
        )
    except (TypeError, ValueError):
        return None
    return record


def _values(batch: Any) -> Any:
    """Return what a parser delivers as what can be compared, NaN with itself."""
    if isinstance(batch, Mapping):
        return {name: _values(value) for name, value in batch.items()}
    if isinstance(batch, tf.SparseTensor):
        batch = tf.sparse.to_dense(batch)
    if isinstance(batch, tf.RaggedTensor):
        return repr(batch.to_list())
    array = batch.numpy()
    return array.dtype.str, array.shape, repr(array.tolist())


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_parameter_says_what_a_change_of_it_means(kind: str) -> None:
    """Otherwise each change is refused as SG211."""
    for each in fields(KINDS[kind]):
        rules = {judged.rule for judged in each.metadata["judged"]}
        assert rules <= set(BREAKING_RULES), each.name
    assert attributes_of(kind).keys() <= judged_of(kind).keys()


def test_attributes_of_a_later_version_are_refused() -> None:
    """Those of a known kind, and all that differ of a kind that is not known."""

    def spec(**facts: Any) -> dict[str, Any]:
        field = {"name": "x", "key": "x", "role": "input", "optional": False}
        return {"record": "r", "fields": [{**field, "default": None, **facts}]}

    for kind in ("Text", "Hologram"):
        one, other = (spec(kind=kind, depth=depth, doc=str(depth)) for depth in (1, 2))
        (found,) = differences(one, other)
        assert (found.rule, found.attribute) == ("SG211", "depth")
        assert not differences(one, spec(kind=kind, depth=1, doc="another"))
