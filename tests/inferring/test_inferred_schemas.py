"""What is declared of each kind of thing that records hold, and that it is true.

Records are cases of single kinds, those of public formats, and random ones.
"""

from __future__ import annotations

import ast
import importlib
import io
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import schemagen
from command_line import make_project
from contract.generated_records import generate_records, importable, random_records
from data.messages import NO_BYTES, example, write_file
from formats.test_formats import NAMES as NAMES_OF_FORMATS
from formats.test_formats import format_of
from pictures import picture
from PIL import Image

from .inference import Inferred, infer
from .readings import check_readings

WRITTEN = Path(__file__).parent / "written"
FORMATS = sorted(path.stem for path in WRITTEN.glob("*.py") if path.stem != "cases")
RECORDS = 30
FEW = 4  # TensorFlow takes a moment for each record
TARGETS = ("Label", "Mask", "MultiLabel", "Scalar", "Vector")  # with a head of a model
MODULES = ("numbers", "texts")  # of the contract, whose random records are taken
NAMES = ("cat", "dog", "eel")
YES = ("Yes", "No")
NAN, INFINITE = float("nan"), float("inf")


def floats(number: int, value: float = 0.5) -> Any:
    """Return a list of floats, which may be empty."""
    return np.full(number, value, np.float32)


def noise(size: int, seed: int = 0) -> bytes:
    """Return random bytes."""
    return np.random.default_rng(seed).bytes(size)


def measured(number: int, dtype: str, seed: int = 0) -> bytes:
    """Return numbers as they are measured, raw."""
    return np.random.default_rng(seed).normal(size=number).astype(dtype).tobytes()


def png(pixels: Any, mode: str | None = None) -> bytes:
    """Return pixels as a PNG: of 16 bits, or with a palette as masks are."""
    image = Image.fromarray(pixels, mode)
    if mode == "P":
        image.putpalette([1, 2, 3, 4, 5, 6])
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


DEEP = png(np.full((4, 5), 40_000, np.uint16))
PALETTE = png(np.ones((4, 5), np.uint8), "P")


def proto(*shape: int) -> bytes:
    """Return what tf.io.serialize_tensor makes of ones."""
    sizes = b"".join(b"\x12\x02\x08" + bytes([size]) for size in shape)
    content = np.ones(shape, "<f4").tobytes()
    head = b"\x08\x01\x12" + bytes([len(sizes)]) + sizes
    return head + b"\x22" + bytes([len(content)]) + content


def blob(height: int, width: int, seed: int = 0) -> bytes:
    """Return raw pixels of a spot somewhere."""
    down, right = np.random.default_rng(seed).normal(size=2) / 4
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    spot = 200 * np.exp(-3 * ((y - down) ** 2 + (x - right) ** 2))
    return spot.astype(np.uint8).tobytes()


def token_ids(number: int) -> list[int]:
    """Return tokens that are filled up to 16."""
    return [7] * (number % 16 + 1) + [0] * (15 - number % 16)


