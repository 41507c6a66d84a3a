"""What `infer` measures of the data sets of the sheets, without their files.

    python -m benchmarks.evidence --files DIRECTORY [--sheet fifth]

Counts, lengths, extents and formats are kept, and which records have equal contents; so are
texts and numbers of which a key has few, since they may be names and ids of classes. Other
contents are not. A sheet is scored by this evidence as by the files.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from schemagen.data.infer import Evidence, Reading, gather, without_odd
from schemagen.data.infer.evidence import KeyEvidence, StepEvidence
from schemagen.data.infer.guesses import (
    BytesSamples,
    Guess,
    ListSamples,
    Shape,
    item_bytes,
)
from schemagen.data.sources import find_data
from schemagen.data.statistics.bytes_values import BytesValues, ImageInfo
from schemagen.data.statistics.histograms import Histogram
from schemagen.data.statistics.numbers import NumericStatistics, numbers
from schemagen.runtime.cells.columns import Column
from schemagen.runtime.cells.tensor_proto import WholeTensor
from schemagen.runtime.native import BYTES, INT64

Document = dict[str, Any]
Rows = NDArray[np.int64]

SHEETS = Path(__file__).parent / "sheets"

_RECORDED = SHEETS / "evidence"
_RECORDS = 10_000

# No rule looks at more different texts, or at longer ones.
_MOST_TEXTS, _LONGEST_TEXT = 100, 60
_MOST_ITEMS = 5000
_SIZES = (0, 1, 2, 4, 8)

# Greater numbers are neither the ids of classes nor sizes, and greater sums count nothing.
_GREATEST, _GREATEST_SUM = 100_000, 4096


def sheet_of(name: str) -> list[dict[str, Any]]:
    """Return the data sets of a sheet, and what an expert says of each."""
    found: list[dict[str, Any]] = json.loads((SHEETS / f"{name}.json").read_text())
    return found


def root_of(entry: Mapping[str, Any], files: Path) -> Path:
    """Return where the files of a data set's repository are."""
    return files / str(entry["repository"]).replace("/", "+")


def measured(sheet: Sequence[Mapping[str, Any]], files: Path) -> dict[str, Evidence]:
    """Return what `infer` measures of each data set of Examples, by its name."""
    return {
        entry["name"]: _evidence_of(entry, root_of(entry, files))
        for entry in sheet
        if entry["records"] != "other"
    }


def _evidence_of(entry: Mapping[str, Any], root: Path) -> Evidence:
    for file in entry["files"]:
        found = hashlib.sha256((root / file["path"]).read_bytes()).hexdigest()
        if found != file["sha256"]:
            raise SystemExit(f"{root / file['path']}: found the checksum {found}")
    data = find_data(str(root / entry["data"])).files
    evidence = without_odd(
        gather(Reading(data, _RECORDS).batches()),
        lambda: Reading(data, _RECORDS).batches(),
    )
    if not evidence.keys and not evidence.steps:
        raise SystemExit(f"{entry['name']}: no key")
    return evidence


def recorded(sheet: str) -> dict[str, Evidence]:
    """Return the evidence of each data set of a sheet, by its name."""
    text = gzip.decompress((_RECORDED / f"{sheet}.json.gz").read_bytes())
    return {name: _evidence(each) for name, each in json.loads(text).items()}


def record(sheet: str, found: Mapping[str, Evidence]) -> None:
    """Write the evidence of each data set of a sheet."""
    documents = {name: _document(each) for name, each in found.items()}
    text = json.dumps(documents, separators=(",", ":"), ensure_ascii=False)
    _RECORDED.mkdir(exist_ok=True)
    path = _RECORDED / f"{sheet}.json.gz"
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _document(evidence: Evidence) -> Document:
    return {
        "records": evidence.records,
        "keys": {key: _of_key(each) for key, each in evidence.keys.items()},
        "steps": {
            key: {"steps": _packed(each.steps), "each": _of_key(each.each)}
            for key, each in evidence.steps.items()
        },
        "sequences": evidence.sequences,
        "malformed": evidence.malformed,
        "reason": evidence.reason,
        "unknown": evidence.unknown,
        "repeated": evidence.repeated,
        "odd": evidence.odd,
    }


