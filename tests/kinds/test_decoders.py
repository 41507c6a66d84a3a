"""Decoders of users: which schemas name them, and what becomes of wrong ones.

What they deliver in all ways of reading is in `tests/contract`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import schemagen
import tensorflow as tf
from command_line import refusals
from contract.decoders import saved
from contract.hostile_texts import HOSTILE
from schemagen.runtime.shared.errors import DatasetError

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

_SCHEMA = """
from typing import Annotated
from schemagen import Record, Scalar

class Clip(Record):
    scan: int
    frames: Annotated[bytes, Scalar("bytes", decoder={!r}, shape=(None, 2), decoded_dtype="uint8")]
"""
# What is decoded is to a model what a tensor of its shape and dtype is.
_KINDS = {
    "Decoded": """bytes{missing}, Scalar("bytes", decoder="contract.decoders:load", shape={shape}, decoded_dtype={dtype!r})""",
    "Stored": "np.ndarray{missing}, Tensor({shape}, {dtype!r}, encoding='proto')",
}
_FIELDS = {
    "frames": ("", (None, 2, 3), "uint8"),
    "grid": (" | None", (None, 2, None), "int16"),
    "spectrum": ("", (2, 3), "float32"),
    "level": (" | None", (), "float64"),
}


def _twins() -> str:
    """Return the source of records of the same arrays, in files and as tensors."""
    lines = [
        "from typing import Annotated",
        "import numpy as np",
        "from schemagen import *",
    ]
    for name, kind in _KINDS.items():
        lines.append(f"class {name}(Record):")
        for field, (missing, shape, dtype) in _FIELDS.items():
            declared = kind.format(missing=missing, shape=shape, dtype=dtype)
            default = " = None" * bool(missing)
            lines.append(f"    {field}: Annotated[{declared}]{default}")
        lines.append("    label: Annotated[int, Label(num_classes=2)]")
    return "\n".join(lines)


_WRONG = {
    "nothing": (
        b"",
        "contract.decoders:load returned None, expected uint8 [?, 2]",
    ),
    "not an array": (b"damaged", "contract.decoders:load raised ValueError: "),
    "another dtype": (
        saved(np.zeros((3, 2))),
        "contract.decoders:load returned float64 [3, 2], expected uint8 [?, 2]",
    ),
    "another shape": (
        saved(np.zeros((3, 1), np.uint8)),
        "contract.decoders:load returned uint8 [3, 1], expected uint8 [?, 2]",
    ),
}


@pytest.fixture(scope="module")
def clip(package_of: PackageOf) -> Workspace:
    """A record with a field that the tests' decoder decodes."""
    return package_of(_SCHEMA.format("contract.decoders:load"))


def _write(package: Workspace, directory: Path, *wrong: bytes) -> None:
    frames = [saved(np.full((at, 2), at, np.uint8)) for at in range(6)]
    rows = [
        {"scan": at, "frames": data}
        for at, data in enumerate([*frames[:3], *wrong, *frames[3:]])
    ]
    package.module("clip", "serializer").write_dataset(rows, directory, "train")


@pytest.mark.parametrize("wrong", _WRONG)
def test_what_a_decoder_refuses_is_named_with_its_record(
    clip: Workspace, tmp_path: Path, wrong: str
) -> None:
    """By both readers; it is skipped if they skip damage, and `verify` does not decode."""
    data, words = _WRONG[wrong]
    _write(clip, tmp_path, data)
    open_split = clip.module("clip", "reader").open_split
    make_dataset = clip.module("clip", "pipeline").make_dataset
    place = "train-00000-of-00001.tfrecord: record 3: field "
    with pytest.raises(DatasetError) as caught:
        list(open_split(tmp_path, "train").batches(7))
    assert f"{place}'frames': it cannot be decoded: {words}" in str(caught.value)
    with pytest.raises(tf.errors.InvalidArgumentError) as refused:
        list(make_dataset(tmp_path, "train", batch_size=4))
    assert f"{place}`frames`: it cannot be decoded: {words}" in str(refused.value)
    for error in (caught.value, refused.value):
        assert "its bytes pass the checks of `schemagen verify`" in str(error)
        assert "reports everything" not in str(error)
    with pytest.warns(RuntimeWarning, match="1 record is left out"):
        rows = list(open_split(tmp_path, "train", on_corrupt="skip"))
    assert [row["scan"] for row in rows] == [0, 1, 2, 4, 5, 6]
    skipping = make_dataset(tmp_path, "train", batch_size=4, on_corrupt="skip")
    scans = np.concatenate([features["scan"] for features in skipping])
    assert scans.tolist() == [0, 1, 2, 4, 5, 6]
    assert schemagen.verify(tmp_path).clean


