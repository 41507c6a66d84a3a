"""What a notebook shows of records, findings and data."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
import schemagen
from data.messages import example, write_file
from digit_rows import rows
from pydantic import BaseModel
from schemagen import Image, Label, Record, Scalar, Steps, VarLen
from schemagen.findings import Finding, Location, SchemagenError
from schemagen.runtime.images.headers import encode_png
from schemagen.spec.serial import fingerprint

from generated.digit.serializer import write_dataset

from .elements import harmless

HOSTILE = "</td><script>alert(1)</script>'\"&lt;\u202e`|*"


class PetPhoto(Record):
    """One photographed pet, see `photo`."""

    photo: Annotated[np.ndarray, Image((4, 4, 3), key="image/encoded")]
    """The pet."""
    notes: Annotated[list[str], VarLen("string", max_length=4)]
    species: Literal["cat", "dog"]
    age: float | None = None
    thumbnail: Annotated[
        bytes | None, Image((None, None, 1), encoding="png", role="info")
    ] = None


class Inner(BaseModel):
    x: int


class Hostile(Record):
    field: Annotated[int, Label(classes=(HOSTILE, "b"), key=HOSTILE)]


Hostile.__doc__ = HOSTILE


def displayed(shown: Any) -> str | None:
    """Return the HTML that IPython shows of a value."""
    from IPython.core.formatters import HTMLFormatter

    found: str | None = HTMLFormatter()(shown)
    return found


def photo(**other: Any) -> PetPhoto:
    values = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    return PetPhoto(photo=values, notes=[HOSTILE], species="cat", **other)


def test_a_class_is_shown_as_a_table_of_its_fields() -> None:
    """IPython finds the method of the class; each fact of a field is in the table."""
    text = harmless(displayed(PetPhoto) or "").text
    assert "PetPhoto One photographed pet, see photo ." in text
    assert "photo Image, raw uint8 [B, 4, 4, 3] input image/encoded The pet." in text
    assert "species Label, 2 classes int64 [B] target" in text
    assert "NaN if missing" in text
    assert fingerprint(schemagen.describe(PetPhoto)) in text


def test_an_instance_is_shown_as_its_values() -> None:
    """With a picture of its pixels, and not as the table of the class."""
    png = encode_png(np.zeros((3, 3, 1), np.uint8))
    found = harmless(displayed(photo(thumbnail=png)) or "")
    assert found.tags.count("img") == 2
    assert "uint8 [4, 4, 3]" in found.text
    assert f"{len(png)} bytes, png" in found.text
    assert "age None" in found.text
    assert "in a batch" not in found.text


def test_pictures_of_an_instance_are_small() -> None:
    """A large image is shown as a small copy."""

    class Large(Record):
        photo: Annotated[np.ndarray, Image((2000, 2000, 3))]

    pixels = np.random.default_rng(0).integers(0, 256, (2000, 2000, 3), np.uint8)
    assert len(displayed(Large(photo=pixels)) or "") < 90_000


def test_a_base_class_keeps_the_ordinary_representation() -> None:
    """`Record` has no fields to show."""
    assert displayed(Record) is None
    assert displayed(schemagen.SequenceRecord) is None


def test_the_view_is_no_field_and_no_private_attribute() -> None:
    """Specs, fingerprints and the names that fields may have stay as they were."""
    assert PetPhoto.__private_attributes__ == {}
    assert "_repr_html_" not in PetPhoto.model_fields
    assert "_repr_html_" not in photo().model_dump()

    class Named(Record):
        render: int
        html: int

    assert displayed(Named) is not None
    assert displayed(Named(render=1, html=2)) is not None


def test_a_class_that_is_not_valid_shows_its_findings() -> None:
    """With rule and advice, as `schemagen check` says them."""

    class Wrong(Record):
        self: int
        other: Annotated[int, HOSTILE]

    text = harmless(displayed(Wrong) or "").text
    assert "SG115" in text
    assert "SG117" in text
    with pytest.raises(SchemagenError, match="SG115"):
        schemagen.describe(Wrong)


@pytest.mark.parametrize("shown", [Hostile, Hostile(field=0)], ids=["class", "record"])
def test_hostile_texts_of_a_record_are_escaped(shown: Any) -> None:
    """No element, attribute or direction of writing comes from a schema or a value."""
    assert displayed(shown) == shown._repr_html_()
    harmless(displayed(shown) or "")


def test_steps_and_nested_records_are_shown() -> None:
    """Fields of sequences name the kind of a step; nested fields their path."""

    class Video(schemagen.SequenceRecord):
        speed: Annotated[list[float], Steps(Scalar("float32"))]

    class Outer(Record):
        inner: Inner

    assert "Steps of Scalar" in harmless(displayed(Video) or "").text
    assert "inner.x" in harmless(displayed(Outer) or "").text
    assert "inner" in harmless(displayed(Outer(inner=Inner(x=1))) or "").text


def test_a_finding_is_shown_with_all_it_says() -> None:
    """Rule, place, message, found, expected and what to do, escaped."""
    finding = Finding(
        Location(HOSTILE, 3, 4), "SG101", HOSTILE, "found 1", "wanted 2", HOSTILE
    )
    text = harmless(displayed(finding) or "").text
    for part in (
        "SG101",
        ":3:4",
        "found 1",
        "wanted 2",
        "to do",
        "alert(1)",
        "\\u202e",
    ):
        assert part in text
    assert "warning" not in text
    warning = replace(finding, severity="warning")
    assert "warning:" in harmless(displayed(warning) or "").text


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory of one split."""
    write_dataset(rows(40), tmp_path / "digits", "train")
    return tmp_path / "digits"


