"""Images under numbered keys are one field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import run
from data.messages import write_file
from pictures import picture

from .inference import found_in, infer, many


def frames(key: str, numbers: range) -> Any:
    """Return a function that makes a row with an image under each of some keys."""
    return lambda at: {key.format(n): picture(8, 8, seed=at * 100 + n) for n in numbers}


def both(*rows: Any) -> Any:
    """Return a function that makes a row of the keys of several."""
    return lambda at: {key: value for row in rows for key, value in row(at).items()}


CASES = {
    "frames/{:04d}": (range(64), "frames"),
    "frame_{}": (range(12), "frame"),
    "image_{}": (range(1, 11), "image"),
    "{}/image_aux1/encoded": (range(3), "image_aux1"),
    "clip/{:02d}.png": (range(7, 103), "clip_png"),
    "{}": (range(3), "images"),
    "a{{b}}{:03d}": (range(98, 101), "a_b"),
}


@pytest.mark.parametrize("keys", CASES)
def test_images_under_consecutive_numbers_are_one_field(
    tmp_path: Path, keys: str
) -> None:
    """Named after what all keys have; `verify` takes what was read."""
    numbers, name = CASES[keys]
    row = both(frames(keys, numbers), lambda at: {"label": at % 3})
    fields, comments = found_in(tmp_path, many(row))
    first, last = keys.format(numbers[0]), keys.format(numbers[-1])
    assert fields.keys() == {first, "label"}
    kind = fields[first].kind
    assert (fields[first].name, kind.kind, kind.count) == (name, "Images", len(numbers))
    assert (kind.keys, kind.keys_from) == (keys, numbers[0])
    assert comments[first] == (
        f"an image under each of {len(numbers)} keys, from {first!r} to {last!r}"
    )


def test_several_rows_of_images_and_those_in_a_model_are_fields(tmp_path: Path) -> None:
    """Also of any size, and where some records have none of them."""
    row = both(
        frames("{}/main/encoded", range(3)),
        frames("{}/aux1/encoded", range(3)),
        lambda at: {f"a/f_{n}": picture(9 + n + at % 2, 8) for n in range(3)},
        lambda at: {"a/x": at % 5},
        lambda at: frames("late{}", range(3))(at) if at % 2 else {},
    )
    fields, comments = found_in(tmp_path, many(row))
    assert fields.keys() == {
        *("0/main/encoded", "0/aux1/encoded", "a/f_0", "a/x", "late0")
    }
    assert fields["a/f_0"].path == ("a", "f")
    assert fields["a/f_0"].kind.keys == "a/f_{}"
    assert fields["a/f_0"].kind.resize is not None
    assert "sizes from 9x8 to 12x8" in comments["a/f_0"]
    assert fields["late0"].optional
    assert not fields["0/main/encoded"].optional


SEPARATE = {
    "a pair": frames("image_{}", range(2)),
    "a gap": both(frames("i{}", range(2)), frames("i{}", range(3, 5))),
    "two formats": both(
        frames("i{}", range(2)), lambda at: {"i2": picture(8, 8, form="JPEG", seed=at)}
    ),
    "two depths": both(
        frames("i{}", range(2)), lambda at: {"i2": picture(8, 8, 4, seed=at)}
    ),
    "not in all records": both(
        frames("i{}", range(2)),
        lambda at: {"i2": picture(8, 8, seed=at)} if at % 2 else {},
    ),
    "a number": both(frames("i{}", range(2)), lambda at: {"i2": at}),
    "two ways of counting": both(
        frames("i{:02d}", range(1)), frames("i{}", range(1, 3))
    ),
}


@pytest.mark.parametrize("case", SEPARATE)
def test_others_are_fields_of_their_own(tmp_path: Path, case: str) -> None:
    """What is no clip for certain."""
    rows = many(SEPARATE[case])
    data = write_file(tmp_path / "records", rows)
    found = infer(data, tmp_path / "found.py")
    assert "Images(" not in found.text
    assert len(found.fields) == len({k for at in range(2) for k in SEPARATE[case](at)})


def test_what_was_inferred_reads_the_records(tmp_path: Path) -> None:
    """In a project."""
    data = write_file(tmp_path / "records", many(frames("f/{:02d}", range(5))))
    (tmp_path / "pyproject.toml").write_text("[tool.schemagen]\n")
    infer(data, tmp_path / "schemas" / "found.py", name="Found")
    result = run("verify", data, "--record", "found", "--project", tmp_path)
    assert result.exit_code == 0, result.output
