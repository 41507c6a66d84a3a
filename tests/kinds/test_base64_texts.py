"""Values that are stored as base64 text: all forms are read, damaged text is refused."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
from command_line import run
from stored_features import blobs, example
from tfrecord_files import write_records
from trained_models import train

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import *

class Shot(Record):
    pixels: Annotated[np.ndarray, Image((3, 5, 3), transfer_encoding="base64")]
    state: Annotated[
        np.ndarray | None, Vector((2,), encoding="raw", transfer_encoding="base64")
    ] = None

class Graded(Record):
    pixels: Annotated[np.ndarray, Image((3, 5, 3), transfer_encoding="base64")]
    grade: Annotated[int, Label(num_classes=3)]
"""
RECORD = "shot"

PIXELS = np.random.default_rng(3).integers(0, 256, (3, 5, 3)).astype(np.uint8)
PIXELS[0, 0] = 251, 255, 191
PLAIN = base64.b64encode(PIXELS.tobytes())
URL_SAFE = base64.urlsafe_b64encode(PIXELS.tobytes())


def shot(text: bytes) -> bytes:
    """Return a record with this text as its pixels."""
    return example({"pixels": blobs(text)})


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "standard": base64.b64encode,
    "url-safe": base64.urlsafe_b64encode,
    "without padding": lambda data: base64.b64encode(data).rstrip(b"="),
    "lines": base64.encodebytes,
    "lines of windows": lambda data: base64.encodebytes(data).replace(b"\n", b"\r\n"),
    "indented": lambda data: b" \t" + base64.b64encode(data) + b"\n\n",
}

DAMAGED = {
    "cut off": PLAIN[:-3],
    "one character": PLAIN + b"A",
    "another character": b"!" + PLAIN[1:],
    "padding inside": PLAIN[:4] + b"=" + PLAIN[5:],
    "too much padding": PLAIN + b"=",
    "only padding": b"====",
    "only white space": b" \n",
    "the pixels themselves": PIXELS.tobytes(),
    "not UTF-8": b"\xff\xfe" + PLAIN[2:],
    "a zero byte": PLAIN[:8] + b"\0" + PLAIN[9:],
}


Verify = Callable[..., Any]


@pytest.fixture
def verify(package: Workspace, tmp_path: Path) -> Verify:
    """Return what verifies some records as shots."""

    def verified(*records: bytes) -> Any:
        path = write_records(tmp_path / "shots.tfrecord", records)
        return schemagen.verify(path, record=package.record("Shot"))

    return verified


@pytest.mark.parametrize("form", FORMS)
def test_records_of_any_form_are_read_and_verified(
    package: Workspace, verify: Verify, tmp_path: Path, form: str
) -> None:
    record = shot(FORMS[form](PIXELS.tobytes()))
    parser = package.module(RECORD, "parser")
    np.testing.assert_array_equal(
        parser.parse_example(tf.constant(record))["pixels"], PIXELS
    )
    assert verify(record).clean
    split = package.module(RECORD, "reader").open_split(tmp_path / "shots.tfrecord")
    np.testing.assert_array_equal(split[0]["pixels"], PIXELS)


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_text_is_found_by_verify(verify: Verify, damage: str) -> None:
    found = verify(shot(PLAIN), shot(DAMAGED[damage]), shot(URL_SAFE))
    [finding] = found.findings
    assert (finding.rule, finding.field, finding.key) == ("SG528", "pixels", "pixels")
    [place] = finding.examples
    assert place.record == 1
    assert place.found
    assert isinstance(place.cause, str)


def test_text_of_other_content_is_found_by_verify(verify: Verify) -> None:
    """Whole text of too few pixels is a wrong size, not damaged text."""
    [finding] = verify(shot(base64.b64encode(PIXELS.tobytes()[:-1]))).findings
    assert (finding.rule, finding.examples[0].found) == ("SG525", "44 bytes")


def test_datasets_name_the_record_of_damaged_text(
    package: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "old.tfrecord")
    texts = (PLAIN, URL_SAFE, DAMAGED["cut off"], PLAIN)
    write_records(Path(path), map(shot, texts))
    monkeypatch.chdir(package.root)
    make_dataset = package.module(RECORD, "pipeline").make_dataset
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2.*pixels.*base64"):
        list(make_dataset(path, batch_size=1))
    found = run("verify", path, "--record", RECORD)
    assert found.exit_code == 1
    assert "SG528" in found.output


@pytest.mark.slow
@pytest.mark.usefixtures("eager_training")
def test_a_served_model_reads_base64_text(package: Workspace, tmp_path: Path) -> None:
    """It predicts the same of both alphabets, and refuses damaged text."""
    rows = [{"pixels": PIXELS // (1 + at % 3), "grade": at % 3} for at in range(6)]
    serve = train(package, "graded", rows, tmp_path / "data").served(tmp_path / "model")
    first, second = serve([shot(PLAIN), shot(URL_SAFE)])["grade"]
    np.testing.assert_allclose(first, second, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="base64"):
        serve([shot(DAMAGED["cut off"])])
