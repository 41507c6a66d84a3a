"""Images under numbered keys: all of a record or none, and errors with the key of one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
from command_line import make_project, refusals
from pictures import picture
from schemagen.runtime.shared.errors import DatasetError, RecordError
from tfrecord_files import write_records

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
from pydantic import BaseModel
from schemagen import Images, Record

class Arm(BaseModel):
    views: Annotated[list[bytes], Images((2, 3, 3), "png", keys="view_{}", count=2)]

class Clip(Record):
    frames: Annotated[list[bytes], Images((2, 3, 3), "png", keys="frames/{:04d}", count=12)]
    late: Annotated[list[bytes] | None, Images((2, 3, 3), "png", keys="late_{}",
        keys_from=1, count=3)] = None
    arm: Arm
"""
RECORD = "clip"

Change = Callable[[Any], object]


def row(number: int) -> dict[str, Any]:
    """Return a row; every second one is without `late`."""
    images = [picture(2, 3, seed=10 * number + n) for n in range(12)]
    late = images[3:6] if number % 2 else None
    return {"frames": images, "late": late, "arm": {"views": images[:2]}}


def test_each_image_has_a_key_and_readers_have_them_in_order(
    package: Workspace, tmp_path: Path
) -> None:
    """Keys of a nested model begin with its prefix."""
    rows = [row(0), row(1)]
    records = [package.module(RECORD, "serializer").serialize(**each) for each in rows]
    features = tf.train.Example.FromString(records[1]).features.feature
    assert sorted(features) == [
        *("arm/view_0", "arm/view_1"),
        *(f"frames/{n:04d}" for n in range(12)),
        *("late_1", "late_2", "late_3"),
    ]
    write_records(tmp_path / "data.tfrecord", records)
    split = package.module(RECORD, "reader").open_split(tmp_path / "data.tfrecord")
    for batch in (
        package.module(RECORD, "parser").parse_batch(records),
        split[[0, 1]],
    ):
        for at, each in enumerate(rows):
            for name, images in (("frames", each["frames"]), ("late", each["late"])):
                if images:
                    pixels = [tf.io.decode_png(image) for image in images]
                    np.testing.assert_array_equal(batch[name][at], pixels)
        assert np.asarray(batch["late_present"]).tolist() == [False, True]
        assert not np.asarray(batch["late"][0]).any()


def _without(key: str) -> Change:
    return lambda features: features.pop(key)


def _with(key: str, *values: bytes) -> Change:
    def change(features: Any) -> None:
        features[key].bytes_list.value[:] = values

    return change


WRONG: dict[str, tuple[Change, str]] = {
    "missing": (_without("frames/0007"), "no feature 'frames/0007'"),
    "the first one missing": (_without("frames/0000"), "no feature 'frames/0000'"),
    "missing in an optional field": (_without("late_2"), "no feature 'late_2'"),
    "the first of these": (_without("late_1"), "no feature 'late_1'"),
    "empty in an optional field": (_with("late_3", b""), "no bytes under 'late_3'"),
    "another size": (
        _with("frames/0011", picture(3, 3)),
        "an image of shape [3, 3, 3] under 'frames/0011'",
    ),
    "two": (
        _with("arm/view_1", picture(2, 3), picture(2, 3)),
        "expected one png image under 'arm/view_1'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_readers_and_verify_name_the_key_of_a_wrong_image(
    package: Workspace, tmp_path: Path, case: str
) -> None:
    """In TensorFlow, which has its own words, at least the record is refused."""
    change, words = WRONG[case]
    good = package.module(RECORD, "serializer").serialize(**row(1))
    message = tf.train.Example.FromString(good)
    change(message.features.feature)
    wrong = message.SerializeToString()
    data = tmp_path / "data.tfrecord"
    write_records(data, [good, wrong])
    with pytest.raises(tf.errors.InvalidArgumentError) as refused:
        package.module(RECORD, "parser").parse_batch([good, wrong])
    if "missing" in case:
        assert words.split("'")[1] in str(refused.value)
    with pytest.raises(DatasetError) as error:
        package.module(RECORD, "reader").open_split(data)[[0, 1]]
    assert "record 1: " in str(error.value)
    assert words in str(error.value)
    (finding,) = schemagen.verify(data, record=package.record("Clip")).findings
    (example,) = finding.examples
    assert words in f"{example.found}, expected {finding.expected}"


def test_a_record_of_empty_images_has_none(package: Workspace, tmp_path: Path) -> None:
    """As other programs write it; both readers agree."""
    message = tf.train.Example.FromString(
        package.module(RECORD, "serializer").serialize(**row(1))
    )
    for key in ("late_1", "late_2"):
        message.features.feature[key].bytes_list.value[:] = [b""]
    del message.features.feature["late_3"]
    record = message.SerializeToString()
    write_records(tmp_path / "data.tfrecord", [record])
    split = package.module(RECORD, "reader").open_split(tmp_path / "data.tfrecord")
    for batch in (package.module(RECORD, "parser").parse_batch([record]), split[[0]]):
        assert not np.asarray(batch["late"]).any()


def test_the_writer_names_the_key_of_a_wrong_image(package: Workspace) -> None:
    """Of one row and of columns."""
    given = row(1)
    frames = [*given["frames"][:7], picture(2, 4), *given["frames"][8:]]
    words = r"found an image of shape \[2, 4, 3\] under 'frames/0007'"
    with pytest.raises(RecordError, match=words):
        package.module(RECORD, "serializer").serialize(**{**given, "frames": frames})
    columns: dict[str, Any] = {name: [given[name]] * 2 for name in given}
    columns["frames"] = [given["frames"], frames]
    columns["arm"] = {"views": [given["arm"]["views"]] * 2}
    with pytest.raises(RecordError, match=f"row 1: .*{words}"):
        package.module(RECORD, "serializer").serialize_batch(**columns)


def test_the_description_of_numbered_keys_is_one_line(package: Workspace) -> None:
    """Which tf.io takes as it is."""
    parser = package.module(RECORD, "parser")
    source = "".join(Path(str(parser.__file__)).read_text().split()).replace(",)", ")")
    keys = 'map("frames/{:04d}".format,range(12))'
    described = "tf.io.FixedLenFeature((),tf.string)"
    assert f"**dict.fromkeys({keys},{described})" in source
    record = package.module(RECORD, "serializer").serialize(**row(1))
    parsed = tf.io.parse_single_example(record, parser.FEATURE_DESCRIPTION)
    assert parsed["frames/0011"] == row(1)["frames"][11]


CLASHES = {
    "another field": 'a_1: int\n    b: Annotated[list[bytes], Images(S, keys="a_{}", count=3)]',
    "each other": """a: Annotated[list[bytes], Images(S, keys="x{}", count=9)]
    b: Annotated[list[bytes], Images(S, keys="x{}", keys_from=2, count=9)]""",
}


@pytest.mark.parametrize("case", CLASHES)
def test_a_key_of_another_field_is_one_finding(tmp_path: Path, case: str) -> None:
    """However many keys both have."""
    head = "from typing import Annotated\nfrom schemagen import *\nS = (2, 2, 3)\n"
    text = f"{head}class R(Record):\n    {CLASHES[case]}\n"
    (found,) = refusals(make_project(tmp_path, {"r.py": text}))
    assert found["rule"] == "SG114"
