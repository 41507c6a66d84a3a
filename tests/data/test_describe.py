"""Data is described for those to whom it is given: with what it holds, and no more."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schemagen
from command_line import run
from digit_rows import row
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pictures import encoded
from schemagen import inspect as inspected
from tiers import examples

from generated.digit.serializer import write_dataset

from .messages import NO_BYTES, example, sequence_example, write_file
from .test_records import MESSAGES


def write_digits(directory: Path) -> Path:
    for split, count, options in (
        ("test", 10, {"compression": "GZIP"}),
        ("train", 40, {"shards": 2}),
    ):
        rows = [{**row(number), "digit": number % 4} for number in range(count)]
        write_dataset(rows, directory, split, **options)  # type: ignore[arg-type]
    return directory


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a manifest."""
    return write_digits(tmp_path_factory.mktemp("data") / "digits")


def write_foreign(path: Path, count: int = 20, compression: str = "") -> Path:
    """Write records of another program: each fifth lacks its score."""
    rows: list[dict[str, Any]] = [
        {
            "image": encoded(np.zeros((4, 6, 3), np.uint8)),
            "label": 1 + number % 2,
            "words": ["w"] * (number % 3) or NO_BYTES,
            **({"score": number / 2} if number % 5 else {}),
        }
        for number in range(count)
    ]
    return write_file(path, map(example, rows), compression)


def sections(card: str) -> list[str]:
    """Return the headings of a card."""
    tokens = MarkdownIt("commonmark").parse(card)
    return [
        tokens[at + 1].content
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    ]


def test_a_card_has_what_a_manifest_knows(digits: Path) -> None:
    """Splits, fields and their documentation, classes, versions and the checksum."""
    found = inspected(digits)
    card = found.markdown()
    assert sections(card) == [
        "Digit",
        "Splits",
        "Fields",
        "Values",
        "Classes",
        "`digit`",
        "Missing classes",
        "Duplicates",
        "Files and versions",
        "How to read the data",
        "To be filled in",
    ]
    assert "One handwritten digit, scanned to 8x8 pixels." in card
    assert re.search(r"^\| `train` \| 2 \| 40 \| [\d.]+ kB \| none \|", card, re.M)
    assert re.search(r"^\| `test` \| 1 \| 10 \| [\d.]+ \w+ \| GZIP \|", card, re.M)
    assert "| `image` | Image, raw | `uint8 [B, 8, 8, 1]` | input | The scan" in card
    assert "| `scan` | 1 | 0 to 39, mean" in card
    assert "| `image` | 1 | 64 bytes |" in card
    assert "| `two` | 10 | 2 |" in card
    assert "| `nine` | 0 | 0 |" in card
    checksum = hashlib.sha256((digits / "manifest.json").read_bytes()).hexdigest()
    assert f"`{checksum}`" in card
    assert found.profile.manifest is not None
    assert f"`{found.profile.manifest.fingerprint}`" in card
    assert "licence" in card.partition("To be filled in")[2]


def test_cards_of_equal_data_are_equal(digits: Path, tmp_path: Path) -> None:
    """They have neither dates nor the paths of directories."""
    copied = shutil.copytree(digits, tmp_path / "elsewhere")
    card = inspected(digits).markdown()
    assert inspected(copied).markdown() == card
    assert inspected(digits, workers=2).markdown() == card
    assert str(digits.parent) not in card


def test_data_of_other_programs_is_described_by_its_keys(tmp_path: Path) -> None:
    """With sizes of images, missing values, and values that look like classes."""
    data = write_foreign(tmp_path / "train-00000-of-00001.tfrecord")
    found = inspected(data)
    card = found.markdown()
    assert found.profile.spec is None
    assert "## Keys" in card
    assert "| `image` |  | 1 | png 4x6x3;" in card
    assert "| `score` | train 4 (20 %) | 1 | 0.5 to 9.5, mean" in card
    assert "### `label`" in card
    assert "| `1` | 10 |" in card
    assert "schemagen infer" in card
    assert "manifest.json" not in card


def executed(card: str) -> dict[str, Any]:
    """Run the last program of a card, and return its names."""
    program = re.findall(r"```python\n(.*?)```", card, re.S)[-1]
    names: dict[str, Any] = {}
    exec(program, names)
    return names


@pytest.mark.parametrize("manifest", [True, False])
def test_the_program_without_schemagen_reads_the_data(
    digits: Path, tmp_path: Path, manifest: bool
) -> None:
    """TensorFlow parses each record by the features that the card lists."""
    data = shutil.copytree(digits, tmp_path / "data")
    if not manifest:
        (data / "manifest.json").unlink()
    card = inspected(data).markdown().replace("DIRECTORY", str(data))
    rows = list(executed(card)["dataset"].as_numpy_iterator())
    assert [int(row["scan"]) for row in rows] == [*range(40)]
    assert rows[8]["moments"].tolist() == [1.0] * 8


