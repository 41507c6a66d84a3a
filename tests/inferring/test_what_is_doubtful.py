"""What data does not tell is asked, and not guessed."""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import pickle
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from command_line import run
from damaged_files import flip_bit
from data.messages import write_file
from pictures import picture
from PIL import Image

from .inference import found_in, infer, many

if TYPE_CHECKING:
    from conftest import Workspace

Row = Callable[[int], dict[str, Any]]


def floats_of(seed: int, dtype: str = "<f4", number: int = 8) -> bytes:
    """Return numbers as they are measured."""
    return np.random.default_rng(seed).normal(size=number).astype(dtype).tobytes()


def waveform(number: int) -> bytes:
    """Return samples of a tone, as 16-bit integers."""
    tone = np.sin(np.arange(number) / 9) * 4000
    return tone.astype("<i2").tobytes()


def proto(dtype: int, content: bytes, *shape: int) -> bytes:
    """Return what tf.io.serialize_tensor makes of numbers."""
    sizes = b"".join(b"\x12\x02\x08" + bytes([size]) for size in shape)
    head = b"\x08" + bytes([dtype]) + b"\x12" + bytes([len(sizes)]) + sizes
    return head + b"\x22" + bytes([len(content)]) + content


FOUR = struct.pack("<4f", 1, 1, 1, 1)
DTYPES = (proto(1, FOUR, 4), proto(4, b"\1\1\1", 3))
RANKS = (proto(1, FOUR, 4), proto(1, FOUR, 2, 2))


def translucent() -> bytes:
    """Return a PNG of two channels."""
    out = io.BytesIO()
    Image.new("LA", (6, 4)).save(out, "PNG")
    return out.getvalue()


def photo(number: int, cut: int = 0) -> dict[str, Any]:
    """Return a row; in one picture are two channels, and the first may be cut."""
    image = translucent() if number == 7 else picture(4, 6)
    return {
        "image/encoded": image[:-9] if number < cut else image,
        **{"image/format": "PNG", "image/height": 4, "image/width": 6},
        "image/channels": 3,
    }


def smooth(height: int, width: int, channels: int, at: int) -> np.ndarray:
    """Return a picture whose neighbouring pixels are alike, of unlike colours."""
    down, right = np.mgrid[:height, :width]
    colours = [(down * (2 + c) + right * 3 + c * 70 + at) for c in range(channels)]
    return np.stack(colours, -1).astype(np.uint8)


def raw(pixels: np.ndarray) -> dict[str, Any]:
    """Return a row of raw pixels with their sizes."""
    return {"pixels": pixels.tobytes(), "rows": 16, "cols": 20, "depth": 3}


# Rows, the kind of their first key, names of the data that its comments have, and what
# else the kind has.
DOUBTS: dict[str, tuple[Row, str, tuple[str, ...], dict[str, Any]]] = {
    "a shape that would fit several": (
        lambda i: {
            **{"arr": floats_of(i), "big_endian": floats_of(i, ">f4")},
            **{"zeros": bytes(64), "shape": [2, 4]},
        },
        "Vector",
        ("float32", "int32, uint32"),
        {},
    ),
    "a shape that is named": (
        lambda i: {"arr": floats_of(i), "z": floats_of(9 + i), "arr_shape": [2, 4]},
        "Tensor",
        (),
        {"shape_key": "arr_shape"},
    ),
    "a shape of the only candidate": (
        lambda i: {"arr": floats_of(i), "shape": [2, 4]},
        "Tensor",
        ("float32: or int32 or uint32", "'shape'"),
        {"shape_key": "shape"},
    ),
    "a constant that divides the bytes": (
        lambda i: {"arr": floats_of(i, number=16), "n": 4, "size": 8, "len": 16},
        "Vector",
        ("float32",),
        {"shape": (16,)},
    ),
    "a count by its name": (
        lambda i: {"dots": floats_of(i, number=60), "num_dots": 20, "n": 4},
        "Tensor",
        ("'num_dots' is always 20", "a row of 60"),
        {"shape": (20, 3)},
    ),
    "a count of numbers in a list": (
        lambda i: {"dots": [i / 7] * 8, "num_dots": 4},
        "Vector",
        ("'num_dots' is always 4", "a row of 8"),
        {"shape": (4, 2)},
    ),
    "a count that varies with the bytes": (
        lambda i: {"arr": floats_of(i, number=3 * (i % 5 + 2)), "n": i % 5 + 2},
        "Tensor",
        (),
        {"shape": (None, 3)},
    ),
    "raw numbers of varying length": (
        lambda i: {"cloud": floats_of(i, number=3 * (i % 9 + 2))},
        "VarLen",
        ("24 to 120 bytes", "float32 numbers in items of 3: or single ones, int32"),
        {"encoding": "raw", "dtype": "float32", "item_shape": (3,)},
    ),
    "a waveform": (
        lambda i: {"audio": waveform(800 + 7 * i)},
        "VarLen",
        ("int16 numbers: or float16",),
        {"encoding": "raw", "dtype": "int16", "item_shape": ()},
    ),
    "a waveform in blocks": (
        lambda i: {"audio": waveform(160 * (i % 9 + 2))},
        "VarLen",
        ("or in items of 160",),
        {"encoding": "raw", "dtype": "int16", "item_shape": ()},
    ),
    "bytes without a pattern": (
        lambda i: {"x": np.random.default_rng(i).bytes(16 * (i + 1))},
        "Scalar",
        (),
        {"dtype": "bytes"},
    ),
    "tensors of two dtypes": (
        lambda i: {"t": DTYPES[i % 2]},
        "Scalar",
        ("float32 and uint8",),
        {},
    ),
    "tensors of two ranks": (
        lambda i: {"t": RANKS[i % 2]},
        "Scalar",
        ("float32 with 1 and 2 dimensions",),
        {},
    ),
    "a picture of other channels": (photo, "Scalar", ("1 of 30 images", "2"), {}),
    "damaged pictures": (
        lambda i: photo(i, cut=2),
        "Scalar",
        ("1 of 30 images", "2 of 30 images"),
        {},
    ),
    "channels last": (
        lambda i: raw(smooth(16, 20, 3, i)),
        "Image",
        ("'rows'", "3 x height x width"),
        {"shape": (16, 20, 3)},
    ),
    "grey pixels": (
        lambda i: {"x": bytes(range(64)), "h": 8, "w": 8},
        "Image",
        ("'h'",),
        {"shape": (8, 8, 1)},
    ),
}


