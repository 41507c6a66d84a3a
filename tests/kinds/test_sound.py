"""Sound: WAV, FLAC and raw samples, in both readers and as other programs read them."""

from __future__ import annotations

import io
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import soundfile
import tensorflow as tf
from contract.kinds.sound import flac, wav
from schemagen.runtime.shared.errors import DatasetError, RecordError
from stored_features import blobs, example, stored
from tfrecord_files import write_records

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import *

class Sound(Record):
    wav: Annotated[bytes, Audio(16000)]
    flac: Annotated[bytes, Audio(16000, encoding="flac")]
    raw: Annotated[np.ndarray, Audio(16000, encoding="raw", dtype="int16")]
    number: int

class Stereo(Record):
    wav: Annotated[bytes | None, Audio(8000, channels=2, dtype="int16")] = None
    flac: Annotated[
        bytes | None, Audio(8000, channels=2, encoding="flac", dtype="int16")
    ] = None
    raw: Annotated[np.ndarray | None, Audio(8000, channels=2, encoding="raw")] = None
    number: int

class Note(Record):
    voice: Annotated[bytes, Audio(8000, max_seconds=0.01, ragged=True)]
    number: int

class Song(Record):
    song: Annotated[bytes, Audio(8000, encoding="flac")]
    number: int
"""
FILES = 1000


@pytest.fixture(scope="module")
def sounds(package_of: PackageOf) -> Workspace:
    """The packages of records with sound."""
    return package_of(SCHEMA)


def _datasets(
    sounds: Workspace, record: str, source: Any, batch_size: int = 100, **options: Any
) -> Iterator[dict[str, Any]]:
    """Yield the batches of a dataset."""
    make = sounds.module(record, "pipeline").make_dataset
    yield from make(source, batch_size=batch_size, **options)


def _sample_rows(channels: int) -> Iterator[Any]:
    chance = np.random.default_rng(channels)
    for _ in range(FILES):
        shape = (int(chance.integers(1, 60)), channels)
        yield chance.integers(-(2**15), 2**15, shape, np.int16, endpoint=False)


@pytest.mark.parametrize(("record", "channels"), [("sound", 1), ("stereo", 2)])
def test_both_readers_have_each_sample(
    sounds: Workspace, tmp_path: Path, record: str, channels: int
) -> None:
    """They equal those of soundfile and of tf.audio, of a thousand files of each format."""
    rate = 16000 if channels == 1 else 8000
    samples = list(_sample_rows(channels))
    rows = [
        {
            "wav": wav(each, rate) if at % 2 else each,
            "flac": flac(each, rate) if at % 2 else each / 2**15,
            "raw": each,
            "number": at,
        }
        for at, each in enumerate(samples)
    ]
    sounds.module(record, "serializer").write_dataset(rows, tmp_path, "train")
    split = sounds.module(record, "reader").open_split(tmp_path, "train")
    encoded = sounds.module(record, "reader").open_split(
        tmp_path, "train", decode_images=False
    )[:]
    dtypes = {"wav": "float32", "flac": "float32", "raw": "int16"}
    if record == "stereo":
        dtypes = {"wav": "int16", "flac": "int16", "raw": "float32"}
    start = 0
    for batch in _datasets(sounds, record, tmp_path):
        stop = start + len(batch["number"])
        own = split[start:stop]
        for name, dtype in dtypes.items():
            assert own[name].dtype == batch[name].dtype.name == dtype
            np.testing.assert_array_equal(own[name], batch[name].numpy())
        start = stop
    for at, each in enumerate(samples):
        row = split[at]
        for name, dtype in dtypes.items():
            expected = each if dtype == "int16" else each / 2**15
            np.testing.assert_array_equal(row[name], expected)
            if name != "raw":
                by_hand, _ = soundfile.read(
                    io.BytesIO(encoded[name][at]), dtype=dtype, always_2d=True
                )
                np.testing.assert_array_equal(row[name], by_hand)
        floats, found = tf.audio.decode_wav(encoded["wav"][at])
        np.testing.assert_array_equal(floats, each / 2**15)
        assert found == rate


def _form(tag: int = 1, channels: int = 1, rate: int = 16000, bits: int = 16) -> bytes:
    block = channels * bits // 8
    return struct.pack("<HHIIHH", tag, channels, rate, rate * block, block, bits)


def _file(*chunks: tuple[bytes, bytes], size: int | None = None) -> bytes:
    """Return a WAV of chunks; `size` is what the last one says of itself."""
    found = b""
    for name, content in chunks:
        stated = len(content) if size is None or name != b"data" else size
        found += name + struct.pack("<I", stated) + content
        found += b"\0" * (len(content) % 2)
    return b"RIFF" + struct.pack("<I", len(found) + 4) + b"WAVE" + found


DATA = (b"data", struct.pack("<4h", 1, -2, 3, -4))
FORM = (b"fmt ", _form())
_GUID = bytes.fromhex("000000001000800000aa00389b71")
_PCM = _form(0xFFFE) + struct.pack("<HHIH", 22, 16, 4, 1) + _GUID
_FLOAT = _form(0xFFFE) + struct.pack("<HHIH", 22, 16, 4, 3) + _GUID

READ: dict[str, bytes] = {
    "plain": _file(FORM, DATA),
    "without samples": _file(FORM, (b"data", b"")),
    "a chunk before": _file((b"JUNK", bytes(5)), FORM, DATA),
    "a chunk between": _file(FORM, (b"LIST", b"odd"), DATA),
    "a chunk behind": _file(FORM, DATA, (b"LIST", b"odd")),
    "a longer format": _file((b"fmt ", _form() + b"\0\0"), DATA),
    "extensible": _file((b"fmt ", _PCM), DATA),
    "bytes behind": _file(FORM, DATA) + b"end",
}
REFUSED: dict[str, bytes] = {
    "no chunks": _file(),
    "samples before the format": _file(DATA, FORM),
    "no samples": _file(FORM),
    "a short format": _file((b"fmt ", _form()[:14]), DATA),
    "extensible floats": _file((b"fmt ", _FLOAT), DATA),
    "another rate": _file((b"fmt ", _form(rate=8000)), DATA),
    "another number of channels": _file((b"fmt ", _form(channels=2)), DATA),
    "8 bits": _file((b"fmt ", _form(bits=8)), DATA),
    "mu-law": _file((b"fmt ", _form(7, bits=8)), DATA),
    "no channels": _file((b"fmt ", _form(channels=0)), DATA),
    "half a sample": _file(FORM, (b"data", b"\1\2\3")),
    "a byte less": _file(FORM, DATA)[:-1],
    "of a pipe": _file(FORM, DATA, size=2**32 - 1),
    "of a pipe, with no size": _file(FORM, DATA, size=0),
    "a chunk that is too large": _file(FORM) + b"LIST\xff\xff\xff\xff" + b"data",
    "not RIFF": b"RIFX" + _file(FORM, DATA)[4:],
    "an AVI": _file(FORM, DATA).replace(b"WAVE", b"AVI "),
}


@pytest.fixture(scope="module")
def odd(sounds: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of records, of which each has another WAV: those to read come first."""
    path = tmp_path_factory.mktemp("odd") / "odd.tfrecord"
    good = {
        "flac": blobs(flac(np.ones((3, 1), np.int16), 16000)),
        "raw": blobs(b"\1\0"),
    }
    files = [*READ.values(), *REFUSED.values()]
    rows = ({"number": at, "wav": each} for at, each in enumerate(files))
    write_records(
        path,
        (
            example(
                {
                    **good,
                    "wav": blobs(row["wav"]),
                    "number": tf.train.Feature(
                        int64_list=tf.train.Int64List(value=[row["number"]])
                    ),
                }
            )
            for row in rows
        ),
    )
    return path