def test_the_program_reads_compressed_and_optional_values(tmp_path: Path) -> None:
    """Lists that vary, and that are missing, are sparse."""
    write_foreign(tmp_path / "val-00000-of-00001.gz", compression="GZIP")
    card = inspected(tmp_path).markdown().replace("DIRECTORY", str(tmp_path))
    rows = list(executed(card)["dataset"])
    assert len(rows) == 20
    assert [int(row["label"]) for row in rows[:3]] == [1, 2, 1]
    assert rows[0]["score"].values.shape == (0,)


def test_the_program_reads_sequences(tmp_path: Path) -> None:
    """Feature lists are parsed as those of a SequenceExample."""
    messages = [
        sequence_example({"id": n}, {"x": [[1.0, 2.0]] * n}) for n in range(1, 5)
    ]
    write_file(tmp_path / "train-00000-of-00001.tfrecord", messages)
    card = inspected(tmp_path).markdown().replace("DIRECTORY", str(tmp_path))
    assert "| `x` | 1 to 4 | 2 |" in card
    (*_, (context, lists)) = executed(card)["dataset"]
    assert int(context["id"]) == 4
    assert lists["x"].shape == (4, 2)


_VIDEO = """
from typing import Annotated
import numpy as np
from schemagen import Label, Scalar, SequenceRecord, Steps, VarLen, Vector

class Video(SequenceRecord):
    speed: Annotated[np.ndarray, Steps(Vector((2,), "float32"))]
    tag: Annotated[list[int], Steps(Label(classes=("x", "y")))]
    id: Annotated[int, Scalar("int64", key="video/id")]
    words: Annotated[list[int], VarLen("int64")] = []
"""


def test_the_program_follows_the_schema_of_a_sequence(workspace: Any) -> None:
    """Fields of steps are feature lists; an optional field is sparse."""
    workspace.schema(_VIDEO)
    workspace.generate()
    rows = [
        {"speed": np.ones((n, 2)), "tag": [n % 2] * n, "id": n} for n in range(1, 5)
    ]
    data = workspace.root / "data"
    write = workspace.module("video", "serializer").write_dataset
    write(rows, data, "train", progress=False)
    card = inspected(data).markdown().replace("DIRECTORY", str(data))
    assert "| `speed` | Steps of Vector |" in card
    assert "| `words` | train 4 (100 %) |  |" in card
    (*_, (context, lists)) = executed(card)["dataset"]
    assert int(context["video/id"]) == 4
    assert context["words"].values.shape == (0,)
    assert lists["speed"].shape == (4, 2)
    assert lists["tag"].shape == (4,)


_PHOTO = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Record

class Photo(Record):
    photo: Annotated[bytes, Image((None, None, 3), encoding="png"{more})]
    kind: Annotated[int, Label(num_classes=2)]
    age: int
"""


@pytest.mark.parametrize(
    ("more", "records"),
    [("", 1), (", resize=(4, 4)", 3), (', role="info"', 3)],
    ids=["of any size", "resized", "not delivered"],
)
def test_the_program_with_generated_code_reads_images_of_any_size(
    workspace: Any, more: str, records: int
) -> None:
    """One at a time, unless the schema resizes them or readers leave them out."""
    workspace.schema(_PHOTO.replace("{more}", more))
    workspace.generate()
    pictures = [encoded(np.zeros((n, 4, 3), np.uint8)) for n in (2, 4, 6)]
    rows = [{"photo": each, "kind": 1, "age": 2} for each in pictures]
    data = workspace.root / "data"
    write = workspace.module("photo", "serializer").write_dataset
    write(rows, data, "train", progress=False)
    card = inspected(data).markdown().replace("DIRECTORY", str(data))
    program, _ = re.findall(r"```python\n(.*?)```", card, re.S)
    names: dict[str, Any] = {}
    exec(program.replace("generated.", f"{workspace.package}."), names)
    batches = [len(kinds) for _, kinds in names["dataset"]]
    assert batches == [records] * (3 // records)


def test_fields_that_a_later_split_added_are_described(
    package_of: Any, tmp_path: Path
) -> None:
    """The schema of the first split knows nothing of them."""
    schema = "from schemagen import Record\n\n\nclass Pet(Record):\n    age: int\n"
    for split, more in (("train", ""), ("test", "    tame: bool | None = None\n")):
        rows = [{"age": 4, "tame": True}] * 2 if more else [{"age": 3}] * 5
        module = package_of(schema + more).module("pet", "serializer")
        module.write_dataset(rows, tmp_path / "data", split)
    text = inspected(tmp_path / "data").markdown()
    assert "| `tame` | Scalar, optional | `bool [B]` | input |" in text
    page = tmp_path / "report.html"
    assert run("inspect", tmp_path / "data", "--html", page).exit_code == 0
    assert '<dt><b class="name">tame</b><span>Scalar bool</span>' in page.read_text(
        "utf-8"
    )


def test_data_behind_a_url_is_described() -> None:
    """With the checksum of its manifest, as data of this machine."""
    where = "memory://described/digits"
    write_dataset([row(3)], where, "train", progress=False)
    found = inspected(where)
    assert found.profile.manifest is not None
    assert len(found.profile.manifest.sha256) == 64
    assert "| `three` | 1 |" in found.markdown()


def test_long_vocabularies_are_cut(tmp_path: Path) -> None:
    """The most frequent classes are listed, and the others counted."""
    labels = [n % 80 for n in range(560)] + [79] * 5
    messages = [example({"label": label}) for label in labels]
    card = inspected(write_file(tmp_path / "data", messages)).markdown()
    table = card.partition("## Classes")[2].partition("##  ")[0]
    assert "| `79` | 12 |" in table
    assert "50 other classes" in table


def test_a_card_states_a_limit(digits: Path) -> None:
    """A card says so."""
    found = inspected(digits, "train", limit=3)
    assert found.splits["train"].records == 3
    assert "first 3 records" in found.markdown()


@examples(60)
@given(messages=st.lists(MESSAGES, min_size=1, max_size=6))
def test_any_records_can_be_described(
    messages: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As HTML and as Markdown; test_inspect.py has text and JSON."""
    data = write_file(tmp_path_factory.mktemp("any") / "data", messages)
    found = inspected(data)
    assert found._repr_html_()
    assert sections(found.markdown())[0]