def _evidence(document: Document) -> Evidence:
    evidence = Evidence(
        records=document["records"],
        sequences=document["sequences"],
        malformed=document["malformed"],
        reason=document["reason"],
        unknown=Counter(document["unknown"]),
        repeated=Counter(document["repeated"]),
        odd=document["odd"],
    )
    for key, each in document["keys"].items():
        evidence.keys[key] = _key(key, evidence.records, each)
    for key, each in document["steps"].items():
        steps = evidence.steps[key] = StepEvidence(key)
        steps.records = evidence.records
        steps.steps = _unpacked(each["steps"])
        steps.each = _key(key, int(np.maximum(steps.steps, 0).sum()), each["each"])
    return evidence


def _of_key(data: KeyEvidence) -> Document:
    table = data.lists.table(data.records)
    sums = data.lists.sums.array(data.records)
    if table is not None and table.max(initial=0) > _GREATEST:
        table = None
    found: Document = {
        "kinds": data.kinds,
        "lengths": _packed(data.lengths),
        "codes": _packed(_since(data.codes)),
        "content": data.content,
        "numbers": _of_numbers(data.numbers),
        "table": None if table is None else _packed(table[data.lengths >= 0]),
        "items": _of_items(data),
        "repeats": data.lists.repeats,
        "unusual": data.lists.unusual,
        "sums": _packed(sums if sums.max(initial=0) < _GREATEST_SUM else 0 * sums),
        "filled": _packed(data.filled),
        "pictures": {
            str(square): data.lists.samples.picture(square=square)
            for square in (True, False)
            if data.is_fixed and data.kind != BYTES
        },
    }
    if data.kind == BYTES:
        found["values"] = _of_bytes(data)
    if data.decoded is not None and data.decoded.records:
        found["decoded"] = _of_key(data.decoded)
    return found


def _of_items(data: KeyEvidence) -> list[Any]:
    """Return the items of lists that are few, and of few different values."""
    codes, values = data.items.codes, [*data.items.values]
    few = data.items.known and not data.is_single and len(codes) <= _MOST_ITEMS
    if not few or (data.kind == BYTES and _few_texts(data.values.texts) is None):
        return []
    shown = [value.decode() for value in values] if data.kind == BYTES else values
    return [shown[code] for code in codes.tolist()]


def _key(key: str, records: int, document: Document) -> KeyEvidence:
    data = KeyEvidence(key)
    data.records = records
    data.kinds = Counter(document["kinds"])
    data.lengths, data.filled = (
        _unpacked(document[name]) for name in ("lengths", "filled")
    )
    data.codes = _codes(_unpacked(document["codes"]))
    data.content = document["content"]
    data.numbers = _numbers(document["numbers"])
    every = np.arange(records)
    if document["table"] is not None:
        table, rows = _unpacked(document["table"]), every[data.lengths >= 0]
        lengths, nothing = np.full(len(rows), table.shape[1]), np.empty(0, np.uint8)
        data.lists.add(
            Column(key, INT64, rows, lengths, table.reshape(-1), nothing), rows
        )
    else:
        data.lists.sums.add(every, _unpacked(document["sums"]))
    data.lists.repeats = document["repeats"]
    data.lists.unusual = document["unusual"]
    data.lists.samples = _Lists(
        {square == "True": _shape(s) for square, s in document["pictures"].items()}
    )
    if "values" in document:
        _add_bytes(data, document["values"])
    items = document["items"]
    data.items.add([each.encode() for each in items] if data.kind == BYTES else items)
    if "decoded" in document:
        data.decoded = _key(key, records, document["decoded"])
    return data


