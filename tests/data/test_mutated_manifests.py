"""A manifest that somebody has changed is refused by name, or used as it is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import schemagen
from command_line import make_project, run
from schemagen import (
    Augment,
    Image,
    Images,
    Label,
    Mask,
    MultiLabel,
    Ragged,
    Record,
    Scalar,
    SequenceRecord,
    Sparse,
    Steps,
    Tensor,
    Text,
    VarLen,
    Vector,
)
from schemagen.runtime.shared.errors import DatasetError

from .messages import example, record, sequence_example, write_data

PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x04\0\0\0\x04\x08\0\0\0\0" + bytes(30)
ARRAY = np.ndarray
SIZES = {"height_key": "h", "width_key": "w", "channels_key": "c"}
AUGMENT = Augment(flip_up_down=True, crop=1)

# A field of every kind, together with every entry that a spec may have.
FIELDS: dict[str, Any] = {
    "image": Annotated[
        ARRAY, Image((4, None, 3), resize=(4, 4), augment=AUGMENT, **SIZES)
    ],
    "images": Annotated[
        list[bytes], Images((4, 4, 3), encoding="png", count=2, augment=AUGMENT)
    ],
    "label": Annotated[int, Label(classes=("a", "b", "c"), offset=1)],
    "labels": Annotated[list[str], MultiLabel(classes=("x", "y"), stored="text")],
    "mask": Annotated[
        ARRAY, Mask((4, 4), num_classes=3, ignore=255, height_key="mh", augment=AUGMENT)
    ],
    "tokens": Annotated[
        list[int],
        VarLen("int32", max_length=9, too_long="keep_head", pad_on_disk=True),
    ],
    "boxes": Annotated[ARRAY | None, VarLen("float32", item_shape=(2,), group="g")],
    "words": Annotated[list[str] | None, VarLen("string", group="g")],
    "ragged": Annotated[list[list[int]], Ragged("int64", row_lengths_key="lengths")],
    "sparse": Annotated[
        dict[tuple[int, int], float], Sparse((3, 3), index_key=("i", "j"))
    ],
    "vector": Annotated[
        ARRAY, Vector((2,), dtype="int8", encoding="raw", dequantize=(0.5, 1.0))
    ],
    "scalar": Annotated[int, Scalar("int64")],
    "tensor": Annotated[ARRAY, Tensor((None, 2), shape_key=("t", None))],
    "sized": Annotated[ARRAY, Tensor((None, 2), shape_key="s")],
    "text": Annotated[str, Text(presence=True)],
}
STEPS: dict[str, Any] = {
    "title": str,
    "steps": Annotated[ARRAY, Steps(Vector((2,)), max_length=4)],
    "frames": Annotated[list[bytes], Steps(Image((4, 4, 3), encoding="jpeg"))],
}
ALL = record("All", FIELDS, boxes=None, words=None, scalar=3, text="x")
SEQUENCE = record("All", STEPS, SequenceRecord)
MESSAGES = [
    example(
        {
            **{"image": bytes(36), "h": 4, "w": 3, "c": 3, "images": [PICTURE] * 2},
            **{"label": 1, "labels": "x", "mask": PICTURE, "mh": 4},
            **{"tokens": [1] * 9, "boxes": [0.5] * 4, "vector": b"ab"},
            **{"ragged": [1, 2, 3], "lengths": [1, 2], "tensor": bytes(24), "t": 3},
            **{"sparse": [0.5, 0.5], "i": [0, 1], "j": [1, 1]},
            **{"sized": bytes(24), "s": [3, 2]},
        }
    ),
    example({"image": "short", "h": [1, 2], "label": -5, "tokens": 0.5}),
    sequence_example({}, {"steps": [[0.5, 0.5]] * 2}),
]

Place = tuple[Any, ...]
DELETED = object()
DEEP: list[Any] = []
for _ in range(300):
    DEEP = [DEEP]
VALUES: tuple[Any, ...] = (
    *(DELETED, None, 3, -3, 0.5, "text", "", [], ["x"], {}, True, [1], {"a": 1}),
    *({"bytes": "eA=="}, {"bytes": "?"}, 2**62 - 1, 2**63, 10**30, float("nan")),
    *("\ud800", [[[1]]] * 3, DEEP, "a" * 300),
)


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Yield the paths of all entries."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in list(entries):
        yield (*path, name)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, name))


class Data:
    """A data directory of two splits, whose manifest is not sealed."""

    def __init__(self, root: Path, written: type[Record]) -> None:
        self.written = written
        self.root = write_data(root, written, {"train": MESSAGES, "val": MESSAGES[:1]})
        self.path = root / "manifest.json"
        self.manifest = json.loads(self.path.read_text())
        del self.manifest["crc32c"]

    def change(self, place: Place, value: Any) -> None:
        """Replace an entry, or delete it."""
        changed = copy.deepcopy(self.manifest)
        holder = changed
        for name in place[:-1]:
            holder = holder[name]
        holder[place[-1]] = value
        if value is DELETED:
            del holder[place[-1]]
        self.path.write_text(json.dumps(changed))

    def use(self) -> bool:
        """Verify the data by its manifest and by its class; tell whether both do."""
        try:
            found = schemagen.verify(self.root, examples=1)
        except DatasetError as error:  # it lists no split
            if str(self.path) not in str(error):
                raise
            return False
        compared = schemagen.verify(self.root, record=self.written, examples=1)
        for each in (*found.findings, *compared.findings):
            assert each.examples[0].found
        rules = {each.rule for each in (*found.findings, *compared.findings)}
        return "SG501" not in rules


@pytest.fixture(params=[ALL, SEQUENCE], ids=["example", "sequence"])
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Data:
    """Data of all kinds of fields, and of steps."""
    return Data(tmp_path / "data", request.param)


@pytest.mark.parametrize(
    "step", [97, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "every"]
)
def test_a_mutated_manifest_is_refused_or_used(data: Data, step: int) -> None:
    """Each entry, with every value: a finding about the manifest, or none."""
    assert data.use()
    mutants = ((p, value) for p in places(data.manifest) for value in VALUES)
    used = number = 0
    for place, value in islice(mutants, 0, None, step):
        data.change(place, value)
        number += 1
        try:
            used += data.use()
        except Exception as error:
            raise AssertionError(f"{place} = {value!r:.60}") from error
    assert 0 < used < number


REFUSED: list[tuple[Place, Any, tuple[str, ...]]] = [
    (("spec",), [], ("spec",)),
    (("record",), None, ("record", "None")),
    (("spec", "fields", 2, "classes"), ["a", 7], ("spec.fields[2]", "'label'")),
    (("spec", "fields", 2, "key"), 5, ("spec.fields[2]", "5")),
    (("spec", "fields", 0, "shape"), DELETED, ("spec.fields[0]", "'shape'")),
    (("spec", "fields", 2, "dtype"), "int64", ("spec.fields[2]", "dtype")),
    (("spec", "fields", 2, "default"), DELETED, ("spec.fields[2]", "'default'")),
    (("spec", "fields", 2, "key"), "image", ("spec", "'image'")),
    (("spec", "later"), DEEP, ("spec", "40")),
    (
        ("spec", "fields", 9, "dtype"),
        "complex256",
        ("'complex256'", "version of schemagen that wrote it"),
    ),
    (
        ("splits", "train", "shards", 0, "bytes"),
        "90",
        ("splits['train'].shards[0]", "'90'"),
    ),
    (
        ("splits", "val", "shards", 0, "file"),
        "train-00000-of-00001.tfrecord",
        ("splits['val']", "splits['train']"),
    ),
    (("splits", "../val"), {}, ("splits", "'../val'")),
    (
        ("splits", "train", "shards", 0, "file"),
        "a" * 300,
        ("splits['train'].shards[0]", "not a name of a file"),
    ),
    (("splits", "train", "index"), "../a", ("splits['train']", "'../a'")),
    (("splits", "train", "index"), "a" * 300, ("splits['train']", "a name of a file")),
]


@pytest.mark.parametrize(("place", "value", "names"), REFUSED)
def test_a_finding_names_the_entry(
    tmp_path: Path, place: Place, value: Any, names: tuple[str, ...]
) -> None:
    """With what was found there; the files are checked all the same."""
    data = Data(tmp_path / "data", ALL)
    data.change(place, value)
    found = schemagen.verify(data.root)
    [shown] = [each.examples[0] for each in found.findings if each.rule == "SG501"]
    assert [name for name in names if name not in shown.found] == []
    assert shown.file == str(data.path)
    assert found.records == len(MESSAGES) + 1


@pytest.mark.parametrize(
    ("place", "value", "rule"),
    [
        (("spec", "fields", 0, "hue"), {"shift": [1, 2]}, "SG211"),
        (("spec", "fields", 0, "kind"), "Video", "SG225"),
    ],
)
def test_what_a_later_version_adds_is_left_to_the_rules(
    tmp_path: Path, place: Place, value: Any, rule: str
) -> None:
    """An unknown attribute, and a kind that is not one of ours."""
    data = Data(tmp_path / "data", ALL)
    data.change(place, value)
    found = schemagen.verify(data.root, record=ALL).findings
    causes = [each.examples[0].cause for each in found if each.rule == "SG511"]
    assert [rule in each for each in causes] == [True, True]  # of each split


SCHEMA = "from schemagen import Record\n\n\nclass All(Record):\n    x: int\n"


def test_a_spec_that_is_not_one_is_refused_by_breaking(tmp_path: Path) -> None:
    """`breaking --against` names the file and the entry."""
    root = make_project(tmp_path / "project", {"all.py": SCHEMA})
    data = Data(tmp_path / "data", ALL)
    (tmp_path / "old").mkdir()
    spec = data.manifest["spec"]
    spec["fields"][2]["classes"] = None
    (tmp_path / "old" / "spec.json").write_text(json.dumps(spec))
    result = run("breaking", "--against", tmp_path / "old", "--project", root)
    assert result.exit_code == 2
    assert "'label'" in result.stderr
    assert "classes" in result.stderr


@pytest.mark.parametrize("verb", ["verify", "inspect"])
def test_a_name_that_is_too_long_for_a_file_is_no_bug(
    data: Data, tmp_path: Path, verb: str
) -> None:
    """Whether a manifest lists it or the command line names it."""
    data.change(("splits", "train", "shards", 0, "file"), "a" * 300)
    listed = run(verb, data.root)
    said = " ".join(listed.output.split())
    assert (listed.exit_code, "not a name of a file" in said) == (1, True)
    named = run(verb, tmp_path / ("a" * 300))
    assert (named.exit_code, "too long" in named.output) == (2, True)
