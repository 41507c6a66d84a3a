"""From the features with which a program parses Examples to fields."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...kinds.field import FieldSpec
from ...kinds.steps import Steps
from ...runtime.shared.errors import did_you_mean
from .literal_features import Features, literal_features
from .outcome import Imported, Outcome, not_installed, unreadable
from .place import Place, field_names, zero_of

_EXPECTED = "a dict from keys to tf.io features, or a pair of them for SequenceExamples"
_DTYPES = {"int64": "int64", "float32": "float32", "string": "bytes"}
_DEFAULTS: Mapping[str, Any] = {
    "int64": int,
    "float32": (int, float),
    "bytes": bytes,
}
_MAYBE = "a text (str), a picture (Image) or other bytes?"


def import_feature_spec(target: str) -> Imported:
    """Read a dict of tf.io features, or a pair of them for SequenceExamples.

    Args:
        target: "file.py" or "file.py:NAME", which is parsed; or "package.module:NAME",
            which is imported.

    Raises:
        SchemagenError: there is none, or its module needs tensorflow.
    """
    file, _, name = target.rpartition(":")
    found: list[Features]
    if target.endswith(".py"):
        found = literal_features(target, "")
    elif file.endswith(".py"):
        found = literal_features(file, name)
    else:
        found = _of_module(target)
    flat, *steps = found
    taken: set[str] = set()
    outcomes = [_flat(feature) for feature in _features(flat, taken)]
    outcomes += [
        _steps(feature) for each in steps for feature in _features(each, taken)
    ]
    message = "SequenceExample" if steps else "Example"
    return Imported(tuple(_without_shared(outcomes)), message=message)


def _of_module(target: str) -> list[Features]:
    """Import a module and return the features that stand under a name in it.

    Returns:
        The features of an Example; or those of a SequenceExample's context and those of
        its steps.
    """
    where, colon, name = target.rpartition(":")
    if not colon or not where or not name:
        raise unreadable(
            "it does not say where the dict stands",
            found=target,
            expected="file.py, file.py:NAME or package.module:NAME",
        )
    answer = _ask(target)
    if answer.get("missing") == "tensorflow":
        raise not_installed("tensorflow", f"importing {where}", "tensorflow")
    if "failed" in answer:
        raise unreadable(f"{where} cannot be imported", found=answer["failed"])
    if "unknown" in answer:
        unknown = answer["unknown"]
        raise unreadable(
            f"{where} has no {unknown!r}",
            expected=_EXPECTED,
            advice=did_you_mean(unknown, answer["known"]),
        )
    if "strange" in answer:
        raise unreadable(f"{name} is no feature spec", answer["strange"], _EXPECTED)
    found: list[Features] = answer["features"]
    return found


def _ask(target: str) -> dict[str, Any]:
    """Have a Python of its own import the module, so that tensorflow stays out of this."""
    program = Path(__file__).with_name("feature_spec_child.py").read_text("utf-8")
    with TemporaryDirectory() as directory:
        out = Path(directory) / "features.json"
        done = subprocess.run(
            [sys.executable, "-c", program, target, str(out)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
        )
        try:
            answer: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            last = done.stderr.strip().rpartition("\n")[2]
            raise unreadable(
                "the program that imports it has died",
                found=last or f"exit code {done.returncode}",
            ) from None
    return answer


@dataclass(frozen=True)
class _Feature:
    """One feature: its key in the dict, its place, and what it says."""

    key: str
    place: Place
    says: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return str(self.says["kind"])

    @property
    def dtype(self) -> str:
        """The dtype by schemagen's word; "" if tf.io does not have it."""
        return _DTYPES.get(str(self.says.get("dtype")), "")

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape; None if it is none that tf.io has."""
        return _sizes(self.says.get("shape"))

    def empty(self, key: Any = None) -> Place:
        """Return the place of a list that is empty where it is missing, as to tf.io."""
        place = self.place
        return replace(place, optional=True, default=(), key=str(key or place.key))

    @property
    def has_known_default(self) -> bool:
        """Whether the values of the default, if there is one, are of the dtype."""
        found = _values(self.says.get("default_value"))
        return all(isinstance(value, _DEFAULTS[self.dtype]) for value in found)

    def defaults(self) -> list[Any]:
        """Return the default's values, one after the other."""
        found = _values(self.says.get("default_value"))
        return [*map(float, found)] if self.dtype == "float32" else found

    def outcome(self, *made: FieldSpec, remark: str = "") -> Outcome:
        return Outcome(self.key, made, remark)

    def refused(self, reason: str = "tf.io does not parse it either") -> Outcome:
        given = {name: value for name, value in self.says.items() if name != "kind"}
        said = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return Outcome(self.key, (), f"{self.kind}({said})", reason)


def _sizes(given: Any) -> tuple[int, ...] | None:
    """Return sizes, or a single one; None if one is not a size."""
    sizes = given if isinstance(given, list) else [given]
    if all(type(size) is int and size > 0 for size in sizes):
        return tuple(sizes)
    return None


def _features(given: Features, taken: set[str]) -> Iterator[_Feature]:
    names = field_names(given, taken)
    for (key, says), name in zip(given.items(), names, strict=True):
        yield _Feature(key, Place((name,), key), says)


