"""Decoders of users: which schemas name them, and what becomes of wrong ones.

What they deliver in all ways of reading is in `tests/contract`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
from command_line import refusals
from contract.decoders import saved
from contract.hostile_texts import HOSTILE
from schemagen.runtime.shared.errors import DatasetError

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

_SCHEMA = """
from typing import Annotated
from schemagen import Record, Scalar

class Clip(Record):
    scan: int
    frames: Annotated[bytes, Scalar("bytes", decoder={!r}, shape=(None, 2), decoded_dtype="uint8")]
"""
_WRONG = {
    "not an array": (b"damaged", "contract.decoders:load raised ValueError: "),
    "another dtype": (
        saved(np.zeros((3, 2))),
        "contract.decoders:load returned float64 [3, 2], expected uint8 [?, 2]",
    ),
    "another shape": (
        saved(np.zeros((3, 1), np.uint8)),
        "contract.decoders:load returned uint8 [3, 1], expected uint8 [?, 2]",
    ),
}


@pytest.fixture(scope="module")
def clip(package_of: PackageOf) -> Workspace:
    """A record with a field that the tests' decoder decodes."""
    return package_of(_SCHEMA.format("contract.decoders:load"))


def _write(package: Workspace, directory: Path, *wrong: bytes) -> None:
    frames = [saved(np.full((at, 2), at, np.uint8)) for at in range(6)]
    rows = [
        {"scan": at, "frames": data}
        for at, data in enumerate([*frames[:3], *wrong, *frames[3:]])
    ]
    package.module("clip", "serializer").write_dataset(rows, directory, "train")


@pytest.mark.parametrize("wrong", _WRONG)
def test_what_a_decoder_refuses_is_named_with_its_record(
    clip: Workspace, tmp_path: Path, wrong: str
) -> None:
    """By both readers; it is skipped if they skip damage, and `verify` does not decode."""
    data, words = _WRONG[wrong]
    _write(clip, tmp_path, data)
    open_split = clip.module("clip", "reader").open_split
    make_dataset = clip.module("clip", "pipeline").make_dataset
    place = "train-00000-of-00001.tfrecord: record 3: field "
    with pytest.raises(DatasetError) as caught:
        list(open_split(tmp_path, "train").batches(7))
    assert f"{place}'frames': it cannot be decoded: {words}" in str(caught.value)
    with pytest.raises(tf.errors.InvalidArgumentError) as refused:
        list(make_dataset(tmp_path, "train", info=True, batch_size=4))
    assert f"{place}`frames`: it cannot be decoded: {words}" in str(refused.value)
    with pytest.warns(RuntimeWarning, match="1 record is left out"):
        rows = list(open_split(tmp_path, "train", on_corrupt="skip"))
    assert [row["scan"] for row in rows] == [0, 1, 2, 4, 5, 6]
    skipping = make_dataset(
        tmp_path, "train", info=True, batch_size=4, on_corrupt="skip"
    )
    scans = np.concatenate([features["scan"] for features, _ in skipping])
    assert scans.tolist() == [0, 1, 2, 4, 5, 6]
    assert schemagen.verify(tmp_path).clean


def test_bytes_stay_if_images_are_not_decoded(clip: Workspace, tmp_path: Path) -> None:
    """As encoded images do; one that cannot be decoded, too."""
    _write(clip, tmp_path, b"damaged")
    open_split = clip.module("clip", "reader").open_split
    split = open_split(tmp_path, "train", decode_images=False)
    assert split[3]["frames"] == b"damaged"
    (batch,) = split.batches(7)
    assert batch["frames"][3] == b"damaged"


@pytest.mark.parametrize(
    ("decoder", "words"),
    [
        ("no_such_module:load", "No module named 'no_such_module'"),
        ("contract.decoders:no_such_function", "no attribute 'no_such_function'"),
    ],
)
def test_a_decoder_that_cannot_be_imported_is_named_when_data_is_opened(
    package_of: PackageOf, tmp_path: Path, decoder: str, words: str
) -> None:
    """Not when code is generated, or data is written."""
    package = package_of(_SCHEMA.format(decoder))
    _write(package, tmp_path)
    open_split = package.module("clip", "reader").open_split
    make_dataset = package.module("clip", "pipeline").make_dataset
    for read in (
        lambda: open_split(tmp_path, "train"),
        lambda: make_dataset(tmp_path, "train", info=True, batch_size=2),
    ):
        with pytest.raises(DatasetError) as caught:
            read()
        assert f"field 'frames': the decoder '{decoder}' cannot be " in str(
            caught.value
        )
        assert words in str(caught.value)
    assert len(open_split(tmp_path, "train", fields=["scan"])) == 6


def test_a_module_is_not_imported_before_it_decodes(
    package_of: PackageOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Generating, writing, `verify` and `inspect` do not run code that a schema names."""
    (tmp_path / "bombs.py").write_text("raise SystemError('imported')\n")
    package = package_of(_SCHEMA.format("bombs:load"))
    monkeypatch.syspath_prepend(tmp_path)
    _write(package, tmp_path / "data")
    assert schemagen.verify(tmp_path / "data").clean
    schemagen.inspect(tmp_path / "data")
    assert "bombs" not in sys.modules
    with pytest.raises(DatasetError, match="SystemError: imported"):
        package.module("clip", "reader").open_split(tmp_path / "data", "train")


@pytest.mark.parametrize("text", HOSTILE, ids=map(str, range(len(HOSTILE))))
def test_other_texts_than_names_are_refused(workspace: Workspace, text: str) -> None:
    workspace.schema(_SCHEMA.format(text))
    (refusal,) = refusals(workspace.root)
    assert "'package.module:function'" in str(refusal)


def test_another_decoder_reads_data_as_it_is(
    clip: Workspace, package_of: PackageOf, tmp_path: Path
) -> None:
    """Bytes are the same with any decoder, and with none."""
    _write(clip, tmp_path)
    without = _SCHEMA.format("").replace(
        'Scalar("bytes", decoder=\'\', shape=(None, 2), decoded_dtype="uint8")',
        'Scalar("bytes")',
    )
    found: Any = package_of(without).module("clip", "reader").open_split(tmp_path)
    assert found[1]["frames"] == saved(np.full((1, 2), 1, np.uint8))
