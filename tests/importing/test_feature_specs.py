"""Imports of tf.io features: the code that follows reads what tf.io reads with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen.interop.imports import import_schema

from . import taught
from .sources import declared, example, feature, parsers_of, refusals

TAUGHT = Path(__file__).parent / "taught.py"
PACKAGE = "imported_feature_specs"
NAMES = {"every": "EVERY", "tutorial": "feature_description", "steps": "STEPS"}


@pytest.fixture(scope="module")
def parsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The parsers that come of the dicts, by the names of the schema files."""
    sources = {record: f"{TAUGHT}:{name}" for record, name in NAMES.items()}
    root = tmp_path_factory.mktemp("specs")
    with parsers_of(root, PACKAGE, "feature-spec", sources) as found:
        yield found


NEEDED = {"image/encoded": feature(b"\xff\xd8"), "names": feature(b"a", b"b", b"c")}
FULL = {
    "label": feature(4),
    "grid": feature(1.0, 2.0, 3.0, 4.0),
    "ids": feature(5, 6),
    "weights": feature(0.5),
    "words": feature(b"x", b"\xff"),
    "points": feature(*map(float, range(6))),
    "ragged": feature(7, 8, 9),
    "rows/values": feature(0.5, 1.5, 2.5),
    "rows/len": feature(2, 0, 1),
    "threes": feature(*map(float, range(6))),
    "splits/values": feature(1, 2, 3, 4),
    "splits/at": feature(0, 1, 2),
    "row": feature(0, 3),
    "column": feature(5, 2),
    "value": feature(0.5, 1.5),
    "tag_index": feature(1, 4),
    "tag": feature(b"t", b"u"),
}
SERIALIZED = [example({**NEEDED, **FULL}), example(NEEDED)]


def plain(value: Any) -> Any:
    """Return a tensor of any sort as lists; a sparse one dense."""
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    if isinstance(value, tf.SparseTensor):
        value = tf.sparse.to_dense(value)
    return np.asarray(value).tolist()


@pytest.mark.slow
def test_generated_code_reads_what_tf_io_reads(parsers: dict[str, Any]) -> None:
    """Records with every feature, and with those only that have to be there."""
    theirs = tf.io.parse_example(SERIALIZED, taught.EVERY)
    ours = parsers["every"].parse_batch(tf.constant(SERIALIZED))
    same = {"image_encoded": "image/encoded", "ids": "ids", "weights": "weights"}
    same |= dict.fromkeys(("grid", "names", "words", "ragged", "rows", "points"), "")
    for name, key in same.items():
        assert plain(ours[name]) == plain(theirs[key or name]), name
    assert plain(ours["label"]) == plain(theirs["label"])
    assert plain(ours["sparse"]) == plain(theirs["sparse"])
    threes = [row[:2] for row in plain(ours["threes"])]
    assert threes[0] == plain(theirs["threes"])[0]
    assert plain(ours["splits"])[0] == [1, 2, 3, 4]
    assert plain(ours["splits_partition_0"])[0] == [0, 1, 2]
    assert plain(ours["tags"])[0] == [b"t", b"u"]
    assert plain(ours["tags_index_0"])[0] == [1, 4]


def test_the_dict_of_the_tutorial_reads_alike(parsers: dict[str, Any]) -> None:
    """Defaults stand where features are missing."""
    serialized = [example({"feature0": feature(3), "feature2": feature(b"goat")})]
    theirs = tf.io.parse_example(serialized, taught.feature_description)
    ours = parsers["tutorial"].parse_batch(tf.constant(serialized))
    assert {k: plain(v) for k, v in ours.items()} == {
        k: plain(v) for k, v in theirs.items()
    }


def test_steps_read_alike(parsers: dict[str, Any]) -> None:
    """A pair of dicts is a SequenceExample's context and its steps."""
    made = tf.train.SequenceExample()
    made.context.feature["id"].CopyFrom(feature(b"v1"))
    lists = made.feature_lists.feature_list
    for number in range(2):
        lists["rgb"].feature.append(feature(*(float(number),) * 4))
        lists["frame"].feature.append(feature(b"%d" % number))
    serialized = made.SerializeToString()
    context, steps = tf.io.parse_single_sequence_example(serialized, *taught.STEPS)
    ours = parsers["steps"].parse_batch(tf.constant([serialized]))
    assert plain(ours["id"]) == [plain(context["id"])]
    for name in ("rgb", "frame", "action"):
        assert plain(ours[name]) == [plain(steps[name])], name