def _of_bytes(data: KeyEvidence) -> Document:
    values, every = data.values, data.values.all
    texts = _few_texts(values.texts)
    number = {text.decode(): place for place, text in enumerate(texts or ())}
    single = np.full(data.records, -1)
    for row, text in values.single_texts.items() if texts is not None else ():
        single[row] = number[text]
    forms = dict.fromkeys(each.format for each in values.pictures.values())
    formats = np.full(data.records, -1)
    for row, picture in values.pictures.items():
        formats[row] = list(forms).index(picture.format)
    return {
        "sizes": _of_numbers(every.sizes),
        "formats": every.formats,
        "heights": _of_numbers(every.heights),
        "widths": _of_numbers(every.widths),
        "channels": list(every.channels.items()),
        "depths": list(every.depths.items()),
        "troubles": every.troubles,
        "texts": texts and [[text.decode(), n] for text, n in texts.items()],
        "single": _packed(single),
        "heads": _packed(values.heads(data.records)),
        "of": list(forms),
        "encodings": _packed(formats),
        "turned": list(values.turned.items()),
        "refused": [[*each, count] for each, count in values.refused.items()],
        "grey": values.grey,
        "tensors": [[*each, count] for each, count in values.tensors.items()],
        "shapes": _packed(values.shapes(data.records)),
        "unusual": values.unusual,
        "ids": np.flatnonzero(values.ids).tolist(),
        "measured": _packed(values.measured.array(data.records)),
        "names": values.names,
        "samples": _of_samples(data),
    }


def _few_texts(texts: Mapping[bytes, int] | None) -> Mapping[bytes, int] | None:
    """Return texts that may name classes: few, short, and most of them repeated."""
    if texts is None or len(texts) > _MOST_TEXTS:
        return None
    if max(map(len, texts), default=0) > _LONGEST_TEXT:
        return None
    return texts


def _of_samples(data: KeyEvidence) -> Document:
    samples, raw = data.values.samples, data.is_raw
    found: Document = {"unread": samples.unread, "paths": samples.are_paths}
    if raw:
        found["guesses"] = {size: samples.guess(size) for size in _SIZES}
    if raw and data.values.least == data.values.most:
        dtype = samples.guess().dtype
        count = data.values.most // item_bytes(dtype)
        found["pictures"] = {
            str(square): samples.picture(dtype, count, square=square)
            for square in (True, False)
        }
    return found


def _add_bytes(data: KeyEvidence, document: Document) -> None:
    values = data.values
    texts = document["texts"]
    values.all = BytesValues(
        sizes=_numbers(document["sizes"]),
        formats=document["formats"],
        heights=_numbers(document["heights"]),
        widths=_numbers(document["widths"]),
        channels=dict(document["channels"]),
        depths=dict(document["depths"]),
        troubles=document["troubles"],
        distinct=None if texts is None else {t.encode(): n for t, n in texts},
    )
    single = _unpacked(document["single"])
    values.single_texts = {
        row: texts[single[row]][0] for row in np.flatnonzero(single >= 0).tolist()
    }
    heads, encodings = _unpacked(document["heads"]), _unpacked(document["encodings"])
    bits = max(dict(document["depths"]), default=8)
    for row in np.flatnonzero(encodings >= 0).tolist():
        form = document["of"][encodings[row]]
        height, width, channels = heads[row].tolist()
        values.pictures[row] = ImageInfo(form, height, width, channels, bits)
    values.turned = dict(document["turned"])
    values.refused.update({(f, c): n for f, c, n in document["refused"]})
    values.grey = document["grey"]
    for *head, count in document["tensors"]:
        dtype, shape, *rest = head
        values.tensors[WholeTensor(dtype, tuple(shape), *rest)] = count
    shapes = _unpacked(document["shapes"])
    if shapes.shape[1]:
        some = np.flatnonzero(shapes[:, 0] >= 0).tolist()
        values.shaped = {row: tuple(shapes[row].tolist()) for row in some}
    values.unusual.update(document["unusual"])
    values.ids[document["ids"]] = True
    values.measured.add(np.arange(data.records), _unpacked(document["measured"]))
    values.names = document["names"]
    samples = document["samples"]
    values.samples = _Bytes(
        samples["unread"],
        paths=samples["paths"],
        guesses={
            int(size): Guess(dtype, tuple(others), clear)
            for size, (dtype, others, clear) in samples.get("guesses", {}).items()
        },
        pictures={
            square == "True": _shape(shape)
            for square, shape in samples.get("pictures", {}).items()
        },
    )