HOSTILE = "</td><script>alert(1)</script>'\"\u202e`|*[x](javascript:0)"


def test_hostile_keys_and_texts_are_escaped(tmp_path: Path) -> None:
    """A card has no markup of the data, and its program is Python."""
    messages = [example({HOSTILE: HOSTILE, "n": 1})] * 20
    write_file(tmp_path / "train-00000-of-00001.tfrecord", messages)
    card = inspected(tmp_path).markdown().replace("DIRECTORY", str(tmp_path))
    tokens = MarkdownIt("commonmark").enable("table").parse(card)
    children = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in children} <= {
        *("text", "text_special", "code_inline"),
    }
    assert not any(token.type.startswith("html") for token in tokens)
    assert "\u202e" not in card
    (*_, last) = executed(card)["dataset"]
    assert last[HOSTILE].numpy() == HOSTILE.encode()


def test_the_command_prints_what_the_function_returns(
    digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As text of 80 columns and as a card."""
    monkeypatch.setenv("COLUMNS", "80")
    found = inspected(digits)
    assert run("inspect", digits).stdout == repr(found) + "\n"
    assert run("inspect", digits, "--md").stdout == found.markdown()


@pytest.fixture
def pets(workspace: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the record pet, in which commands run."""
    workspace.schema("from schemagen import Record\nclass Pet(Record):\n    age: int\n")
    monkeypatch.chdir(workspace.root)
    root: Path = workspace.root
    return root


def test_describe_takes_records_only(pets: Path) -> None:
    """Of data, the error names the command; a name that is both is a record."""
    write_digits(pets / "pet")
    write_digits(pets / "data")
    assert run("describe", "pet").stdout.startswith("Pet (schemas/records.py)")
    markdown = run("describe", "pet", "--markdown").stdout
    assert markdown.startswith("## Pet\n\n| field | kind |")
    for name, command in (
        ("data", "schemagen inspect data"),
        ("./pet", "schemagen inspect ./pet"),
        ("data/*.tfrecord", "schemagen inspect 'data/*.tfrecord'"),
        ("s3://bucket/data", "schemagen inspect s3://bucket/data"),
    ):
        result = run("describe", name)
        assert result.exit_code == 2
        assert f"{name!r} is not a record" in result.stderr
        assert f"`{command}`" in result.stderr
    assert not hasattr(schemagen, "describe_data")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("pet", "--limit", "3"), "--limit"),
        (("pet", "--markdown", "--format", "json"), "--markdown"),
        (("pett",), "SG405"),
    ],
)
def test_a_wrong_request_is_exit_code_2(
    pets: Path, arguments: tuple[str, ...], text: str
) -> None:
    """With a finding, or with the option that is wrong."""
    result = run("describe", *arguments)
    assert result.exit_code == 2
    assert text in result.stderr


@pytest.mark.parametrize("name", ["train-00000-of-00002.tfrecord", "manifest.json"])
def test_damaged_data_is_exit_code_1(digits: Path, tmp_path: Path, name: str) -> None:
    """What can be read is described, and the damage is named."""
    data = shutil.copytree(digits, tmp_path / "damaged")
    (data / name).write_bytes((data / name).read_bytes()[:-5])
    result = run("inspect", data, "--markdown")
    assert result.exit_code == 1
    assert name in result.stdout.partition("## What is wrong")[2]
    assert ("## Keys" in result.stdout) == (name == "manifest.json")
