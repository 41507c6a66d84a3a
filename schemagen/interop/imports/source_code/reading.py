"""From files to the descriptions of records in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ....progress import track
from .files import Source, find, load
from .hints import (
    Description,
    Fact,
    KeyHints,
    Site,
    Skipped,
    SourceHints,
)
from .statements import Interpreter
from .values import Const, Dict, Encoded, Feature, ListValue, Seq, Value

_DTYPES = {"int64": "int64", "float": "float32", "bytes": "string"}
_WIRES = {"int64": "int64", "float32": "float", "string": "bytes"}
_HIGHEST = 6


def read(paths: Iterable[str | os.PathLike[str]]) -> SourceHints:
    """Read what Python files and notebooks state of records, without running them.

    Args:
        paths: files, or directories of them.

    Returns:
        The statements. Files that are no Python 3 are skipped, and named.
    """
    library = _Library()
    sources: list[Source] = []
    for path in track(find(paths), "parsing", "file"):
        source = library.source(path)
        if source is not None:
            sources.append(source)
    interpreter = Interpreter(library.imported)
    for source in track(sources, "reading code", "file"):
        interpreter.run(source)
    descriptions = _merged(list(_descriptions(interpreter.dicts)))
    classes = {(each.names, each.first): each for each in reversed(interpreter.classes)}
    return SourceHints(
        descriptions=tuple(descriptions),
        classes=tuple(reversed(classes.values())),
        skipped=tuple(library.skipped),
        files=len(sources),
    )


class _Library:
    """The files that were parsed.

    Attributes:
        skipped: the files, and cells, that could not be.
    """

    def __init__(self) -> None:
        self.skipped: list[Skipped] = []
        self._files: dict[Path, Source | None] = {}

    def source(self, path: Path) -> Source | None:
        """Return a parsed file; None if it cannot be parsed."""
        key = Path(os.path.abspath(path))
        if key not in self._files:
            self._files[key], skipped = load(path)
            self.skipped += skipped
        return self._files[key]

    def imported(self, by: Source, dotted: str, level: int) -> Source | None:
        """Return the user's file that an import names; None for an installed one."""
        parts = [part for part in dotted.split(".") if part.isidentifier()]
        if not parts or len(parts) != dotted.count(".") + 1:
            return None
        here = by.path.parent
        if level > 1:
            here = Path(here, *[".."] * (level - 1))
        for _ in range(1 if level else _HIGHEST):
            path = Path(here, *parts).with_suffix(".py")
            if path.is_file() and path != by.path:
                return self.source(path)
            if here == here.parent or not here.name:
                return None
            here = here.parent
        return None


def _descriptions(dicts: Iterable[Dict]) -> Iterator[Description]:
    for made in dicts:
        written = any(isinstance(each, ListValue) for each in made.entries.values())
        stated = any(isinstance(each, Feature) for each in made.entries.values())
        steps_stated = made.steps is not None and (
            made.steps.has_unread or bool(made.steps.entries)
        )
        if not (written or stated or steps_stated or made.has_unread):
            continue
        if "absorbed" in made.uses and not made.uses & {"parsed", "written"}:
            continue
        unread = list(made.unread)
        steps = None
        if made.steps is not None:
            steps = tuple(_keys(made.steps))
            unread += made.steps.unread
        keys = tuple(_keys(made))
        if keys or steps or unread:
            yield Description((made.site,), written, keys, steps, tuple(unread))


def _keys(made: Dict) -> Iterator[KeyHints]:
    for key, value in made.entries.items():
        if not isinstance(key, str):
            continue
        site = made.sites[key]
        facts = tuple(made.facts.get(key, ()))
        if isinstance(value, Feature):
            dtype = str(value.parameters.get("dtype"))
            wire = _WIRES.get(dtype, "")
            yield KeyHints(key, value.parameters, wire, site, facts, value.unread)
        elif isinstance(value, ListValue):
            facts += tuple(_written_facts(value.items, site))
            yield KeyHints(key, _written(value), value.wire, site, facts)
        else:
            unread = "what it holds"
            yield KeyHints(key, {"kind": ""}, "", site, facts, unread)


