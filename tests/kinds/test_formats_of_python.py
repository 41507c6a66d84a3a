"""TIFF and AVIF images, for which TensorFlow has no decoder: what is refused, and served."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
import tifffile
from command_line import run
from PIL import Image as Pillow
from PIL import features
from schemagen.runtime.shared.errors import DatasetError, RecordError
from stored_features import blobs, changed
from tfrecord_files import write_records

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import *

class Slide(Record):
    scan: Annotated[bytes | np.ndarray, Image((5, 7, 3), encoding="tiff")]
    floats: Annotated[np.ndarray | bytes, Image((5, 7, 1), encoding="tiff", dtype="float32")]
    photo: Annotated[bytes | None, Image((None, None, 3), encoding="avif", resize=(4, 4))] = None
    level: float
    grade: Annotated[int, Label(num_classes=2, role="target")]
"""
RECORD = "slide"
SIZE = (5, 7, 3)


def noise(shape: tuple[int, ...], dtype: str = "uint8") -> Any:
    """Return random numbers."""
    return np.random.default_rng(0).integers(0, 256, shape).astype(dtype)


def tiff(array: Any, **options: Any) -> bytes:
    """Return a TIFF as tifffile writes it."""
    out = BytesIO()
    tifffile.imwrite(out, array, **options)
    return out.getvalue()


def avif(mode: str = "RGB", **options: Any) -> bytes:
    """Return an AVIF as Pillow writes it."""
    out, picture = BytesIO(), Pillow.new(mode, (9, 6), (10, 200, 30, 40)[: len(mode)])
    picture.save(out, "avif", **options)
    return out.getvalue()


def slide(**values: Any) -> dict[str, Any]:
    """Return a good row, with other values of some fields."""
    floats = noise((5, 7, 1), "float32")
    good = {"scan": noise(SIZE), "floats": floats, "photo": avif()}
    return {**good, "level": 0.5, "grade": 1, **values}


def _palette() -> bytes:
    out = BytesIO()
    Pillow.fromarray(noise(SIZE)).convert("P").save(out, "tiff")
    return out.getvalue()


def _damaged() -> bytes:
    """A float TIFF in which some compressed bytes are others."""
    data = bytearray(tiff(noise((5, 7), "float32"), compression="zlib"))
    (start,) = tifffile.TiffFile(BytesIO(data)).pages[0].dataoffsets
    data[start + 8 : start + 30] = bytes(22)
    return bytes(data)


