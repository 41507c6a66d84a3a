"""Directories of data as programs lay them out: their files, splits and gaps."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import schemagen
from command_line import run
from schemagen.runtime.shared.errors import DatasetError

from .documents import printed
from .messages import mixed, write_file

ZOO = Path(__file__).parents[1] / "importing" / "zoo"
TFX = "data_tfrecord-00000-of-00001.gz"

# The files of a directory, and how many each split has.
LAYOUTS: dict[str, tuple[list[str], dict[str, int]]] = {
    "tfx": ([f"Split-train/{TFX}", f"Split-eval/{TFX}"], {"eval": 1, "train": 1}),
    "one of tfx": ([f"Split-train/{TFX}"], {"train": 1}),
    "beam": (["output-00000-of-00002", "output-00001-of-00002"], {"output": 2}),
    "kubeflow": (["train.tfrecord-00000-of-00001"], {"train": 1}),
    "spark": (["part-r-00000", "part-r-00001", "_SUCCESS"], {"part": 2}),
    "splits of spark": (
        ["train/part-r-00000", "train/_SUCCESS", "test/part-r-00000"],
        {"test": 1, "train": 1},
    ),
    "one split of spark": (["test/part-r-00000"], {"test": 1}),
    "a directory a class": (
        ["cats/a.tfrecord", "cats/b.tfrecord", "dogs/a.tfrecord"],
        {"cats": 2, "dogs": 1},
    ),
    "splits in a directory a class": (
        [
            f"{name}-0-of-1.tfrecord"
            for name in ("cats/train", "cats/val", "dogs/train")
        ],
        {"train": 2, "val": 1},
    ),
    "a directory a class in one a split": (
        ["train/cats/a.tfrecord", "val/cats/a.tfrecord", "train/dogs/x.tfrecord"],
        {"train": 2, "val": 1},
    ),
    "two levels of any names": (
        ["2021/01/a.tfrecord", "2021/02/a.tfrecord"],
        {"2021/01": 1, "2021/02": 1},
    ),
    "one directory of any name": (
        ["records/a.tfrecord", "records/b.tfrecord"],
        {"a": 1, "b": 1},
    ),
    "numbered files": ([f"part_{n:03}.tfrecord" for n in range(30)], {"part": 30}),
    "numbers with a suffix": (["0001.tfrecord", "0002.tfrecord"], {"": 2}),
    "numbers alone": (["0001", "0002"], {"": 2}),
    "suffixes of all programs": (
        ["a.record", "b.records", "c.tfrec", "d.tfrecs", "e.tfrecord", "f.bin", "g.gz"],
        {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f.bin": 1, "g.gz": 1},
    ),
    "splits in names": (
        [
            *("mnist-train.tfrecord-00000-of-00001", "x.record-00000-of-00001"),
            *("train2019.tfrecord", "part.3.1.record", "train.tfrecord-3", "data-0"),
            *("old-00003-0b5a1f6e-33a1-4c50-8b8e-2f9a2c1de0aa-c000.tfrecord",),
            "val.records",
        ],
        {"data": 1, "mnist-train": 1, "old": 1, "part": 1, "train": 1, "train2019": 1}
        | {"val": 1, "x": 1},
    ),
    "what is next to data": (
        ["a.tfrecord", "_old.tfrecord", ".b.tfrecord", "a.tfrecord.idx", "a.json"],
        {"a": 1},
    ),
}


def laid_out(root: Path | str, names: list[str]) -> Any:
    """Write files of two records, and empty ones of other names."""
    for name in names:
        path = Path(root) / name
        write_file(path, [mixed(0), mixed(1)], "GZIP" if name.endswith(".gz") else "")
        if name.endswith(("SUCCESS", ".json", ".idx")):
            path.write_bytes(b"")
    return root


def inspected(source: Path | str) -> dict[str, Any]:
    """Return the document of `schemagen inspect`."""
    code, found = printed("inspect", source)
    assert code == 0
    return found


def counted(source: Path | str) -> dict[str, int]:
    """Return the number of files of each split."""
    found: dict[str, int] = {}
    for file in inspected(source)["files"]:
        found[file["split"]] = found.get(file["split"], 0) + 1
    return found


@pytest.mark.parametrize("name", LAYOUTS)
def test_splits_of_a_layout_are_read_by_every_verb(
    tmp_path: Path, memory: Any, name: str
) -> None:
    """As splits of one record; behind a URL as on this machine."""
    names, splits = LAYOUTS[name]
    root = laid_out(tmp_path / "data", names)
    found = schemagen.verify(root)
    assert {each.split or "": each.files for each in found.splits} == splits
    assert found.clean
    records = {
        each["split"]: each["statistics"]["records"]
        for each in inspected(root)["splits"]
    }
    assert records == {split: 2 * files for split, files in splits.items()}
    inferred = run("infer", root, "--out", tmp_path / "x.py")
    assert inferred.exit_code == 0, inferred.output
    assert f"{2 * sum(splits.values())} records" in inferred.output
    memory.put(str(root), f"/{name}", recursive=True)
    there = schemagen.verify(f"memory://{name}")
    assert {each.split or "": each.files for each in there.splits} == splits


@pytest.mark.parametrize("name", ["tfx", "splits of spark", "a directory a class"])
def test_a_glob_of_several_directories_has_their_splits(
    tmp_path: Path, name: str
) -> None:
    """Named as those of the directory above."""
    names, splits = LAYOUTS[name]
    laid_out(tmp_path / "data", names)
    assert counted(f"{tmp_path}/data/*/[!_]*") == splits


@pytest.mark.parametrize("above", ["", "train/"])
@pytest.mark.parametrize(
    "pattern",
    [
        *("train-{}-of-00003.tfrecord", "train-{}-of-00003.tfrecord.gz"),
        *("train.tfrecord-{}-of-00003", "train.record-{}-of-00003"),
        "train-{}-of-00003",
    ],
)
def test_a_shard_that_is_missing_by_the_names_is_reported(
    tmp_path: Path, pattern: str, above: str
) -> None:
    """By verify as a finding, by inspect as a gap; of a glob too, not of one file."""
    names = [above + pattern.format(number) for number in ("00000", "00002")]
    root = laid_out(tmp_path / "data", names)
    missing = str(root / above / pattern.format("00001"))
    for source in (root, f"{root}/{above}tr*"):
        [finding] = schemagen.verify(source).findings
        assert (finding.rule, finding.split) == ("SG502", "train")
        assert [each.file for each in finding.examples] == [missing]
        [gap] = inspected(source)["gaps"]
        assert (gap["split"], gap["path"], gap["mixed"]) == ("train", missing, False)
    assert schemagen.verify(root / names[0]).clean


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["t-1-of-3.record", "t-3-of-3.record"], ["3", "2"]),
        (["t-00000-of-00003"], ["3", "00001, 00002"]),
        (
            ["t-00001-of-99999999999999"],
            ["99,999,999,999,999", "00000, 00002, 00003"],
        ),
    ],
)
def test_gaps_are_counted_from_0_or_1(
    tmp_path: Path, names: list[str], missing: list[str]
) -> None:
    """However many files a name speaks of."""
    [gap] = inspected(laid_out(tmp_path / "data", names))["gaps"]
    assert [each for each in missing if each not in gap["text"]] == []


def test_two_totals_in_one_split_are_of_two_runs(tmp_path: Path) -> None:
    """Each total is one to be complete by itself."""
    names = [f"t-0000{n}-of-0000{of}" for of in (1, 2) for n in range(of)]
    root = laid_out(tmp_path / "data", names)
    assert [each.rule for each in schemagen.verify(root).findings] == ["SG504"]
    assert [gap["mixed"] for gap in inspected(root)["gaps"]] == [True]
    (root / names[-1]).unlink()
    found = schemagen.verify(root).findings
    assert [each.rule for each in found] == ["SG502", "SG504"]


def test_what_a_glob_leaves_out_is_not_missing(tmp_path: Path) -> None:
    """It is there, and was left out on purpose."""
    names = [f"train-0000{n}-of-00003.tfrecord" for n in range(3)]
    root = laid_out(tmp_path / "data", names)
    assert schemagen.verify(f"{root}/*-0000[01]-*").clean


def test_what_is_not_read_is_listed(tmp_path: Path) -> None:
    """Directories without records and odd files, by each verb; documents are not."""
    root = laid_out(tmp_path / "data", ["a.tfrecord", "_temporary", ".hidden"])
    for name in ("features.json", "x.labels.txt", "README.md", "a.py", "index.html"):
        (root / name).write_text("of no concern")
    (root / "more").mkdir()
    for name in ("odd\x1b[31m", "empty"):
        (root / name).write_bytes(b"")
    assert inspected(root)["other_files"] == ["empty", "more/", "odd\x1b[31m"]
    for verb in (["verify"], ["inspect"], ["infer", "--out", tmp_path / "x.py"]):
        shown = run(verb[0], root, *verb[1:]).output
        assert r"empty, more/, odd\x1b[31m" in " ".join(shown.split())


def test_few_files_of_other_names_are_opened_below(tmp_path: Path) -> None:
    """A directory of a million pictures is passed over soon."""
    root = laid_out(tmp_path / "data", ["cats/00", "cats/zz", "cats/zz.tfrecord"])
    for number in range(30):
        (root / "cats" / f"{number:02}.jpg").write_bytes(b"\xff\xd8\xff")
    found = inspected(root)
    assert {Path(file["path"]).name for file in found["files"]} == {"00", "zz.tfrecord"}
    assert {"cats/zz", "cats/29.jpg"} <= set(found["other_files"])


def test_a_link_that_leads_nowhere_is_a_file_that_cannot_be_read(
    tmp_path: Path,
) -> None:
    """If its name says records."""
    root = laid_out(tmp_path / "data", ["train-00000-of-00002.tfrecord"])
    (root / "train-00001-of-00002.tfrecord").symlink_to(tmp_path / "gone")
    (root / "other").symlink_to(tmp_path / "gone")
    found = schemagen.verify(root)
    [finding] = found.findings
    assert finding.rule == "SG510"
    assert str(tmp_path / "gone") in finding.examples[0].cause
    assert found.other_files == ("other",)
    assert run("inspect", root).exit_code == 1


@pytest.mark.parametrize("name", ["zoo/1.0.0", "zoo", "zoo/small/1.0.0"])
def test_splits_of_tfds_are_named_without_the_dataset(
    tmp_path: Path, name: str
) -> None:
    """By its description; the config and the version in the directory are no split."""
    directory = tmp_path / "zoo" / name.removeprefix("zoo").strip("/")
    holds = directory if name != "zoo" else directory / "1.0.0"
    names = [f"zoo-{each}.tfrecord-00000-of-00001" for each in ("train", "test")]
    laid_out(holds, names)
    (holds / "dataset_info.json").write_text('{"name": "zoo"}')
    assert counted(directory) == {"test": 1, "train": 1}
    assert counted(f"{holds}/*.tfrecord*") == {"test": 1, "train": 1}
    (holds / "dataset_info.json").write_text("[")
    assert counted(directory) == {"zoo-test": 1, "zoo-train": 1}


def test_the_command_that_imports_from_tfds_works_when_it_is_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As inspect and infer print it."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ZOO, "my zoo/zoo/1.0.0")
    for command in (["inspect", "my zoo"], ["infer", "my zoo", "--out", "x.py"]):
        lines = run(*command).stdout.splitlines()
        [line] = [each for each in lines if "schemagen import" in each]
        _, *arguments = shlex.split(line)
        assert "my zoo/zoo/1.0.0" in arguments
        result = run(*arguments)
        assert result.exit_code in (0, 1), result.output
        assert result.output.startswith(f"{arguments[5]}: ")


def _with(pattern: str, name: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        for path in root.glob(pattern):
            (path / name).write_text("{}")

    return write


REFUSED: dict[str, tuple[list[str], Callable[[Path], None]]] = {
    "three levels": (["a/b/c/x.tfrecord", "a/b/d e/x.tfrecord"], lambda root: None),
    "manifests": (["a/t.tfrecord", "b/t.tfrecord"], _with("*", "manifest.json")),
    "datasets": (
        ["a/1.0.0/a-train.tfrecord", "b/1.0.0/b-train.tfrecord"],
        _with("*/*", "features.json"),
    ),
    "versions": (
        ["1.0.0/a-train.tfrecord", "2.0.0/a-train.tfrecord"],
        lambda root: None,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_ambiguous_directories_are_refused_and_named(tmp_path: Path, name: str) -> None:
    """Each by a name to be pasted, or all by a glob."""
    names, prepare = REFUSED[name]
    root = laid_out(tmp_path / "my data", names)
    prepare(root)
    result = run("verify", root, "--format", "json")
    assert result.exit_code == 2
    with pytest.raises(DatasetError) as refused:
        schemagen.inspect(root)
    words = shlex.split(str(refused.value).partition(": ")[2].replace(";", " "))
    for each in names:
        assert str((root / each).parent) in words


def test_the_glob_of_a_directory_without_records_is_quoted(tmp_path: Path) -> None:
    """Its own name may hold what a shell or a glob expands; directories are named."""
    root = laid_out(tmp_path / "my [old] data", ["notes.json"])
    (root / "train").mkdir()
    with pytest.raises(DatasetError, match="train/") as refused:
        schemagen.inspect(root)
    words = shlex.split(str(refused.value).partition(": ")[2].replace(";", " "))
    [pattern] = [each for each in words if "*" in each]
    found = schemagen.inspect(pattern).files
    assert [Path(each.path).name for each in found] == ["notes.json"]
