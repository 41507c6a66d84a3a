"""The features of a TFDS dataset, as its features.json says them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..outcome import Unreadable

FILE = "features.json"
_EXPECTED = "the features.json of a TFDS dataset, or the directory it is in"

# The parameters of each connector stand under a word of its own.
_CONTENT = (
    *("tensor", "image", "video", "audio", "classLabel", "text", "boundingBox"),
    *("translation", "sequence", "featuresDict", "jsonFeature"),
)


@dataclass(frozen=True)
class Connector:
    """One feature.

    Attributes:
        kind: the name of its class, such as "ClassLabel".
        says: its parameters, by their names in features.json.
        members: of a FeaturesDict, its features by name.
        inner: of a sequence, what each of its steps holds.
        doc: its description.
    """

    kind: str
    says: Mapping[str, Any]
    members: Mapping[str, Connector]
    inner: Connector | None = None
    doc: str = ""

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Its shape; None for a size that varies."""
        given = self.says.get("shape") or ()
        sizes = given.get("dimensions", ()) if isinstance(given, Mapping) else given
        known = (None if size is None else int(size) for size in sizes)
        return tuple(None if size in (None, -1) else size for size in known)

    @property
    def dtype(self) -> str:
        """Its dtype by schemagen's word; "string" for text and bytes alike."""
        found = str(self.says.get("dtype", "")).removeprefix("tf.")
        return "string" if found in ("object", "str", "bytes") else found

    def number(self, name: str) -> int:
        """Return a parameter that counts something; 0 if it is not given."""
        return int(self.says.get(name) or 0)


def find_features(source: Path) -> Path:
    """Return the features.json that a path means.

    Raises:
        Unreadable: there is none, or there are several.
    """
    if not source.is_dir():
        return source
    if (source / FILE).is_file():
        return source / FILE
    found = sorted(path for path in source.rglob(FILE) if path.is_file())
    if len(found) == 1:
        return found[0]
    if not found:
        raise Unreadable(f"no {FILE} in it or below it", expected=_EXPECTED)
    names = [path.parent.relative_to(source).as_posix() for path in found]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" * (len(names) > 5))
    raise Unreadable(
        f"{len(names)} datasets below it",
        found=shown,
        expected="one dataset",
        advice="name the directory of one of them",
    )


def read_features(path: Path) -> Connector:
    """Read a features.json.

    Raises:
        Unreadable: it is not one.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"it cannot be read: {error.strerror or error}"
        raise Unreadable(message, expected=_EXPECTED) from None
    except ValueError as error:
        raise Unreadable(f"it is not JSON: {error}", expected=_EXPECTED) from None
    try:
        found = _connector(data, "")
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise _not_tfds(_in_words(error)) from None
    if found.kind != "FeaturesDict":
        raise Unreadable(
            "its outermost feature is no FeaturesDict",
            found=found.kind,
            expected="features with names, which become fields",
        )
    return found


def _not_tfds(found: str) -> Unreadable:
    return Unreadable(
        "it does not say features as TFDS writes them", found=found, expected=_EXPECTED
    )


def _in_words(error: Exception) -> str:
    """Say what is odd about a part that is there, but holds something else."""
    if isinstance(error, RecursionError):
        return "features in features without an end"
    if isinstance(error, ValueError):
        return f"an invalid value: {error}"
    return "a list, text or number where there is a feature or its parameters"


def _connector(data: Any, part: str) -> Connector:
    """Read one feature, in any of the forms that TFDS itself reads.

    Args:
        data: what stands in the file.
        part: its place among the features, for messages.
    """
    where = f"the feature {part!r}" if part else "the outermost feature"
    if not isinstance(data, Mapping):
        raise _not_tfds(f"{where} is {type(data).__name__}, and no object")
    if "pythonClassName" in data:
        kind = data["pythonClassName"].rpartition(".")[2]
        word = next((word for word in _CONTENT if word in data), None)
        content = data[word] if word else {}
        return _made(kind, content, data.get("description", ""), part)
    if "type" in data and "content" in data:  # before TFDS 4.3, and of the outermost
        return _old_connector(data, part)
    names = ", ".join(sorted(map(str, data))[:5]) or "nothing"
    raise _not_tfds(
        f"{where} has {names}, and neither pythonClassName nor type with content"
    )


def _old_connector(data: Mapping[str, Any], part: str) -> Connector:
    kind = data["type"].rpartition(".")[2]
    content = data["content"]
    if isinstance(content, str):  # JSON in JSON
        content = json.loads(content)
    # With proto_cls the content is that of a message, which has a field for features.
    if kind == "FeaturesDict" and "proto_cls" not in data:
        content = {"features": content}
    return _made(kind, content, data.get("description", ""), part)


def _made(kind: str, content: Mapping[str, Any], doc: str, part: str) -> Connector:
    says = {_camel(name): value for name, value in content.items()}
    found = says.pop("feature", None)
    named = says.pop("features", {})
    connector = Connector(
        kind=kind,
        says=says,
        members={
            name: _connector(each, f"{part}/{name}" if part else name)
            for name, each in named.items()
        },
        inner=None if found is None else _connector(found, part),
        doc=doc,
    )
    _ = connector.shape, connector.number("numClasses"), connector.number("length")
    return connector


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