@pytest.mark.parametrize("case", DOUBTS)
def test_what_data_does_not_tell_is_asked(tmp_path: Path, case: str) -> None:
    """By names and numbers of the data; nothing is declared that may be wrong."""
    row, kind, parts, others = DOUBTS[case]
    fields, said = found_in(tmp_path, many(row))
    key = next(iter(row(0)))
    assert fields[key].kind.kind == kind
    assert [part for part in parts if part not in said.get(key, "")] == []
    assert {name: getattr(fields[key].kind, name) for name in others} == others
    if kind == "Scalar":  # sizes and format say nothing that a model could learn from
        assert "input" not in {f.role for name, f in fields.items() if "/" in name}


def pixels(number: int) -> np.ndarray:
    """Return a picture: neighbors are alike."""
    y, x = np.mgrid[0:12, 0:10]
    colors = np.stack([y * 9, x * 11, y * 4 + x * 5], axis=2) + number
    return (colors % 256).astype(np.uint8)


def integers(number: int) -> np.ndarray:
    """Return five numbers of words."""
    return np.random.default_rng(number).integers(0, 50_000, 5).astype("<i8")


def shown(number: int) -> np.ndarray:
    """Return the pixels of an encoded picture."""
    return np.asarray(Image.open(io.BytesIO(picture(12, 10, seed=number))))


# Rows, and what is read of their first key with the declaration that is offered.
WRAPPED: dict[str, tuple[Row, Callable[[int], Any]]] = {
    "encoded images": (
        lambda i: {
            "image/encoded": base64.b64encode(picture(12, 10, seed=i)),
            "image/class/label": i % 3,
        },
        shown,
    ),
    "encoded images in the URL-safe alphabet": (
        lambda i: {
            "plot": base64.urlsafe_b64encode(picture(12, 10, seed=i)).rstrip(b"=")
        },
        shown,
    ),
    "raw pixels": (
        lambda i: {
            "image/encoded": base64.b64encode(pixels(i).tobytes()),
            **{"image/height": 12, "image/width": 10, "image/channels": 3},
        },
        pixels,
    ),
    "floats": (
        lambda i: {"embedding": base64.b64encode(floats_of(i))},
        lambda i: np.frombuffer(floats_of(i), "<f4"),
    ),
    "integers": (
        lambda i: {"ids": base64.b64encode(integers(i).tobytes())},
        integers,
    ),
    "lines": (lambda i: {"plot": base64.encodebytes(picture(12, 10, seed=i))}, shown),
}
# What the declarations use; the draft imports what it uses itself.
IMPORTS = (
    "from typing import Annotated",
    "import numpy as np",
    "from schemagen import *",
)


def pasted(text: str, key: str, names: dict[str, str]) -> str:
    """Return a schema with the declaration that a comment offers in place of a field."""
    comments = re.sub(r"\n    #\s+", " ", text)
    offer = re.search(r"declare it as (Annotated\[.*?\)\])", comments)
    assert offer is not None
    removed = re.search(r"leave out .*? of ('[^\n]*)", comments)
    gone = {names[key] for key in re.findall(r"'(.*?)'", removed[1] if removed else "")}
    lines = text.splitlines()
    [declared] = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef)]
    for node in reversed(declared.body):
        assert isinstance(node, ast.AnnAssign)
        name = ast.unparse(node.target)
        place = slice(node.lineno - 1, node.end_lineno)
        if name == names[key]:
            lines[place] = [f"    content: {offer[1]}"]
        elif name in gone:
            lines[place] = []
    return "\n".join((*IMPORTS, *lines, ""))


