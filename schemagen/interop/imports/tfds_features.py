"""The features of a TFDS dataset, as its features.json says them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...findings import SchemagenError
from .outcome import few, read_text, unreadable

FILE = "features.json"
_EXPECTED = "the features.json of a TFDS dataset, or the directory it is in"

# The parameters of each feature stand under a word of its own.
_CONTENT = (
    *("tensor", "image", "video", "audio", "classLabel", "text", "boundingBox"),
    *("translation", "sequence", "featuresDict", "jsonFeature"),
)


@dataclass(frozen=True)
class Feature:
    """One feature.

    Attributes:
        kind: the name of its class, such as "ClassLabel".
        says: its parameters, by their names in features.json.
        members: of a FeaturesDict, its features by name.
        inner: of a sequence, what each of its steps holds.
        doc: its description.
    """

    kind: str
    says: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, Feature] = field(default_factory=dict)
    inner: Feature | None = None
    doc: str = ""

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Its shape; None for a size that varies."""
        given = self.says.get("shape") or ()
        sizes = given.get("dimensions", ()) if isinstance(given, Mapping) else given
        known = (-1 if size is None else int(size) for size in sizes)
        return tuple(None if size == -1 else size for size in known)

    @property
    def dtype(self) -> str:
        """Its dtype by schemagen's word; "string" for text and bytes alike."""
        found = str(self.says.get("dtype", "")).removeprefix("tf.")
        return "string" if found in ("object", "str", "bytes") else found

    def number(self, name: str) -> int:
        """Return a parameter that counts something; 0 if it is not given."""
        return int(self.says.get(name) or 0)

    def leaves(self) -> Iterator[Feature]:
        """Yield the features without members in the dicts of this one."""
        for member in self.members.values():
            yield from member.leaves()
        if not self.members:
            yield self


def find_features(source: Path) -> Path:
    """Return the features.json that a path means.

    Raises:
        SchemagenError: there is none, or there are several.
    """
    if not source.is_dir():
        return source
    if (source / FILE).is_file():
        return source / FILE
    found = sorted(path for path in source.rglob(FILE) if path.is_file())
    if len(found) == 1:
        return found[0]
    if not found:
        raise unreadable(f"no {FILE} in it or below it", expected=_EXPECTED)
    names = [path.parent.relative_to(source).as_posix() for path in found]
    raise unreadable(
        f"{len(names)} datasets below it",
        found=few(names, 5),
        expected="one dataset",
        advice="name the directory of one of them",
    )


def read_features(path: Path) -> Feature:
    """Read a features.json.

    Raises:
        SchemagenError: it is not one.
    """
    text = read_text(path, _EXPECTED)
    try:
        found = _feature(json.loads(text), "")
    except json.JSONDecodeError as error:
        raise unreadable(f"it is not JSON: {error}", expected=_EXPECTED) from None
    except RecursionError:
        raise _not_tfds("features in features without an end") from None
    except ValueError as error:
        raise _not_tfds(f"an invalid value: {error}") from None
    except (AttributeError, KeyError, TypeError):
        raise _not_tfds(
            "a list, text or number where there is a feature or its parameters"
        ) from None
    if found.kind != "FeaturesDict":
        raise unreadable(
            "its outermost feature is no FeaturesDict",
            found=found.kind,
            expected="features with names, which become fields",
        )
    return found


def _not_tfds(found: str) -> SchemagenError:
    return unreadable("it does not say features as TFDS writes them", found, _EXPECTED)


def _feature(data: Any, part: str) -> Feature:
    """Read one feature, in any of the forms that TFDS itself reads.

    Args:
        data: what stands in the file.
        part: its place among the features, for messages.
    """
    where = f"the feature {part!r}" if part else "the outermost feature"
    if not isinstance(data, Mapping):
        raise _not_tfds(f"{where} is {type(data).__name__}, and no object")
    content: Any
    if "pythonClassName" in data:
        kind = data["pythonClassName"].rpartition(".")[2]
        content = next((data[word] for word in _CONTENT if word in data), {})
    elif "type" in data and "content" in data:  # before TFDS 4.3, and of the outermost
        kind = data["type"].rpartition(".")[2]
        content = data["content"]
        if isinstance(content, str):  # JSON in JSON
            content = json.loads(content)
        # With proto_cls the content is a message, which has a field for features.
        if kind == "FeaturesDict" and "proto_cls" not in data:
            content = {"features": content}
    else:
        names = ", ".join(sorted(map(str, data))[:5]) or "nothing"
        raise _not_tfds(
            f"{where} has {names}, and neither pythonClassName nor type with content"
        )
    says = {_camel(name): value for name, value in content.items()}
    inner = says.pop("feature", None)
    members = says.pop("features", {})
    feature = Feature(
        kind=kind,
        says=says,
        members={
            name: _feature(each, f"{part}/{name}" if part else name)
            for name, each in members.items()
        },
        inner=None if inner is None else _feature(inner, part),
        doc=data.get("description", ""),
    )
    # Numbers that are none are found here, and not where they are used.
    _ = feature.shape, feature.number("numClasses"), feature.number("length")
    return feature


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