def test_odd_files_are_read_alike_or_refused_by_all(
    sounds: Workspace, odd: Path
) -> None:
    """Chunks of any size and place; what one way refuses all do, and so do writers."""
    split = sounds.module("sound", "reader").open_split(odd)
    serialize = sounds.module("sound", "serializer").serialize
    row = {"flac": np.ones(3, np.int16), "raw": np.ones(1, np.int16), "number": 0}
    delivered = {
        int(batch["number"][0]): batch["wav"].numpy()[0]
        for batch in _datasets(sounds, "sound", odd, 1, on_corrupt="skip")
    }
    for at, (name, data) in enumerate(READ.items()):
        expected, _ = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
        np.testing.assert_array_equal(delivered[at], expected, name)
        np.testing.assert_array_equal(split[at]["wav"], expected, name)
        assert stored(serialize(**row, wav=data))["wav"] == blobs(data)
    assert [*delivered] == [*range(len(READ))]
    for at, (name, data) in enumerate(REFUSED.items(), len(READ)):
        with pytest.raises(DatasetError, match="wav"):
            split[at]
        with pytest.raises(RecordError, match="wav"):
            serialize(**row, wav=data)
        assert name


def test_verify_names_damaged_sound(sounds: Workspace, tmp_path: Path) -> None:
    """File, record and field, also of a FLAC whose header is right."""
    noise = np.random.default_rng(0).integers(-(2**15), 2**15, (9000, 1))
    whole = flac(noise.astype(np.int16))
    damaged = whole[:5000] + bytes(100) + whole[5100:]
    path = tmp_path / "songs.tfrecord"
    number = tf.train.Feature(int64_list=tf.train.Int64List(value=[0]))
    songs = (whole, damaged, whole[:-2000])
    write_records(
        path, (example({"song": blobs(each), "number": number}) for each in songs)
    )
    findings = schemagen.verify(path, record=sounds.record("Song")).findings
    assert {each.rule for each in findings} == {"SG528"}
    assert {each.field for each in findings} == {"song"}
    assert {one.record for each in findings for one in each.examples} == {1, 2}
    split = sounds.module("song", "reader").open_split(path)
    for at in (1, 2):
        with pytest.raises(DatasetError, match=f"record {at}.*song"):
            split[at]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"songs.tfrecord: record 1: field .song."
    ):
        list(_datasets(sounds, "song", path))


