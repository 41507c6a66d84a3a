"""Literal dicts of tf.io features in a file, which is read and never run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from command_line import place, run

A = 'A = {"a": tf.io.VarLenFeature(tf.int64)}\n'
FIXED = "tf.io.FixedLenFeature"


def run_import(
    text: str | bytes, directory: Path, name: str = "", *options: str
) -> Result:
    """Import from a file with a text."""
    path = directory / "reader.py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    source = f"{path}:{name}" if name else str(path)
    out = directory / "x.py"
    return run("import", source, "--from", "feature-spec", *options, "--out", out)


@pytest.mark.parametrize(
    ("feature", "field"),
    [
        (f"{FIXED}([], tf.int64)", "a: int"),
        (f"{FIXED}((), tf.float32, 1)", "a: float = 1.0"),
        (f"{FIXED}(shape=[], dtype=tf.int64, default_value=-1)", "a: int = -1"),
        (f"{FIXED}([], tf.string, default_value='x' 'y')", 'a: bytes = b"xy"'),
        (f"{FIXED}([], tf.string, b'\\xff')", 'a: bytes = b"\\xff"'),
        (f"{FIXED}(3, 'float32')", "a: Annotated[np.ndarray, Vector((3,))]"),
        (
            f"{FIXED}([2, 2], tf.dtypes.float32)",
            "a: Annotated[np.ndarray, Vector((2, 2))]",
        ),
        ("tf.VarLenFeature(tf.int64)", "a: list[int] = []"),
        ("VarLenFeature(dtype=tf.float32)", "a: list[float] = []"),
        ("tensorflow.compat.v1.VarLenFeature(tf.int64)", "a: list[int] = []"),
        (
            "tf.io.FixedLenSequenceFeature([], tf.int64, True, 7)",
            'a: Annotated[list[int], VarLen("int64", padding_value=7)] = []',
        ),
        (
            "tf.io.RaggedFeature(tf.int64)",
            'a: Annotated[list[int], VarLen("int64", ragged=True)] = []',
        ),
        (
            "RaggedFeature(tf.int64, 'v', (RaggedFeature.RowLengths('n'),))",
            'a: Annotated[list[list[int]], Ragged("int64", row_lengths_key="n", '
            'key="v")] = []',
        ),
        (
            "tf.io.SparseFeature(('r', 'c'), 'v', tf.float32, (2, 3))",
            "a: Annotated[tuple[np.ndarray, np.ndarray] | None, "
            'Sparse((2, 3), index_key=("r", "c"), key="v")] = None',
        ),
    ],
)
def test_a_feature_becomes_a_field(feature: str, field: str, tmp_path: Path) -> None:
    """As the dict that a module has becomes one."""
    result = run_import(f"import tensorflow as tf\nA = {{'a': {feature}}}\n", tmp_path)
    assert result.exit_code == 0, result.output
    text = " ".join((tmp_path / "x.py").read_text().split())
    assert field in text.replace("[ ", "[").replace(", ]", "]")


@pytest.mark.parametrize(
    "text",
    [
        A,
        "raise SystemExit(3)\n" + A,
        "def parse(record):\n    " + A,
        "class Settings:\n    " + A,
        "A: dict[str, object] = " + A[4:],
        A + A,
        A + "x = '\\d'\nfor name in A:\n    print(A[name])\n",
        "# coding: latin-1\n# Gr\u00f6\u00dfe\n".encode("latin-1") + A.encode(),
    ],
)
def test_a_dict_is_found_anywhere_in_its_file(
    text: str | bytes, tmp_path: Path
) -> None:
    """Nothing else of the file counts, and none of it runs."""
    for name in ("", "A"):
        result = run_import(text, tmp_path, name, "--force")
        assert result.exit_code == 0, result.output
        assert "a: list[int] = []" in (tmp_path / "x.py").read_text()


def test_a_pair_of_dicts_is_a_sequence_example(tmp_path: Path) -> None:
    """Its context, and the features of its steps."""
    steps = '{"b": tf.io.FixedLenSequenceFeature([], tf.int64)}'
    result = run_import(f"{A.strip()}, {steps}\n", tmp_path)
    assert result.exit_code == 0, result.output
    assert "class X(SequenceRecord):" in (tmp_path / "x.py").read_text()


def test_lists_in_steps_are_imported(tmp_path: Path) -> None:
    """What TensorFlow parses as lists of any length; it reads missing ones as empty."""
    steps = (
        '{"b": tf.io.RaggedFeature(tf.float32), "c": tf.io.VarLenFeature(tf.string), '
        '"d": RaggedFeature(tf.int64, None, (RaggedFeature.RowLengths("n"),))}'
    )
    result = run_import(f"{A.strip()}, {steps}\n", tmp_path)
    assert "partitions in a feature list" in result.output
    text = (tmp_path / "x.py").read_text()
    assert (
        'b: Annotated[list[list[float]], Steps(VarLen("float32"), ragged=True)] = []'
    ) in text
    assert 'c: Annotated[list[list[bytes]], Steps(VarLen("bytes"))] = []' in text


TWO = A + A.replace("A", "B")


@pytest.mark.parametrize(
    ("text", "name", "places", "found"),
    [
        (TWO, "", [""], "A, B"),
        (A + A.replace("int", "float"), "A", [""], "A, A"),
        (A, "B", [""], ""),
        ("x = 1\n", "", [""], ""),
        ("x = 1\n", "x", ["1:5"], "1"),
        ("A = dict(a=tf.io.VarLenFeature(tf.int64))\n", "A", ["1:5"], "dict(a="),
        (A.replace("}", ", **MORE}"), "", ["1:44"], "MORE"),
        (A.replace('"a"', "KEY"), "", ["1:6"], "KEY"),
        (A.replace('"a"', "1"), "", ["1:6"], "1"),
        (A.replace("}", ", 'b': make()}"), "", ["1:47"], "make()"),
        (A.replace("}", ", 'b': my.VarLenFeature(tf.int64)}"), "", ["1:47"], "my."),
        (A.replace("tf.int64", "INT"), "", ["1:31"], "INT"),
        (A.replace("tf.int64", "my.int64"), "", ["1:31"], "my.int64"),
        (A.replace("tf.int64", "*ARGS"), "", ["1:31"], "*ARGS"),
        (A.replace("tf.int64", "**ARGS"), "", ["1:33"], "ARGS"),
        (f"A = {{\n  'a': {FIXED}([N], tf.int64)}}\n", "", ["2:31"], "N"),
        (f"A = {{'a': {FIXED}([2 * 3], tf.int64)}}\n", "", ["1:34"], "2 * 3"),
        ("A = {'a': RaggedFeature('int64', None, [x])}\n", "", ["1:41"], "x"),
        (A + "A['b'] = 3\n", "", ["2:1"], "a change of A"),
        (A + "del A['a']\n", "", ["2:5"], "a change of A"),
        (A + "A |= {}\n", "", ["2:1"], "a change of A"),
        (A + "if x:\n  A.update(b=3)\n", "A", ["3:3"], "a change of A"),
        ("x = (\n", "", [""], "'(' was never closed"),
        ("\0", "", [""], "null bytes"),
        (b"\xff", "", [""], "invalid or missing encoding"),
        ("x = " + "-" * 50_000 + "1", "", [""], ""),
    ],
)
def test_what_is_not_a_literal_is_refused_with_its_place(
    text: str | bytes, name: str, places: list[str], found: str, tmp_path: Path
) -> None:
    """And nothing is written."""
    result = run_import(text, tmp_path, name, "--format", "json")
    assert result.exit_code == 2, result.output
    findings = json.loads(result.stdout)["findings"]
    assert not (tmp_path / "x.py").exists()
    paths = [each["location"]["path"] for each in findings]
    at = [
        place(each).removeprefix(path).lstrip(":")
        for each, path in zip(findings, paths, strict=True)
    ]
    assert (at, {each["rule"] for each in findings}) == (places, {"SG461"})
    assert found in findings[0]["found"]
    assert paths[0].startswith(str(tmp_path / "reader.py"))


@pytest.mark.parametrize(
    "feature",
    [
        "tf.io.VarLenFeature()",
        "tf.io.VarLenFeature(tf.int64, 3)",
        "tf.io.VarLenFeature(tf.int64, dtype=3)",
        f"{FIXED}([None], tf.int64)",
        f"{FIXED}([0], tf.int64)",
        f"{FIXED}('3', tf.int64)",
        f"{FIXED}([], tf.float64)",
        f"{FIXED}([], tf.int64, 'x')",
        f"{FIXED}([], tf.int64, {{1}})",
        f"{FIXED}([], tf.float32, b'x')",
        f"{FIXED}([], tf.string, 3)",
        "tf.io.SparseFeature('i', 'v', tf.int64, '3')",
        "tf.io.RaggedFeature(tf.int64, 'v', 3)",
        "tf.io.RaggedFeature(tf.int64, 'v', [RaggedFeature.UniformRowLength(3)])",
    ],
)
def test_what_tf_io_does_not_take_is_refused(feature: str, tmp_path: Path) -> None:
    """By the key of its feature."""
    result = run_import(f"A = {{'a': {feature}}}\n", tmp_path, "", "--format", "json")
    (finding,) = json.loads(result.stdout)["findings"]
    assert (result.exit_code, finding["rule"]) == (2, "SG462")
    assert finding["message"].startswith("a: ")