def test_an_error_that_does_not_come_again_is_none_of_the_record(
    package_of: PackageOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Python before 3.11.8 `numpy.load` raises SystemError now and then in threads."""
    (tmp_path / "sometimes.py").write_text(
        "from contract.decoders import load\n"
        "failed = set()\n"
        "def load_second(data):\n"
        "    if data in failed:\n"
        "        return load(data)\n"
        "    failed.add(data)\n"
        "    raise SystemError('AST constructor recursion depth mismatch')\n"
    )
    package = package_of(_SCHEMA.format("sometimes:load_second"))
    monkeypatch.syspath_prepend(tmp_path)
    _write(package, tmp_path / "data")
    split = package.module("clip", "reader").open_split(tmp_path / "data", "train")
    assert [row["scan"] for row in split] == [0, 1, 2, 3, 4, 5]
    assert len(sys.modules["sometimes"].failed) == 6


def test_bytes_stay_if_images_are_not_decoded(clip: Workspace, tmp_path: Path) -> None:
    """As encoded images do; one that cannot be decoded, too."""
    _write(clip, tmp_path, b"damaged")
    open_split = clip.module("clip", "reader").open_split
    split = open_split(tmp_path, "train", decode_images=False)
    assert split[3]["frames"] == b"damaged"
    (batch,) = split.batches(7)
    assert batch["frames"][3] == b"damaged"


@pytest.mark.parametrize(
    ("decoder", "words"),
    [
        ("no_such_module:load", "No module named 'no_such_module'"),
        ("contract.decoders:no_such_function", "no attribute 'no_such_function'"),
    ],
)
def test_a_decoder_that_cannot_be_imported_is_named_when_data_is_opened(
    package_of: PackageOf, tmp_path: Path, decoder: str, words: str
) -> None:
    """Not when code is generated, or data is written."""
    package = package_of(_SCHEMA.format(decoder))
    _write(package, tmp_path)
    open_split = package.module("clip", "reader").open_split
    make_dataset = package.module("clip", "pipeline").make_dataset
    for read in (
        lambda: open_split(tmp_path, "train"),
        lambda: make_dataset(tmp_path, "train", batch_size=2),
    ):
        with pytest.raises(DatasetError) as caught:
            read()
        assert f"field 'frames': the decoder '{decoder}' cannot be " in str(
            caught.value
        )
        assert words in str(caught.value)
    assert len(open_split(tmp_path, "train", fields=["scan"])) == 6


def test_a_module_is_not_imported_before_it_decodes(
    package_of: PackageOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Generating, writing, `verify` and `inspect` do not run code that a schema names."""
    (tmp_path / "bombs.py").write_text("raise SystemError('imported')\n")
    package = package_of(_SCHEMA.format("bombs:load"))
    monkeypatch.syspath_prepend(tmp_path)
    _write(package, tmp_path / "data")
    assert schemagen.verify(tmp_path / "data").clean
    schemagen.inspect(tmp_path / "data")
    assert "bombs" not in sys.modules
    with pytest.raises(DatasetError, match="SystemError: imported"):
        package.module("clip", "reader").open_split(tmp_path / "data", "train")


@pytest.mark.parametrize("text", HOSTILE, ids=map(str, range(len(HOSTILE))))
def test_other_texts_than_names_are_refused(workspace: Workspace, text: str) -> None:
    workspace.schema(_SCHEMA.format(text))
    (refusal,) = refusals(workspace.root)
    assert "'package.module:function'" in str(refusal)


def test_another_decoder_reads_data_as_it_is(
    clip: Workspace, package_of: PackageOf, tmp_path: Path
) -> None:
    """Bytes are the same with any decoder, and with none."""
    _write(clip, tmp_path)
    without = _SCHEMA.format("").replace(
        'Scalar("bytes", decoder=\'\', shape=(None, 2), decoded_dtype="uint8")',
        'Scalar("bytes")',
    )
    found: Any = package_of(without).module("clip", "reader").open_split(tmp_path)
    assert found[1]["frames"] == saved(np.full((1, 2), 1, np.uint8))


def test_models_take_arrays_as_they_take_tensors(
    package_of: PackageOf, tmp_path: Path
) -> None:
    """The same batches and predictions; a SavedModel takes the arrays alone."""
    package = package_of(_twins())
    random = np.random.default_rng(3)

    def array(name: str, at: int) -> Any:
        missing, shape, dtype = _FIELDS[name]
        if missing and at % 3 == 0:
            return None
        sizes = [at % 4 if size is None else size for size in shape]
        return np.asarray(random.integers(0, 9, sizes)).astype(dtype)

    rows = [{name: array(name, at) for name in _FIELDS} for at in range(8)]
    models, batches = {}, {}
    for record in ("decoded", "stored"):
        write = package.module(record, "serializer").write_dataset
        kept = saved if record == "decoded" else np.asarray
        given = (
            {name: None if each is None else kept(each) for name, each in row.items()}
            for row in rows
        )
        labelled = ({**row, "label": at % 2} for at, row in enumerate(given))
        write(labelled, tmp_path / record, "train")
        module = package.module(record, "model")
        make_dataset = package.module(record, "pipeline").make_dataset
        dataset = make_dataset(tmp_path / record, "train", batch_size=8)
        models[record] = module.build_model()
        module.adapt(models[record], dataset)
        module.check_dataset(models[record], dataset)
        ((batches[record], _),) = dataset
        split = package.module(record, "reader").open_split(tmp_path / record)
        ((features, labels),) = split.to_tf(8)
        assert features.keys() == batches[record].keys()
        for name, values in features.items():
            np.testing.assert_array_equal(values, batches[record][name])
        assert labels.shape == (8,)
    decoded, stored = models.values()
    stored.set_weights(decoded.get_weights())
    expected = stored(batches["stored"])
    np.testing.assert_allclose(decoded(batches["decoded"]), expected, atol=1e-6)
    with pytest.warns(RuntimeWarning, match="'frames' is.*uint8.*and no `examples`"):
        package.module("decoded", "model").export_serving(decoded, tmp_path / "served")
    served = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    assert served.structured_input_signature[1].keys() == batches["decoded"].keys()
    found = served(**batches["decoded"])["label"]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_model_predicts_no_arrays_of_a_decoder(workspace: Workspace) -> None:
    schema = _SCHEMA.format("contract.decoders:load")
    workspace.schema(schema.replace('dtype="uint8"', 'dtype="uint8", role="target"'))
    (refusal,) = refusals(workspace.root)
    assert refusal["rule"] == "SG118"
    assert "arrays of a decoder: no model predicts them" in str(refusal)
