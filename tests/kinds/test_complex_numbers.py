"""Complex numbers, which vectors and tensors hold as raw bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
from command_line import refusals
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

class Wave(Record):
    phase: Annotated[list[complex], Vector((2,), "complex64")]
    field: Annotated[np.ndarray, Tensor((None,), "complex128")]
    level: float
"""
RECORD = "wave"


def wave(**values: Any) -> dict[str, Any]:
    """Return a good row, with other values of some fields."""
    return {"phase": [1 + 2j, -0.5], "field": np.ones(3) * 1j, "level": 1.0, **values}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([complex("nan"), 0], "finite numbers"),
        ([0, complex(0, np.inf)], "finite numbers"),
        ([1e300j, 0j], "in the range of float32"),
        ([2**60 + 1, 1j], "holds exactly"),
        ([True, False], "complex64"),
        (["1j", 0], "complex64"),
    ],
)
def test_what_the_parts_cannot_hold_is_refused(
    serializer: Any, value: Any, found: str
) -> None:
    """Both of them, by the rules of floats."""
    with pytest.raises(RecordError, match=f"phase.*{found}"):
        serializer.serialize(**wave(phase=value))


def test_a_part_that_is_not_finite_is_found_in_files(
    package: Workspace, serializer: Any, tmp_path: Path
) -> None:
    """By `verify` and by `open_split`; Arrow has no type for the others."""
    good = serializer.serialize(**wave())
    data = np.array([1, complex(0, np.nan)], np.complex64).tobytes()
    records = [good, changed(good, phase=blobs(data))]
    path = write_records(tmp_path / "x.tfrecord", records)
    [finding] = schemagen.verify(path, record=package.record("Wave")).findings
    assert (finding.rule, finding.field) == ("SG532", "phase")
    open_split = package.module(RECORD, "reader").open_split
    with pytest.raises(DatasetError, match=r"record 1.*finite numbers"):
        open_split(path)[1]
    path = write_records(tmp_path / "good.tfrecord", [good])
    with pytest.raises(DatasetError, match=r"'phase': to_arrow: .* no complex numbers"):
        open_split(path).to_arrow()
    assert open_split(path, fields=["level"]).to_arrow().num_rows == 1


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ('Vector((2,), "complex64", min=0)', "numbers that are not complex"),
        ('Vector((2,), "complex64", role="input")', "complex numbers"),
        ('Tensor((None,), "complex64", encoding="list", shape_key="s")', "'raw' or"),
    ],
)
def test_a_schema_says_what_complex_numbers_do_not_have(
    package: Workspace, kind: str, found: str
) -> None:
    """A range, a place in a model, and a list."""
    source = SCHEMA.replace('Vector((2,), "complex64")', kind)
    path = package.root / "schemas" / "other.py"
    path.write_text(
        source.replace("Wave", "Other").replace("list[complex]", "np.ndarray")
    )
    try:
        assert found in str(refusals(package.root))
    finally:
        path.unlink()