def test_a_longer_sound_is_refused(sounds: Workspace, tmp_path: Path) -> None:
    """The limit in seconds is one of samples, in all ways."""
    serialize = sounds.module("note", "serializer").serialize
    serialize(voice=np.zeros(80, np.int16), number=0)
    with pytest.raises(RecordError, match="81 samples, expected at most 80"):
        serialize(voice=np.zeros(81, np.int16), number=0)
    with pytest.raises(RecordError, match="81 samples, expected at most 80"):
        serialize(voice=wav(np.zeros((81, 1), np.int16)), number=0)


def test_floats_are_rounded_to_16_bits(sounds: Workspace) -> None:
    """To the nearest; 1 becomes the largest. Beyond 1 they are refused."""
    serialize = sounds.module("note", "serializer").serialize
    given = np.array([0.5, 1.0, -1.0, 1.4 / 2**15, 1.6 / 2**15])
    data = stored(serialize(voice=given, number=0))["voice"].bytes_list.value[0]
    assert data == wav(np.array([[2**14], [2**15 - 1], [-(2**15)], [1], [2]], np.int16))
    with pytest.raises(RecordError, match=r"a sample of 1[.]01, expected samples"):
        serialize(voice=np.array([1.01]), number=0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            wav(np.zeros((2, 1), np.int16), 44100),
            "a WAV of 44,100 Hz, expected 8,000 Hz",
        ),
        (wav(np.zeros((2, 1), np.int16), 44100), "declare rate=44100"),
        (flac(np.zeros((2, 1), np.int16)), "declare encoding='flac'"),
        (np.zeros((1, 5), np.int16), "the channels come last"),
        (np.zeros(5, np.uint8), "uint8 values, expected int16, or floats from -1 to 1"),
        (Path("voice.wav"), "read_bytes"),
    ],
)
def test_a_wrong_sound_is_explained(
    sounds: Workspace, value: Any, message: str
) -> None:
    """What it is, what was expected, and what to do."""
    with pytest.raises(RecordError) as error:
        sounds.module("note", "serializer").serialize(voice=value, number=0)
    assert message in str(error.value)


def test_records_are_bucketed_by_their_samples(
    sounds: Workspace, tmp_path: Path
) -> None:
    """Headers tell the lengths of files."""
    rows = [{"song": np.zeros(n, np.int16), "number": n} for n in (5, 3000, 7, 3001)]
    sounds.module("song", "serializer").write_dataset(rows, tmp_path, "train")
    options: dict[str, Any] = {"bucket_by": "song", "bucket_boundaries": [100]}
    batches = _datasets(sounds, "song", tmp_path, 2, **options)
    assert sorted(batch["song"].shape[1] for batch in batches) == [7, 3001]
    rows = [{"voice": np.zeros(n, np.int16), "number": n} for n in (5, 70, 7, 80)]
    sounds.module("note", "serializer").write_dataset(rows, tmp_path / "notes", "train")
    options = {"bucket_by": "voice", "bucket_boundaries": [50]}
    notes = _datasets(sounds, "note", tmp_path / "notes", 2, **options)
    assert sorted(sorted(batch["number"].numpy()) for batch in notes) == [
        [5, 7],
        [70, 80],
    ]


def test_sound_is_packed(sounds: Workspace, tmp_path: Path) -> None:
    """Samples of several records in one row, as other lists."""
    rows = [{"song": np.full(n, n, np.int16), "number": n} for n in (5, 3, 8)]
    sounds.module("song", "serializer").write_dataset(rows, tmp_path, "train")
    split = sounds.module("song", "reader").open_split(tmp_path, "train")
    batch = next(iter(split.batches(2, pack={"song": 8})))
    assert batch["song"].shape == (2, 8, 1)
    assert np.count_nonzero(batch["song"], axis=(1, 2)).tolist() == [8, 8]


def test_flac_without_soundfile_says_what_to_install(
    sounds: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WAV needs nothing."""
    monkeypatch.setitem(sys.modules, "soundfile", None)
    sounds.module("note", "serializer").serialize(voice=[0.5], number=0)
    with pytest.raises(ModuleNotFoundError, match=r"schemagen-tfrecord\[audio\]"):
        sounds.module("song", "serializer").serialize(song=[0.5], number=0)