def test_verification_shows_findings_and_counts(data: Path) -> None:
    """The console has the text of the command line; the notebook a table."""
    found = schemagen.verify(data)
    assert "train: 40 records in 1 file" in str(found)
    assert found.clean
    harmless(displayed(found) or "")
    shard = data / "train-00000-of-00001.tfrecord"
    damaged = bytearray(shard.read_bytes())
    damaged[60] ^= 1
    shard.write_bytes(damaged)
    found = schemagen.verify(data, "train")
    assert "SG507" in repr(found)
    assert "SG507" in harmless(displayed(found) or "").text
    assert "39 good records" in harmless(displayed(found.findings[0]) or "").text


def test_verify_compares_with_a_record(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record class, or the name of a record of the project, stands for its spec."""
    monkeypatch.chdir(Path(__file__).parents[2])
    assert schemagen.verify(data, record="digit").clean
    assert schemagen.verify(data, record=schemagen.describe("Digit")).clean
    found = schemagen.verify(data, record=PetPhoto)
    assert not found.clean
    assert found.splits[0].record == "pet_photo"


def test_inspection_shows_splits_keys_and_damage(data: Path) -> None:
    """The console has the text of the command line; the notebook tables."""
    found = schemagen.inspect(data, "train", limit=7)
    assert "7 records of tf.train.Example, 5 keys" in str(found)
    assert repr(found) == str(found)
    text = harmless(displayed(found) or "").text
    assert "7 records of tf.train.Example, 5 keys" in text
    shard = data / "train-00000-of-00001.tfrecord"
    shard.write_bytes(b"not records")
    assert shard.name in harmless(displayed(schemagen.inspect(data)) or "").text


def test_pictures_of_several_splits_have_their_names(tmp_path: Path) -> None:
    """As headings; those of one split need none."""
    row = {"image": encode_png(np.zeros((3, 3, 1), np.uint8))}
    found = []
    for split in ("train", "test"):
        write_file(tmp_path / "data" / f"{split}-00000-of-00001", [example(row)])
        html = displayed(schemagen.inspect(tmp_path / "data")) or ""
        found.append(re.findall(r'<p class="sg-h3">(train|test)</p>', html))
    assert found == [[], ["train", "test"]]


def test_a_record_of_a_project_is_described_by_name(workspace: Any) -> None:
    """`describe` takes a name or a class, and refuses data."""
    workspace.schema("from schemagen import Record\nclass Pet(Record):\n    age: int\n")
    spec = schemagen.describe("pet", project=workspace.root)
    assert str(spec).startswith("Pet (schemas/records.py), fingerprint ")
    assert "age Scalar" in harmless(displayed(spec) or "").text
    with pytest.raises(TypeError, match=r"schemagen\.inspect"):
        schemagen.describe(Path("data"))  # type: ignore[arg-type]
    data = workspace.root / "data"
    data.mkdir()
    with pytest.raises(SchemagenError) as caught:
        schemagen.describe(str(data), project=workspace.root)
    assert caught.value.findings[0].rule == "SG405"