# Keys that have nothing to do with each other, by the name of a class: see
# `written/cases.py`.
ROWS: dict[str, Callable[[int], Mapping[str, Any]]] = {
    "Plain": lambda i: {
        **{"a": i, "b": i / 7, "whole": float(i), "text": f"text {i}"},
        **{"blob": noise(i + 3, i), "image_name": f"{i}", "car": "BMW"},
        **{"tags": ["a"] * (i % 3 + 1), "numbers": [1] * (i % 4), "five": floats(5)},
        **{"nan": NAN if i == 3 else 0.5, "infinite": floats(2, INFINITE)},
        **{"is_open": i % 2, "valid": [1, 0] * (i % 3), "adult": i % 2},
        "weight": i / 7,
    },
    "Missing": lambda i: {
        **({"b": 1.5, "c": "x", "d": [1] * (i % 3)} if i else {}),
        **{"a": 1, "e": None if i == 3 else 2, "maybe": [7] * (i % 2)},
    },
    "LeftOut": lambda i: {
        **{"a": i if i % 2 else "x", "b": i, "c": None},
        "d": 0 if i % 2 else 0.0,
    },
    "Highest": lambda i: {"label": i % 10, "constant/label": 0},
    "FromOne": lambda i: {
        "class_id": i % 4 + 1,
        "other/label": -1 if i == 1 else i % 3,
    },
    "Signs": lambda i: {
        **{"label": 2 * (i % 2) - 1, "category": f"{i % 10 + 2}"},
        **{
            "clicked": 1 - 2 * (i // 2 % 2),
            "sentiment": i % 3 - 1,
            "outcome": YES[i // 5 % 2],
        },
    },
    "NamedBoxes": lambda i: {
        "image/encoded": picture(4, 5),
        **{"image/object/class/label": [1 + each % 3 for each in range(i % 4 + 1)]},
        **{"image/object/class/text": [NAMES[each % 3] for each in range(i % 4 + 1)]},
    },
    "BoxNames": lambda i: {
        "image/encoded": picture(4, 5),
        "image/object/class/text": [NAMES[each % 3] for each in range(i % 4 + 1)],
    },
    "Named": lambda i: {"class/label": i % 3, "class/text": NAMES[i % 3]},
    "SomeNamed": lambda i: {"class/label": 2 * (i % 2), "class/text": NAMES[i % 2]},
    "Species": lambda i: {"species": NAMES[i % 3], "labels": list(range(i % 4, 6))},
    "ManySpecies": lambda i: {"species": f"species {i}"},
    "Photo": lambda i: {
        **{"photo": picture(4, 5, form="jpeg"), "photo/format": "JPG"},
        **{"photo/height": 4, "photo/width": 5},
    },
    "Pictures": lambda i: {
        **{"several_sizes": picture(14 + i % 2, 15 + i % 3), "deep": DEEP},
        "any/encoded": picture(6, 7, form=("png", "jpeg")[i % 2]),
        **{"any/format": ("png", "jpeg")[i % 2], "grey": picture(8, 9, (1, 3)[i % 2])},
        **{"depths": DEEP if i % 2 else picture(4, 5, 1), "cars": [picture(4, 9)] * 3},
        **{"none": b"" if i == 3 else picture(9, 5)},
        "broken": picture(5, 5)[: 50 if i == 3 else None],
        "frames": [picture(4 + i % 2, 3)] * (i % 3 + 1),
    },
    "OtherSize": lambda i: {
        **{"image": picture(4, 5), "height": 4 if i else 9, "width": 5},
    },
    "Masks": lambda i: {
        **{"image": picture(4, 5, form="jpeg"), "mask": PALETTE},
        "depth": picture(4, 5, 1),
    },
    "RawPixels": lambda i: {
        **{"height": 4 + i % 3, "width": 6, "depth": 3},
        "image_raw": noise(18 * (4 + i % 3), i),
    },
    "Panoptic": lambda i: {
        **{"image/encoded": picture(4 + i % 3, 6), "image/height": 4 + i % 3},
        **{"image/width": 6, "panoptic/height": 4 + i % 3, "panoptic/width": 6},
        "panoptic": struct.pack(f"<{(4 + i % 3) * 6}i", *[i] * (4 + i % 3) * 6),
    },
    "RawNumbers": lambda i: {
        **{"x": measured((2 + i % 3) * 5, "<f4", i), "x/shape": [2 + i % 3, 5]},
        **{"digit": noise(784, i), "pixels": noise(3072, i), "spot": blob(28, 28, i)},
        **{
            "row": measured(61, "<f4", i),
            "hot": np.eye(4, dtype="u1")[i % 4].tobytes(),
        },
        "ids": np.arange(i, i + 9, dtype="<i8").tobytes(),
    },
    "Shaped": lambda i: {
        **{"height": 4, "width": 6, "depth": 3, "pixels": list(range(72))},
        **{"num_points": i % 7 + 1, "points": floats(3 * (i % 7 + 1))},
        **{"grid": list(blob(10, 10, i)), "cloud/xyz": floats(60)},
        "cloud/label": [1, 2] * 10,
    },
    "OneObject": lambda i: {
        **{"image/object/bbox/xmin": 0.25, "image/object/bbox/xmax": 0.5},
        **{"image/object/class/label": i % 3, "image/encoded": picture(4, 5)},
    },
    "Answers": lambda i: {
        **{"x": floats(4), "label": float(i % 2), "targets": floats(3), "image_id": i},
        **{"label_one_hot": [int(i % 3 == at) for at in range(3)], "user_id": i},
        **{"input_ids": [1] * (i % 5 + 1), "example_weight": 0.5},
        **{"loss_weights": floats(2), "image/key/sha256": "ab"},
    },
    "Structures": lambda i: {
        **{"same": proto(2, 3), "rows": proto(i % 3 + 1, 2)},
        "a/ragged_flat_values": [1] * (i % 4 * 2),
        "a/ragged_row_lengths_0": [2] * (i % 4),
    },
    "Lists": lambda i: {
        **{"boxes/xmin": floats(i % 4), "boxes/xmax": floats(i % 4)},
        "boxes/name": ["a"] * (i % 4) or NO_BYTES,
        **{"steps/reward": floats(i % 9), "steps/state": floats(i % 9 * 7)},
        **{"alone": floats(11 if i == 1 else 13)},
    },
    "Padded": lambda i: {
        **{"input_ids": token_ids(i), "segment_ids": [0] * 16, "pixels": [0, 1] * 8},
        "input_mask": [min(one, 1) for one in token_ids(i)],
    },
    "Nested": lambda i: {
        **{"robot/state": floats(7), "robot/arm/x": 0.5, "robot/arm/y": 0.5},
        **{"meta/id": "a", "b/image": picture(4, 5), "b/d": i, "b/e": i, "height": 4},
    },
}


def rows_of_cases(root: Path) -> dict[str, list[bytes]]:
    """Return the records of each case by the name of its schema file."""
    return {
        case.lower(): [example(row(number)) for number in range(RECORDS)]
        for case, row in ROWS.items()
    }


def records_of_formats(root: Path) -> dict[str, list[bytes]]:
    """Return the records of each format, as its original code writes them."""
    formats = {name: format_of(name) for name in NAMES_OF_FORMATS}
    return {
        name: [original.write(row) for row in original.rows]
        for name, original in formats.items()
    }


def records_of_contract(root: Path) -> dict[str, list[bytes]]:
    """Return records of random rows of the contract's schemas, the same in each run."""
    with importable(root):
        cases = generate_records(root, "inferred_contract", *MODULES)
        return {
            f"again_{case.case.class_name.lower()}": [
                case.serializer.serialize(**row) for row in case.samples(5)
            ]
            for case in cases
        }


RANDOM = [f"again_{case.class_name.lower()}" for case in random_records(*MODULES)]
SOURCES = {
    "cases": rows_of_cases,
    "formats": records_of_formats,
    "random": records_of_contract,
}


@dataclass(frozen=True)
class Case:
    """Records, and the schema and the code that come of them."""

    messages: list[bytes]
    inferred: Inferred
    package: str

    @property
    def parser(self) -> ModuleType:
        """The generated parser."""
        return importlib.import_module(
            f"{self.package}.{self.inferred.spec.record}.parser"
        )


@pytest.fixture(scope="session")
def cases_of(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], Mapping[str, Case]]]:
    """A project for each source, with a schema of each of its cases."""
    with ExitStack() as stack:

        @cache
        def make(source: str) -> Mapping[str, Case]:
            root = tmp_path_factory.mktemp(source)
            package = f"inferred_{source}"
            make_project(root, {}, output=package)
            classes = {case.lower(): case for case in ROWS}
            found = {}
            for name, messages in SOURCES[source](root / "written").items():
                data = write_file(root / "data" / f"{name}.tfrecord", messages)
                named = {"name": classes[name]} if source == "cases" else {}
                inferred = infer(data, root / "schemas" / f"{name}.py", **named)
                found[name] = Case(messages, inferred, package)
            schemagen.generate(root)
            stack.enter_context(importable(root))
            return found

        yield make


