"""From wire keys to the names of fields, and to nested models where keys share a prefix."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Mapping
from itertools import chain, count

from ...runtime.kinds.registry import KINDS
from ...schema.record import Record
from ...spec.names import RESERVED_FIELDS

Path = tuple[str, ...]

# What pydantic's models and their classes have, which no field can be called.
_OF_MODELS = frozenset(("mro", "register", *dir(Record)))

# Names that begin so it keeps for itself.
_KEPT = ("model_dump", "model_validate")

# What the model's layers and the masks of a field are called behind its name.
_SUFFIXES = {"present", *chain(*(kind.layers for kind in KINDS.values()))}
_SAID_BY_KIND = frozenset(("encoded", "ragged_flat_values", "values"))
_TOO_GENERAL = frozenset(("index", "id", "ids", "format", "shape", "size", "value"))
_LONGEST = 60


class Names:
    """The names of a record's fields.

    Args:
        texts: what each field is named after, by its wire key: mostly the key itself.
        flat: the first parts of keys that make no models, as of `image/encoded`.
        alone: the keys that are in no model.
        nested: whether there may be models at all.

    Attributes:
        paths: of each key, from the outermost name to its own.
        prefixes: how the keys of each model begin.
    """

    def __init__(
        self,
        texts: Mapping[str, str],
        flat: Collection[str] = (),
        alone: Collection[str] = (),
        *,
        nested: bool = True,
    ) -> None:
        self.paths: dict[str, Path] = {}
        self.prefixes: dict[Path, str] = {(): ""}
        self._flat, self._nested = flat, nested
        self._alone = {texts[key] for key in alone if key in texts}
        self._taken: set[str] = set()
        self._name(sorted(texts.values(), key=natural), (), "")
        self.paths = {key: self.paths[text] for key, text in texts.items()}
        self._part_from_layers()

    def prefix(self, key: str) -> str:
        """Return how all keys of the model begin in which a key is."""
        return self.prefixes[self.paths[key][:-1]]

    def _name(self, keys: list[str], above: Path, prefix: str) -> None:
        """Name the fields and the models of a model, whose keys have a prefix."""
        models, single = self._split(keys, prefix)
        # What is a name already keeps it, whatever else would like to have it.
        for key in sorted(single, key=lambda k: (identifier(k) != k, k.count("/"))):
            rest = key.removeprefix(prefix)
            names = [identifier("_".join(_parts(rest))), identifier(rest)]
            if not self._nested or (not above and rest.split("/")[0] in self._flat):
                names = _short_names(rest)
            self.paths[key] = self._take(above, names)
        for part, members in models.items():
            path = self._take(above, [identifier(part)])
            self.prefixes[path] = f"{prefix}{part}/"
            self._name(members, path, self.prefixes[path])

    def _split(
        self, keys: Collection[str], prefix: str
    ) -> tuple[dict[str, list[str]], list[str]]:
        """Tell keys that share what stands next from those that stand alone."""
        below: dict[str, list[str]] = {}
        single: list[str] = []
        flat = {key.removeprefix(prefix) for key in keys}
        flat |= set() if prefix else set(self._flat)
        for key in keys:
            first, _, rest = key.removeprefix(prefix).partition("/")
            may_nest = self._nested and rest and all(key.split("/"))
            if may_nest and key not in self._alone and first not in flat:
                below.setdefault(first, []).append(key)
            else:
                single.append(key)
        for first in [first for first, some in below.items() if len(some) < 2]:
            single += below.pop(first)
        return below, single

    def _take(self, above: Path, candidates: list[str]) -> Path:
        """Take the first name that nothing else has, or one with a number."""
        numbered = (f"{candidates[-1]}_{number}" for number in count(2))
        for name in chain(candidates, numbered):
            whole = "_".join((*above, name))
            if whole not in self._taken and not _is_reserved(whole):
                break
        self._taken.add(whole)
        return (*above, name)

    def _part_from_layers(self) -> None:
        """Rename what is called as another field's layer or mask."""
        flat = {"_".join(path) for path in self.paths.values()}
        for key, path in self.paths.items():
            whole = "_".join(path)
            bases = [
                whole.removesuffix(f"_{suffix}")
                for suffix in _SUFFIXES
                if whole.endswith(f"_{suffix}")
            ]
            if any(base in flat for base in bases):
                renamed = self._take(path[:-1], [f"{path[-1]}_value"])
                self.paths[key] = renamed


def natural(key: str) -> tuple[tuple[int, int, str], ...]:
    """Sort as people do: I2 before I10."""
    parts = re.split(r"([0-9]{1,18})", key)
    return tuple(
        (1, int(part), "") if part.isdecimal() and part.isascii() else (0, 0, part)
        for part in parts
    )


def identifier(text: str) -> str:
    """Return text as a name that Python, pydantic and tensorflow take."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^0-9A-Za-z]+", "_", plain)[:_LONGEST].strip("_")
    if not name:
        return "field"
    if name[0].isdigit():
        name = f"n{name}"
    if name.startswith(_KEPT):
        return f"field_{name}"
    return f"{name}_" if _is_reserved(name) else name


def _is_reserved(name: str) -> bool:
    used = name in RESERVED_FIELDS or name in _OF_MODELS
    return used or keyword.iskeyword(name)


def _short_names(key: str) -> list[str]:
    """Return the ends of a key as names, the shortest that says something first."""
    parts = _parts(key)
    ends = [parts[start:] for start in range(len(parts) - 1, -1, -1)]
    names = [
        identifier("_".join(end))
        for end in ends
        if len(end) > 1
        or len(parts) == 1
        or not (end[0].lower() in _TOO_GENERAL or keyword.iskeyword(end[0]))
    ]
    return names or [identifier(key)]


def _parts(key: str) -> list[str]:
    """Return the parts of a key, without the one that its kind says."""
    parts = [part for part in key.split("/") if part] or [key]
    if len(parts) > 1 and parts[-1] in _SAID_BY_KIND:
        parts.pop()
    return parts


def class_name_of(stem: str) -> str:
    """Return a file's name as that of a class: old_photos is OldPhotos."""
    parts = re.split(r"[^0-9A-Za-z]+", unicodedata.normalize("NFKD", stem))
    name = "".join(part[:1].upper() + part[1:] for part in parts if part)
    name = name.encode("ascii", "ignore").decode()
    usable = name[:1].isalpha() and not keyword.iskeyword(name)
    return name if usable else f"Record{name}"


def order(paths: Mapping[str, Path], ranks: Mapping[str, int]) -> list[str]:
    """Return keys in the order of their fields: models stay together.

    Args:
        paths: of each key.
        ranks: of each key, the lower the earlier.
    """

    def place(key: str) -> tuple[object, ...]:
        path = paths[key]
        if len(path) == 1:
            return ranks[key], natural(key)
        first = [other for other in paths if paths[other][0] == path[0]]
        return 1, natural(min(first, key=natural)), *map(natural, path)

    return sorted(paths, key=place)