@pytest.mark.parametrize("case", WRAPPED)
def test_base64_text_has_the_declaration_that_reads_it(
    workspace: Workspace, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is pasted over the draft's, and the fields that it names are removed."""
    row, content = WRAPPED[case]
    data = write_file(workspace.root / "old" / "train.tfrecord", many(row))
    found = infer(data, workspace.root / "schemas" / "found.py")
    names = {key: field.name for key, field in found.fields.items()}
    found.path.write_text(pasted(found.text, next(iter(row(0))), names))
    workspace.generate()
    monkeypatch.chdir(workspace.root)
    verified = run("verify", data, "--record", "found")
    assert verified.exit_code == 0, verified.output
    make_dataset = workspace.module("found", "pipeline").make_dataset
    for number, batch in enumerate(make_dataset(str(data), batch_size=1)):
        features = batch[0] if isinstance(batch, tuple) else batch
        np.testing.assert_array_equal(features["content"][0], content(number))
    assert number == 29


def npy(array: np.ndarray) -> bytes:
    """Return an array as np.save writes it."""
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


# Values, and what their comment names; nothing is said of ordinary text.
OTHERS: dict[str, tuple[str, Callable[[int], Any], str]] = {
    "paths": ("image", lambda i: f"images/{i:03}.jpg", "'images/000.jpg'"),
    "paths under any key": ("x", lambda i: f"a/B c/{i:03}.png", "'a/B c/000.png'"),
    "pickles": ("image", lambda i: pickle.dumps({"pixels": pixels(i)}), "pickle"),
    "npy": ("image", lambda i: npy(np.full((3, 4), i, "<f4")), ".npy"),
    "zlib": ("image", lambda i: zlib.compress(picture(9, 9, seed=i)), "zlib"),
    "npy in base64": (
        "image",
        lambda i: base64.b64encode(npy(np.full((3, 4), i, "<i8"))),
        ".npy",
    ),
    "HEIC in base64": (
        "image",
        lambda i: base64.b64encode(b"\0\0\0\x18ftypheic" + bytes(range(i, i + 40))),
        "a HEIC image, which no kind reads",
    ),
    "JPEG XL": (
        "image",
        lambda i: b"\xff\x0a" + bytes(range(i, i + 40)),
        "with Pillow and pillow-jxl-plugin",
    ),
    "FLAC": ("sound", lambda i: b"fLaC" + bytes(range(i, i + 40)), "a damaged FLAC"),
    "hashes in hex": (
        "image",
        lambda i: hashlib.sha256(b"%d" % i).hexdigest(),
        "a name",
    ),
    "hashes in base64": (
        "image",
        lambda i: base64.b64encode(hashlib.sha256(b"%d" % i).digest()),
        "",
    ),
    "long words": ("image", lambda i: "counterrevolutionaries" + "abc" * (i + 1), ""),
    "sentences": ("image", lambda i: f"a picture of {i} cats and nothing else", ""),
    "names of files": ("image/filename", lambda i: f"{i:06}.jpg", ""),
    "titles": ("title", lambda i: f"ID3{i}", "a name of its own"),
    "base64 but for the last": (
        "plot",
        lambda i: base64.b64encode(picture(5, 5)) if i < 29 else b"none",
        "",
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_content_that_no_kind_reads_is_named(tmp_path: Path, case: str) -> None:
    """It stays text or bytes. Words that never repeat name their record."""
    key, value, part = OTHERS[case]
    fields, said = found_in(tmp_path, many(lambda i: {key: value(i), "w": i}))
    assert fields[key].kind.kind in ("Text", "Scalar", "VarLen")
    assert part in said.get(key, "")
    assert bool(said.get(key)) == bool(part)


# Rows, and the options of a call that is hinted at; one file is damaged.
HINTS: list[tuple[Row, dict[str, Any]]] = [
    (lambda i: {"bbox/xmin": [0.5] * (i % 3 + 1), "z": i}, {"info": True}),
    (lambda i: {"bbox/xmin": [0.5] * (i % 3 + 1)}, {}),
    (lambda i: {"label": picture(4, 4)}, {}),
    (lambda i: {"label": i % 2, "z": i / 7}, {"on_corrupt": "skip"}),
]


@pytest.mark.parametrize(("row", "options"), HINTS)
def test_calls_in_hints_work_with_the_generated_code(
    workspace: Workspace, row: Row, options: dict[str, Any]
) -> None:
    """With the data that they are given for."""
    data = write_file(workspace.root / "old" / "train.tfrecord", many(row))
    if "on_corrupt" in options:
        flip_bit(data, -20)
    done = run("infer", data, "--out", workspace.root / "schemas" / "found.py")
    assert done.exit_code == ("on_corrupt" in options)
    calls = [f"{name}={value!r}".replace("'", '"') for name, value in options.items()]
    assert re.findall(r"make_dataset\((.*?)\)", done.output) == calls
    workspace.generate()
    make_dataset = workspace.module("found", "pipeline").make_dataset
    if options:
        assert len(list(make_dataset(str(data), batch_size=1, **options))) >= 29
    if "info" in options:
        with pytest.raises(ValueError, match=r"make_dataset\(info=True\)"):
            make_dataset(str(data), batch_size=4, fields=["bbox_xmin"])
