"""Imports of tf.io features: the code that follows reads what tf.io reads with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from . import taught
from .sources import declared, example, feature, imported, parsers_of, refusals

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
    "row": feature(0, 3),
    "column": feature(5, 2),
    "value": feature(0.5, 1.5),
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
    "REFUSED": {
        **{"odd": "tf.float64", "unknown": "[None]"},
        **{"splits": "RowSplits", "tags": "tf.string"},
    },
    "PARTITIONED_STEPS": {"words": "RowLengths"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_counterpart_is_refused(name: str, tmp_path: Path) -> None:
    """All of it at once, with what was found."""
    found = refusals(f"{TAUGHT}:{name}", "feature-spec", tmp_path)
    assert {finding["rule"] for finding in found} == {"SG462"}
    by_part = {each["message"].partition(":")[0]: each["found"] for each in found}
    assert by_part.keys() == REFUSED[name].keys()
    assert all(words in by_part[part] for part, words in REFUSED[name].items())


NAMES_FIELD = "Annotated[list[bytes], VarLen('bytes', max_length=3)]"


def test_strings_are_doubtful(tmp_path: Path) -> None:
    """They are texts, pictures or other bytes."""
    done = imported(f"{TAUGHT}:EVERY", "feature-spec", tmp_path / "x.py")
    assert declared(done.text)["X.names"] == NAMES_FIELD
    assert done.doubts.keys() == {"image/encoded", "names", "words"}


@pytest.mark.parametrize("target", ["spec", "package.spec:SPEC", "spec.txt:SPEC", ":x"])
def test_only_a_python_file_is_read(target: str, tmp_path: Path) -> None:
    """Modules are not imported."""
    (finding,) = refusals(target, "feature-spec", tmp_path)
    assert (finding["rule"], finding["expected"]) == (
        "SG461",
        "file.py or file.py:NAME",
    )


def test_the_repr_of_a_dict_is_a_literal(tmp_path: Path) -> None:
    """So a program can print the features that it makes."""
    path = tmp_path / "printed.py"
    path.write_text(f"SPEC = {taught.EVERY!r}\n")
    printed, written = (
        imported(source, "feature-spec", tmp_path / "x.py", "--force")
        for source in (path, f"{TAUGHT}:EVERY")
    )
    assert printed == written