def _without_shared(outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Refuse what reads a key that a feature before it has read."""
    owners: dict[str, str] = {}
    for outcome in outcomes:
        keys = {key for field in outcome.fields for key in _keys(field)}
        shared = [key for key in sorted(keys) if key in owners]
        if shared:
            said = f"the key {shared[0]!r} is that of {owners[shared[0]]!r} too"
            yield Outcome(outcome.part, (), said, "another field has its key")
        else:
            owners.update(dict.fromkeys(keys, outcome.part))
            yield outcome


def _keys(field: FieldSpec) -> list[str]:
    return [entry.key for entry in field.storage]


def _flat(feature: _Feature) -> Outcome:
    """Return what becomes of a feature of an Example, or of a context."""
    kind, shape = feature.kind, feature.shape
    if not feature.dtype or not feature.has_known_default:
        return feature.refused()
    if kind == "FixedLenFeature" and shape is not None:
        return _fixed(feature, shape)
    if kind == "VarLenFeature":
        return _list(feature)
    if kind == "FixedLenSequenceFeature" and shape is not None:
        padding = feature.defaults()
        number = type(zero_of(feature.dtype))
        given = {"padding_value": number(padding[0])} if padding else {}
        if feature.says.get("allow_missing"):
            return _list(feature, shape, **given)
    if kind == "RaggedFeature":
        return _ragged(feature)
    if kind == "SparseFeature":
        return _sparse(feature)
    return feature.refused()


def _fixed(feature: _Feature, shape: tuple[int, ...]) -> Outcome:
    dtype, place, size = feature.dtype, feature.place, prod(shape)
    defaults = feature.defaults()
    if defaults:
        place = replace(place, optional=True)
    single = not shape or (dtype == "bytes" and size == 1)
    if single:
        place = replace(place, default=defaults[0] if defaults else None)
        said = _MAYBE if dtype == "bytes" else ""
        return feature.outcome(place.scalar(dtype), remark=said)
    if dtype == "bytes":
        place = replace(place, default=() if defaults else None)
        said = f"always {size} values, of shape {shape}; {_MAYBE}"
        field = place.varlen("bytes", max_length=size)
        return feature.outcome(field, remark=said)
    if len(defaults) == 1:
        defaults = defaults * size
    default = _shaped(defaults, shape) if defaults else None
    field = replace(place, default=default).vector(shape, dtype)
    return feature.outcome(field)


def _values(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, list):
        return [number for item in value for number in _values(item)]
    if isinstance(value, Mapping):
        return [base64.b64decode(value["bytes"])]
    return [value.encode() if isinstance(value, str) else value]


def _shaped(values: list[Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    if len(shape) == 1:
        return tuple(values)
    size = prod(shape[1:])
    rows = [values[at : at + size] for at in range(0, len(values), size)]
    return tuple(_shaped(row, shape[1:]) for row in rows)


def _list(feature: _Feature, items: tuple[int, ...] = (), **more: Any) -> Outcome:
    place = feature.empty(feature.says.get("value_key"))
    if feature.dtype == "bytes":
        said = _MAYBE if not items else f"flat: reshape{(-1, *items)}; {_MAYBE}"
        return feature.outcome(place.varlen("bytes"), remark=said)
    field = place.varlen(feature.dtype, items).replaced(**more)
    return feature.outcome(field)


def _ragged(feature: _Feature) -> Outcome:
    partitions = feature.says.get("partitions") or []
    kinds = [partition["kind"] for partition in partitions]
    if not kinds:
        return _list(feature, ragged=feature.dtype != "bytes")
    if kinds == ["UniformRowLength"]:
        items = _sizes(partitions[0]["length"])
        if items is None:
            return feature.refused()
        return _list(feature, items)
    place = feature.empty(feature.says.get("value_key"))
    if kinds == ["RowLengths"]:
        field = place.ragged(feature.dtype, str(partitions[0]["key"]))
        return feature.outcome(field)
    made = [place.varlen(feature.dtype)]
    words = []
    for number, each in enumerate(partitions):
        words.append(f"{each['kind']}({each.get('key', each.get('length'))!r})")
        if "key" in each:
            other = place.next_to(f"_partition_{number}", str(each["key"]))
            made.append(other.varlen("int64", role="info"))
    said = f"all values; its rows, from the outermost: {', '.join(words)}"
    return feature.outcome(*made, remark=said)


def _sparse(feature: _Feature) -> Outcome:
    index, shape = feature.says["index_key"], _sizes(feature.says["size"])
    keys = tuple(map(str, index if isinstance(index, list) else [index]))
    if shape is None or len(shape) != len(keys):
        return feature.refused()
    place = feature.empty(feature.says["value_key"])
    if feature.dtype == "bytes":
        made = [place.varlen("bytes")]
        for number, key in enumerate(keys):
            other = place.next_to(f"_index_{number}", key)
            made.append(other.varlen("int64", role="info"))
        said = f"values of a sparse tensor of shape {shape}; the indices stand below"
        return feature.outcome(*made, remark=said)
    field = replace(place, default=None).sparse(feature.dtype, shape, keys)
    return feature.outcome(field)


def _steps(feature: _Feature) -> Outcome:
    """Return what becomes of a feature of each step of a SequenceExample."""
    dtype, shape, opaque = feature.dtype, feature.shape, feature.dtype == "bytes"
    if (
        feature.kind != "FixedLenSequenceFeature"
        or not dtype
        or shape is None
        or (opaque and prod(shape) > 1)
    ):
        return feature.refused("the values of all steps have one size here")
    place = feature.empty() if feature.says.get("allow_missing") else feature.place
    field = FieldSpec.of(
        Steps,
        **place.common("info" if opaque else "input"),
        step=Place(place.path, "").array(dtype, () if opaque else shape).kind,
        padding_value=zero_of(dtype),
    )
    if opaque:
        return feature.outcome(field, remark=_MAYBE)
    return feature.outcome(field)