def _written(value: ListValue) -> dict[str, object]:
    """Return the feature that reads what is written."""
    dtype = _DTYPES[value.wire]
    if not isinstance(value.items, Seq):
        return {"kind": "VarLenFeature", "dtype": dtype}
    size = len(value.items.items)
    shape = [] if size == 1 else [size]
    return {"kind": "FixedLenFeature", "shape": shape, "dtype": dtype}


def _written_facts(items: Value, site: Site) -> Iterator[Fact]:
    if not isinstance(items, Seq) or len(items.items) != 1:
        return
    (item,) = items.items
    if isinstance(item, Encoded) and item.value:
        yield Fact(item.fact, item.value, site, True)
    elif isinstance(item, Const) and isinstance(item.value, str):
        yield Fact("text", True, site, True)


def _merged(found: list[Description]) -> list[Description]:
    """Join descriptions of the same keys, and readers of a part of what is written."""
    best: dict[tuple[object, ...], Description] = {}
    for each in _of_one_literal(found):
        identity = _identity(each)
        before = best.get(identity)
        best[identity] = each if before is None else _joined(before, each)
    writers = [each for each in best.values() if each.written]
    result: list[Description] = []
    for each in best.values():
        owner = next((one for one in writers if _is_part(each, one)), None)
        if owner is None:
            result.append(each)
    for writer in writers:
        parts = [each for each in best.values() if _is_part(each, writer)]
        joined = writer
        for part in parts:
            joined = _joined(joined, part)
        result[result.index(writer)] = joined
    return sorted(result, key=lambda each: each.sites[0])


def _of_one_literal(found: Iterable[Description]) -> list[Description]:
    """Join the values that one literal has in the calls of its function.

    A function that is also called with constants says more than by itself.
    """
    sites: dict[Site, Description] = {}
    for each in found:
        (site,) = each.sites
        before = sites.get(site)
        if before is None or (each.whole and not before.whole):
            sites[site] = each
        elif each.whole or not before.whole:
            sites[site] = _joined(before, each)
    return list(sites.values())


def _identity(each: Description) -> tuple[object, ...]:
    keys = frozenset((key.key, key.wire) for key in each.keys)
    steps = each.steps and frozenset((key.key, key.wire) for key in each.steps)
    return keys, steps, each.unread


def _is_part(each: Description, writer: Description) -> bool:
    """Return whether code reads some of the keys that other code writes."""
    if each.written or each.steps is not None or writer.steps is not None:
        return False
    wires = {key.key: key.wire for key in writer.keys}
    return all(wires.get(key.key) == key.wire for key in each.keys)


def _joined(one: Description, other: Description) -> Description:
    """Join what two descriptions of a record say; a reader says more of its keys."""
    first, second = (one, other) if not one.written or other.written else (other, one)
    return Description(
        tuple(dict.fromkeys((*one.sites, *other.sites))),
        one.written and other.written,
        tuple(_joined_keys(first.keys, second.keys)),
        first.steps and tuple(_joined_keys(first.steps, second.steps or ())),
        tuple(dict.fromkeys((*one.unread, *other.unread))),
    )


def _joined_keys(
    one: Iterable[KeyHints], other: Iterable[KeyHints]
) -> Iterator[KeyHints]:
    more = {each.key: each for each in other}
    for each in one:
        second = more.pop(each.key, None)
        if second is None:
            yield each
            continue
        facts = tuple(dict.fromkeys((*each.facts, *second.facts)))
        better = second if each.unread and not second.unread else each
        yield KeyHints(
            each.key, better.feature, each.wire, better.site, facts, better.unread
        )
    yield from more.values()