def declarations(text: str) -> dict[str, tuple[list[str], set[str]]]:
    """Return the fields of each class of a file, and those of which there is a doubt."""
    lines = text.splitlines()
    found = {}
    for node in ast.parse(text).body:
        if not isinstance(node, ast.ClassDef):
            continue
        doubtful = set()
        for each in (node, *node.body):
            above = each.lineno - 2
            while lines[above].lstrip().startswith("#"):
                if lines[above].lstrip().startswith("# doubt"):
                    target = getattr(each, "target", None)
                    doubtful.add(ast.unparse(target) if target else "")
                above -= 1
        found[node.name] = ([ast.unparse(each) for each in node.body], doubtful)
    return found


def quick(source: str, names: Iterable[str], number: int) -> list[Any]:
    """Return the cases of a source, of which all but the first are slow."""
    return [
        pytest.param(source, name, marks=[] if at < number else pytest.mark.slow)
        for at, name in enumerate(names)
    ]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        *quick("cases", [case.lower() for case in ROWS], 15),
        *quick("formats", NAMES_OF_FORMATS, 19),
        *quick("random", RANDOM, 2),
    ],
)
def test_inferred_schema_is_true_of_its_records(
    cases_of: Callable[[str], Mapping[str, Case]], source: str, name: str
) -> None:
    """`verify` finds nothing, and the parser delivers what protobuf finds."""
    case = cases_of(source)[name]
    checked = schemagen.verify(case.inferred.data, record=case.inferred.spec)
    assert checked.clean
    assert checked.records == len(case.messages)
    few = case.messages[: FEW if source == "cases" else None]
    check_readings(case.inferred.spec, case.parser, few)