REFUSED = {
    "REFUSED": {"label": "'again'", "odd": "'float64'", "unknown": "None"},
    "VARYING_STEPS": {"words": "VarLenFeature"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_counterpart_is_refused(name: str, tmp_path: Path) -> None:
    """All of it at once, with what was found."""
    found = refusals(f"{TAUGHT}:{name}", "feature-spec", tmp_path)
    assert {finding.rule for finding in found} == {"SG462"}
    by_part = {each.message.partition(":")[0]: each.found for each in found}
    assert by_part.keys() == REFUSED[name].keys()
    assert all(words in by_part[part] for part, words in REFUSED[name].items())


ROLE = "role='info')] = []"
FIELDS = {
    "X.names": "Annotated[list[bytes], VarLen('bytes', max_length=3)]",
    "X.splits_partition_0": f"Annotated[list[int], VarLen('int64', key='splits/at', {ROLE}",
    "X.tags": "Annotated[list[bytes], VarLen('bytes', key='tag')] = []",
    "X.tags_index_0": f"Annotated[list[int], VarLen('int64', key='tag_index', {ROLE}",
}


def test_strings_and_what_becomes_several_lists_are_doubtful(tmp_path: Path) -> None:
    """The other lists of a feature are fields for people."""
    done = import_schema(f"{TAUGHT}:EVERY", "feature-spec", tmp_path / "x.py")
    assert declared(done.text).items() >= FIELDS.items()
    doubtful = {"image/encoded", "names", "words", "splits", "tags"}
    assert {part for part, _ in done.doubts} == doubtful


@pytest.mark.slow
def test_a_module_gives_what_its_file_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is imported, and what can be called is called without arguments."""
    monkeypatch.setenv("PYTHONPATH", str(TAUGHT.parent))
    for name in ("EVERY", "STEPS"):
        imported, literal = (
            import_schema(source, "feature-spec", tmp_path / "x.py", force=True)
            for source in (f"taught:{name}", f"{TAUGHT}:{name}")
        )
        assert imported == literal
    text = import_schema("taught:made", "feature-spec", tmp_path / "y.py").text
    assert "    x0: list[int] = []\n    x1: list[int] = []\n" in text


def test_modules_are_imported_from_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`package.module:NAME` goes too; the module need not import tensorflow at all."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "spec.py").write_text(
        "from collections import namedtuple\n"
        "VarLenFeature = namedtuple('VarLenFeature', ['dtype'])\n"
        "print('module says hello')\n"
        "SPEC = {'a b': VarLenFeature('int64')}\n"
    )
    monkeypatch.chdir(tmp_path)
    text = import_schema("mine.spec:SPEC", "feature-spec", tmp_path / "x.py").text
    assert 'a_b: Annotated[list[int], VarLen("int64", key="a b")] = []' in text


# What is found of a module.
WRONG = {
    "spec": "spec",
    "spec:SPEK": "'SPEK'",
    "spec:NUMBER": "3",
    "spec:fails": "KeyError: 'x'",
    "broken:SPEC": "ZeroDivisionError",
    "dies:SPEC": "last words",
    "no.such.module:SPEC": "No module named 'no'",
}


@pytest.mark.parametrize("target", WRONG)
def test_what_is_wrong_with_a_module_is_a_finding(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback of the user's module ends a run of schemagen."""
    (tmp_path / "spec.py").write_text(
        "NUMBER = 3\ndef fails():\n    raise KeyError('x')\n"
    )
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "dies.py").write_text(
        "import os, sys\nsys.stderr.write('last words\\n')\nsys.stderr.flush()\n"
        "os._exit(9)\n"
    )
    monkeypatch.chdir(tmp_path)
    (finding,) = refusals(target, "feature-spec", tmp_path)
    assert finding.rule == "SG461"
    assert WRONG[target] in finding.found


def test_without_tensorflow_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module imports it, or a function in it; schemagen does not."""
    (tmp_path / "spec.py").write_text("import tensorflow as tf\nSPEC = {}\n")
    (tmp_path / "lazy.py").write_text("def SPEC():\n    import tensorflow\n")
    (tmp_path / "tensorflow.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'tensorflow'\", name='tensorflow')"
    )
    monkeypatch.chdir(tmp_path)
    for module in ("spec", "lazy"):
        (finding,) = refusals(f"{module}:SPEC", "feature-spec", tmp_path)
        assert finding.rule == "SG407"
        assert "tensorflow" in finding.advice