_RGB = {"photometric": "rgb"}
_FRAMES = {"save_all": True, "append_images": [Pillow.new("RGB", (9, 6))]}
REFUSED = {
    "other bytes": ("scan", b"scan.tiff", "bytes that begin with 'scan.tif'"),
    "a truncated one": ("scan", tiff(noise(SIZE))[:-1], "a truncated tiff image"),
    "a few bytes that ask for gigabytes": (
        "scan",
        tiff(np.zeros((9000, 9000), "uint8"), compression="zlib", rowsperstrip=1)[:400],
        "a truncated tiff image",
    ),
    "several pages": ("scan", tiff(noise((2, *SIZE)), **_RGB), "with several pages"),
    "signed": ("scan", tiff(noise(SIZE, "int16")), "signed samples of 16 bits"),
    "of one bit": (
        "scan",
        tiff(noise((5, 7)) > 9, photometric="minisblack"),
        "unsigned samples of 1 bits",
    ),
    "doubles": ("scan", tiff(noise((5, 7), "float64")), "floating-point samples of 64"),
    "a palette": ("scan", _palette(), "with a palette, of CMYK or of other colours"),
    "cmyk": ("scan", tiff(noise((5, 7, 4)), photometric="separated"), "of CMYK"),
    "jpeg in a tiff": (
        "scan",
        tiff(noise((16, 16, 3)), compression="jpeg", **_RGB),
        "of other colours",
    ),
    "zstd": (
        "scan",
        tiff(noise(SIZE), compression="zstd", **_RGB),
        "compression 50000",
    ),
    "deep": ("scan", tiff(noise(SIZE, "uint16"), **_RGB), "16 bits a channel"),
    "another size": ("scan", tiff(noise((7, 5, 3)), **_RGB), "shape [7, 5, 3]"),
    "NaN": ("floats", tiff(np.full((5, 7), np.nan, "f4")), "NaN or infinite"),
    "bytes": ("floats", tiff(noise((5, 7))), "8 bits a channel"),
    "damaged floats": ("floats", _damaged(), "an image that is damaged"),
    "a truncated avif": ("photo", avif()[:-1], "a truncated avif image"),
    "frames": ("photo", avif(**_FRAMES), "an avif image of several pictures"),
    "alpha": ("photo", avif("RGBA"), "shape [6, 9, 4]"),
    "a tiff": ("photo", tiff(noise(SIZE), **_RGB), "a TIFF image"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_not_read_as_it_is_stored_is_refused_by_all(
    package: Workspace, serializer: Any, tmp_path: Path, case: str
) -> None:
    """The writer, both readers and `verify` say the same, and name field and record."""
    name, data, found = REFUSED[case]
    with pytest.raises(RecordError) as refused:
        serializer.serialize(**slide(**{name: data}))
    good = serializer.serialize(**slide())
    records = [good, changed(good, **{name: blobs(data)})]
    path = write_records(tmp_path / "x.tfrecord", records)
    split = package.module(RECORD, "reader").open_split(path)
    with pytest.raises(DatasetError, match="record 1") as by_split:
        split[1]
    make_dataset = package.module(RECORD, "pipeline").make_dataset
    with pytest.raises(tf.errors.InvalidArgumentError, match="record 1") as by_dataset:
        list(make_dataset(str(path), batch_size=2))
    for message in map(str, (refused.value, by_split.value, by_dataset.value)):
        assert name in message
        assert found.replace("'", "") in message.replace("'", "").replace("`", "")
    report = schemagen.verify(path, record=package.record("Slide"))
    [finding] = report.findings
    assert (finding.rule, finding.field) == ("SG528", name)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_pixels_that_are_not_finite_are_not_written(
    serializer: Any, value: float
) -> None:
    """As raw pixels of floats."""
    with pytest.raises(RecordError, match=r"floats.*NaN or infinite"):
        serializer.serialize(**slide(floats=np.full((5, 7, 1), value, np.float32)))


def test_damage_inside_of_a_file_is_named_by_both_readers(
    package: Workspace, serializer: Any, tmp_path: Path
) -> None:
    """Writers look at the header of other dtypes than floats, as of JPEG and PNG."""
    data = bytearray(tiff(noise(SIZE), compression="zlib", **_RGB))
    (start,) = tifffile.TiffFile(BytesIO(data)).pages[0].dataoffsets
    data[start + 8 : start + 30] = bytes(22)
    record = serializer.serialize(**slide(scan=bytes(data)))
    path = write_records(tmp_path / "x.tfrecord", [record])
    with pytest.raises(
        DatasetError, match=r"record 0: field 'scan'.*cannot be decoded"
    ):
        package.module(RECORD, "reader").open_split(path)[0]
    make_dataset = package.module(RECORD, "pipeline").make_dataset
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"record 0.*cannot be decoded"
    ):
        list(make_dataset(str(path), batch_size=1))


def test_without_its_package_an_error_says_what_to_install(
    serializer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of TIFF the extra, and of AVIF a later Pillow."""
    monkeypatch.setitem(sys.modules, "tifffile", None)
    with pytest.raises(ImportError, match=r"schemagen-tfrecord\[tiff\]"):
        serializer.serialize(**slide())
    monkeypatch.undo()
    monkeypatch.setattr(features, "modules", {})
    with pytest.raises(ImportError, match=r"pillow>=11\.3"):
        serializer.serialize(**slide())


def test_a_served_model_takes_the_decoded_pixels(
    package: Workspace, serializer: Any, tmp_path: Path
) -> None:
    """A SavedModel has no Python: the signature asks for what `make_dataset` delivers."""
    records = [
        serializer.serialize(**slide(level=float(at), photo=None if at else avif()))
        for at in range(2)
    ]
    model = package.module(RECORD, "model")
    built = model.build_model()
    batch = package.module(RECORD, "parser").parse_batch(tf.constant(records))
    inputs = {name: batch[name] for name in built.input}
    dataset = tf.data.Dataset.from_tensors((inputs, batch["grade"]))
    model.adapt(built, dataset)
    with pytest.warns(
        RuntimeWarning, match="'scan' is decoded by Python.*decoded uint8"
    ):
        model.export_serving(built, tmp_path / "model")
    served = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    names = {"scan", "floats", "photo", "photo_present"}
    assert served.structured_input_signature[1].keys() == {"examples", *names}
    given = {name: inputs[name] for name in names}
    found = served(examples=tf.constant(records), **given)
    np.testing.assert_allclose(found["grade"], built(inputs), atol=1e-6)


def test_infer_declares_them_and_the_report_shows_them(
    serializer: Any, tmp_path: Path
) -> None:
    """Encoding and dtype are those of the headers; no browser shows a TIFF."""
    records = [serializer.serialize(**slide(level=float(at))) for at in range(5)]
    path = write_records(tmp_path / "x.tfrecord", records)
    run("infer", path, "--out", tmp_path / "drafted.py", "--name", "Drafted")
    text = (tmp_path / "drafted.py").read_text()
    assert 'scan: Annotated[bytes, Image((5, 7, 3), encoding="tiff")]' in text
    assert 'Image((5, 7, 1), encoding="tiff", dtype="float32")' in text
    assert 'Image((6, 9, 3), encoding="avif")' in text
    run("inspect", path, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "7 × 5, RGB TIFF, uint8" in page
    assert "image/tiff" not in page
    assert "9 × 6, RGB AVIF" in page