@pytest.mark.parametrize("name", NAMES_OF_FORMATS)
def test_no_key_of_a_format_is_left_out(
    cases_of: Callable[[str], Mapping[str, Case]], name: str
) -> None:
    """Except one that has no value in any record."""
    left_out = re.findall("left out '(.*?)'", cases_of("formats")[name].inferred.output)
    assert left_out == (["pickup_census_tract"] if name == "chicago_taxi" else [])


@pytest.mark.parametrize("case", ROWS)
def test_inferred_schema_is_what_a_person_would_write(
    cases_of: Callable[[str], Mapping[str, Case]], case: str
) -> None:
    """Roles are only suggested for fields that can have them."""
    written = declarations((WRITTEN / "cases.py").read_text())
    inferred = cases_of("cases")[case.lower()].inferred
    found = declarations(inferred.text)
    assert found == {name: written[name] for name in found}
    suggestions = re.findall(r"is it ([^?]*)\? Give it role=\"(\w+)\"", inferred.prose)
    for keys, role in suggestions:
        for key in re.findall(r"'([^']+)'(?! as a Label)", keys):
            field = inferred.fields[key]
            kind = field.kind.of_step
            assert kind.dtype != "bytes"
            assert kind.kind != "Image" or kind.shape[2] is not None
            assert kind.kind != "Mask" or kind.num_classes
            if role == "target":
                assert field.kind.kind in TARGETS
                assert not field.optional


@pytest.mark.parametrize("name", FORMATS)
def test_file_of_a_format_is_what_a_person_would_write(
    name: str, tmp_path: Path
) -> None:
    """Whole; of twelve times the records of the format's own test.

    So that what is alike in them is taken for more than chance.
    """
    original = format_of(name)
    messages = [original.write(row) for row in original.rows] * 12
    data = write_file(tmp_path / "data.tfrecord", messages)
    found = infer(data, tmp_path / f"{name}.py")
    assert found.text == (WRITTEN / f"{name}.py").read_text()
