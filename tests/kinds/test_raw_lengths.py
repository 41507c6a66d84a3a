"""Raw bytes of varying length: the one size that varies follows from their number."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from command_line import run
from schemagen.runtime.shared.errors import DatasetError
from stored_features import blobs, example, stored
from tfrecord_files import write_records

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import *

class Scene(Record):
    points: Annotated[np.ndarray, Tensor((None, 3), "float32", encoding="raw")]
    wave: Annotated[np.ndarray, VarLen("int16", encoding="raw")]
    stereo: Annotated[np.ndarray, VarLen("int16", item_shape=(2,), encoding="raw")]
    frames: Annotated[np.ndarray, Tensor((2, None), "uint8", padding_value=9)]
    masked: Annotated[np.ndarray | None, Tensor((None, 3), "float32")] = None
"""

POINTS = np.arange(6, dtype="<f4").reshape(2, 3)
WAVE = np.array([1, -2, 3], "<i2")
STEREO = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], "<i2")
FRAMES = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
ROW: dict[str, Any] = {
    "points": POINTS,
    "wave": WAVE,
    "stereo": STEREO,
    "frames": FRAMES,
}
SHORT: dict[str, Any] = {
    "points": POINTS[:1],
    "wave": [],
    "stereo": STEREO[:1],
    "frames": FRAMES[:, :1],
}


@pytest.fixture(scope="module")
def scene(package_of: PackageOf) -> Workspace:
    """The package of a record with points and waveforms."""
    return package_of(SCHEMA)


def _raw(row: dict[str, Any]) -> bytes:
    """Return what another program writes: bytes alone, without sizes."""
    return example({name: blobs(each.tobytes()) for name, each in row.items()})


def test_bytes_alone_are_stored(scene: Workspace) -> None:
    """Byte by byte what other programs write."""
    serialize = scene.module("scene", "serializer").serialize
    assert stored(serialize(**ROW)) == stored(_raw(ROW))


def test_sizes_follow_from_the_bytes(scene: Workspace, tmp_path: Path) -> None:
    """Both readers give the same, padded as other lists and tensors are."""
    rows = [ROW, {**SHORT, "masked": POINTS}]
    scene.module("scene", "serializer").write_dataset(rows, tmp_path, "train")
    split = scene.module("scene", "reader").open_split(tmp_path, "train")
    (batch,) = scene.module("scene", "pipeline").make_dataset(
        tmp_path, "train", batch_size=2
    )
    own = split[:]
    for name in ROW:
        np.testing.assert_array_equal(split[0][name], ROW[name])
        assert split[0][name].dtype == ROW[name].dtype
        assert split[1][name].shape == np.shape(SHORT[name])
        np.testing.assert_array_equal(own[name], batch[name].numpy())
    assert split[0]["masked"] is None
    assert own["points"].shape == (2, 2, 3)
    assert own["frames"][1].tolist() == [[1, 9, 9], [4, 9, 9]]
    assert batch["masked_present"].numpy().tolist() == [False, True]
    assert (
        run("verify", tmp_path, "--record", "scene", "--project", scene.root).exit_code
        == 0
    )


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [
        ("points", 13, "a multiple of 12 bytes (float32 [?, 3])"),
        ("frames", 3, "a multiple of 2 bytes (uint8 [2, ?])"),
        ("wave", 5, "raw int16 numbers of 2 bytes"),
    ],
)
def test_bytes_of_no_whole_item_are_refused(
    scene: Workspace, tmp_path: Path, name: str, size: int, expected: str
) -> None:
    """By verify with a rule, and by both readers."""
    values = {**ROW, name: np.zeros(size, np.uint8)}
    data = write_records(tmp_path / "other.tfrecord", [_raw(values)])
    found = run("verify", data, "--record", "scene", "--project", scene.root)
    assert found.exit_code == 1
    for text in ("SG525", f"{size} bytes", expected):
        assert text in found.output
    split = scene.module("scene", "reader").open_split(data)
    with pytest.raises(DatasetError, match=f"{size} bytes"):
        split[0]
    parse = scene.module("scene", "parser").parse_batch
    for each in (parse, tf.function(parse, autograph=False)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=name):
            each(tf.constant([_raw(values)]))