def _shape(sizes: Sequence[int] | None) -> Shape | None:
    return None if sizes is None else (sizes[0], sizes[1], sizes[2])


class _Lists(ListSamples):
    """Which pictures lists are, of which none is kept."""

    def __init__(self, pictures: Mapping[bool, Shape | None]) -> None:
        super().__init__()
        self._pictures = pictures

    def picture(self, *, square: bool) -> Shape | None:
        return self._pictures[square]


class _Bytes(BytesSamples):
    """What samples look like, of which none is kept."""

    def __init__(
        self,
        unread: str,
        *,
        paths: bool,
        guesses: Mapping[int, Guess],
        pictures: Mapping[bool, Shape | None],
    ) -> None:
        super().__init__()
        self._unread, self._paths = unread, paths
        self._guesses, self._pictures = guesses, pictures

    def guess(self, size: int = 0) -> Guess:
        return self._guesses[size]

    def picture(self, dtype: str, count: int, *, square: bool) -> Shape | None:
        return self._pictures[square]

    @property
    def unread(self) -> str:
        return self._unread

    @property
    def are_paths(self) -> bool:
        return self._paths

    @property
    def first(self) -> str:
        return "a text"


def _of_numbers(found: NumericStatistics) -> Document:
    document: Document = {
        "nan": found.nan,
        "infinite": found.infinite,
        "floats": found.floats,
    }
    if found.distinct is not None:
        return document | {"distinct": list(found.distinct.items())}
    bins = found.histogram
    return document | {
        "count": found.count,
        "zeros": found.zeros,
        "whole": found.whole,
        "range": (found.minimum, found.maximum),
        "bins": [bins.exponent, list(bins.counts.items())],
    }


def _numbers(document: Document) -> NumericStatistics:
    unusual = {"nan": document["nan"], "infinite": tuple(document["infinite"])}
    floats = document["floats"]
    if "distinct" in document:
        pairs = document["distinct"]
        values = np.array(
            [value for value, _ in pairs], np.float64 if floats else np.int64
        )
        few = numbers(np.repeat(values, [count for _, count in pairs]))
        missing = unusual["nan"] + sum(unusual["infinite"])
        return replace(few, count=few.count + missing, floats=floats, **unusual)
    low, high = document["range"]
    exponent, bins = document["bins"]
    return NumericStatistics(
        count=document["count"],
        zeros=document["zeros"],
        whole=document["whole"],
        minimum=low,
        maximum=high,
        distinct=None,
        histogram=Histogram(exponent, dict(bins)),
        floats=floats,
        **unusual,
    )


def _packed(rows: Rows) -> Document | list[Any]:
    """Return numbers, or what all of them are."""
    if len(rows) and (rows == rows[0]).all():
        return {"all": rows[0].tolist(), "records": len(rows)}
    if rows.ndim == 1 and (rows == np.arange(len(rows))).all():
        return {"records": len(rows)}
    found: list[Any] = rows.tolist()
    return found


def _unpacked(document: Document | list[Any]) -> Rows:
    if isinstance(document, list):
        return np.array(document, np.int64)
    if "all" not in document:
        return np.arange(document["records"])
    return np.array([document["all"]] * document["records"], np.int64)


def _since(codes: Rows) -> Rows:
    """Return how far codes are below a new one: most of them are 0."""
    new: Rows = np.maximum.accumulate(np.insert(codes, 0, -1))[:-1] + 1
    return new - codes


def _codes(since: Rows) -> Rows:
    new, found = 0, []
    for below in since.tolist():
        found.append(new - below)
        new = max(new, new - below + 1)
    return np.array(found, np.int64)


def main() -> None:
    """Record what is measured of the data sets of a sheet."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=Path, required=True)
    parser.add_argument("--sheet", default="fifth")
    chosen = parser.parse_args()
    record(chosen.sheet, measured(sheet_of(chosen.sheet), chosen.files))


if __name__ == "__main__":
    main()
