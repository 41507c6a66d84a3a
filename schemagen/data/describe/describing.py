"""From files to the description of a dataset."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import PurePath

from ...runtime.storage import manifest
from ...runtime.storage.opening import open_directory
from ...spec.describe import kind_text
from ...spec.model import RecordSpec
from ...spec.words import words_of
from ..formatting import listed, one_line, plural
from ..inspect.inspecting import inspect_data
from ..inspect.values import extent, values_text
from ..limits import MAX_RECORD_BYTES
from ..listing import list_data
from ..profile.classes import ClassCounts
from ..profile.columns import (
    Column,
    Split,
    specs_by_split,
    title_of,
)
from ..profile.profile import Profile
from ..sources import Data
from ..statistics.model import DataStatistics
from .description import DataDescription, FieldFacts, ManifestFacts, SplitFacts

_SHARD = re.compile(r"\d{5}-of-\d{5}")


def describe_data(
    source: str | os.PathLike[str],
    split: str | None = None,
    *,
    limit: int | None = None,
    workers: int | None = 1,
    max_record_bytes: int = MAX_RECORD_BYTES,
) -> DataDescription:
    """Read data and describe it; arguments and errors are those of `inspect_data`."""
    listing = list_data(source, split)
    data = listing.data
    found = inspect_data(
        listing, limit=limit, workers=workers, max_record_bytes=max_record_bytes
    )
    profile = Profile(found, specs_by_split(data))
    spec, splits = profile.spec, profile.splits
    classes = {
        counted.column.key: counted
        for counted in profile.classes
        if counted.declared or counted.column.field is None
    }
    return DataDescription(
        title=title_of(found, spec),
        spec=spec,
        manifest=_manifest(data),
        splits=tuple(_split(found, each) for each in splits),
        fields=tuple(
            _field(column, splits, spec, classes.get(column.key))
            for column in profile.columns
        ),
        classes=tuple(classes.values()),
        statistics=found,
        version=version("schemagen"),
    )


def _manifest(data: Data) -> ManifestFacts | None:
    if data.manifest is None or data.directory is None:
        return None
    text = open_directory(str(data.directory)).read(manifest.FILE_NAME) or b""
    return ManifestFacts(
        data.manifest.record,
        data.manifest.fingerprint,
        json.loads(text).get("format", 1),
        hashlib.sha256(text).hexdigest(),
    )


def _split(found: DataStatistics, split: Split) -> SplitFacts:
    files = [file for file in found.files if file.split == split.name]
    written = found.written_by.get(split.name)
    names = {_SHARD.sub("*", PurePath(file.path).name) for file in files}
    compressions = sorted({file.compression for file in files})
    records = split.found.records
    listed_records = [file.listed for file in files if file.listed is not None]
    if found.limit is not None and len(listed_records) == len(files):
        records = sum(listed_records)
    return SplitFacts(
        name=split.name,
        records=records,
        shards=len(files),
        bytes=sum(file.bytes for file in files),
        compression=", ".join(each or "none" for each in compressions)
        if len(compressions) > 1
        else "".join(compressions),
        fingerprint=written.fingerprint if written else None,
        files=min(names, default="*") if len(names) < 2 else "*",
    )


def _field(
    column: Column,
    splits: Sequence[Split],
    spec: RecordSpec | None,
    classes: ClassCounts | None,
) -> FieldFacts:
    fields = spec.fields if spec else ()
    field = next((field for field in fields if field.key == column.key), None)
    whole = column.whole
    values = values_text(whole, time=column.time)
    if field is not None and field.parts[0].encoding == "raw" and whole.bytes:
        values = f"{extent(whole.bytes.sizes)} bytes"
    if classes is not None:
        declared = getattr(column.field and column.field.kind, "count", 0)
        count = declared or len(classes.classes)
        values = f"{plural(count, 'class', 'classes')}, counted below"
    return FieldFacts(
        name=field.label if field is not None else column.key,
        key=column.key,
        kind=kind_text(field) if field is not None else _kind_of_key(column, spec),
        batch=words_of(field.codec).delivers if field is not None else "",
        role=field.role if field is not None else "",
        optional=column.optional,
        doc=field.doc if field is not None else "",
        in_steps=column.steps,
        missing={each.name: column.missing_in(each) for each in splits},
        lengths=whole.lengths,
        values=values,
        numbers=whole.numbers,
    )


def _kind_of_key(column: Column, spec: RecordSpec | None) -> str:
    """Return the types of a key's lists, or what it stores of which field."""
    stored = spec.parts().get(column.key) if spec is not None else None
    if stored is not None:
        part, field, _ = stored
        size = part.content if part.holds == "size" else ""
        return f"{size or part.holds} of `{one_line(field.label, 80)}`"
    return listed(column.kinds) + (", in steps" if column.steps else "")
