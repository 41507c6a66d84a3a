"""Files of parts: what one machine found in its share of the data.

A part file is JSON. Its first line has the SHA-256 of all bytes after that line. Then
come the command, the part's number, what was asked for, the files as they were found,
and the results of the share.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..atomic_write import write_whole
from ..findings import Finding, Location, SchemagenError, refuse
from ..progress import track
from .listing import difference
from .shares import Share

FORMAT = 1

_SEAL = re.compile(rb'\{"sha256": "([0-9a-f]{64})",\n')
_START = b'{"sha256": "'
_SHOWN = 8
_AGAIN = "run all parts again while the data does not change"

_Json = dict[str, Any]


@dataclass(frozen=True)
class PartFile:
    """What one machine found.

    Attributes:
        command: "verify" or "inspect".
        share: which part it is.
        options: what was asked for, as JSON; the same for all parts.
        listing: the files as they were found, as JSON; likewise.
        results: of the share, as JSON.
    """

    command: str
    share: Share
    options: _Json
    listing: _Json
    results: Any


@dataclass(frozen=True)
class PartSize:
    """How much of the data a part is.

    Attributes:
        files: how many files were read, or parts of them.
        records: how many records.
        bytes: how many bytes, as they are on disk.
    """

    files: int
    records: int
    bytes: int


@dataclass(frozen=True)
class PartFiles:
    """All parts of one run.

    Attributes:
        options: what was asked for, as JSON.
        listing: the files as they were found, as JSON.
        files: the path of each part file and the digest of its contents, in the order
            of the parts.
    """

    options: _Json
    listing: _Json
    files: tuple[tuple[Path, str], ...]

    def results(self) -> Iterator[Any]:
        """Yield the results of each part, in order, as JSON.

        Raises:
            SchemagenError: a file was changed since it was opened first.
        """
        for path, digest in track(self.files, "merging", "part"):
            part, found = _read(path)
            if found != digest:
                raise _refusal(path, "the file was replaced while it was read", _AGAIN)
            yield part.results


def check_target(path: Path) -> None:
    """See that a part file may be written, before data is read.

    Raises:
        SchemagenError: there is another file or a directory.
    """
    advice = "name another file, or delete it"
    if path.is_dir():
        raise _refusal(path, "this is a directory", "name a file in it", "SG403")
    try:
        with path.open("rb") as file:
            start = file.read(len(_START))
    except OSError:
        return  # there is none, or writing it says why not
    if start not in (b"", _START):
        raise _refusal(
            path,
            "this file is not a part that schemagen wrote, and is left as it is",
            advice,
            "SG403",
        )


def write_part_file(path: Path, part: PartFile) -> None:
    """Write a part file in one step; an earlier one is replaced.

    Raises:
        SchemagenError: it cannot be written.
    """
    check_target(path)
    data = {
        "format": FORMAT,
        "schemagen": package_version(),
        "command": part.command,
        "part": part.share.number,
        "parts": part.share.of,
        "options": part.options,
        "listing": part.listing,
        "results": part.results,
    }
    body = json.dumps(data, separators=(",", ":"))[1:].encode() + b"\n"
    digest = hashlib.sha256(body).hexdigest().encode()
    write_whole(path, _START + digest + b'",\n' + body)


def open_part_files(paths: Sequence[Path], *commands: str) -> dict[str, PartFiles]:
    """Check that files are all parts of one run, or of one run of each command.

    Args:
        paths: in any order.
        commands: the commands whose parts are expected.

    Returns:
        The parts, by command.

    Raises:
        SchemagenError: a file is not a part, or is damaged; parts are missing or there
            twice; or they are of different runs.
    """
    found: dict[str, dict[int, tuple[Path, str]]] = {}
    firsts: dict[str, tuple[Path, PartFile]] = {}
    for path in paths:
        part, digest = _read(path)
        if part.command not in commands:
            raise _refusal(
                path,
                f"a part of `schemagen {part.command}`",
                f"merge it with `schemagen {part.command} --merge`",
                expected=f"a part of `schemagen {' or '.join(commands)}`",
            )
        first = firsts.setdefault(part.command, (path, part))
        some = next(iter(firsts.values()))
        for other, known in (first, some):
            _check_same_run(path, part, other, known)
        known_parts = found.setdefault(part.command, {})
        if part.share.number in known_parts:
            other = known_parts[part.share.number][0]
            raise _refusal(
                path,
                f"part {part.share} is in this file and in {other}",
                "leave one of them out",
            )
        known_parts[part.share.number] = path, digest
    for command in commands:
        if command not in found:
            raise _refusal(
                paths[0],
                f"no file is a part of `schemagen {command}`",
                f"name the files that `schemagen {command} --out` has written, too",
            )
    for command, numbers in found.items():
        _check_complete(firsts[command][0], firsts[command][1], numbers)
    return {
        command: PartFiles(
            firsts[command][1].options,
            firsts[command][1].listing,
            tuple(numbers[at] for at in sorted(numbers)),
        )
        for command, numbers in found.items()
    }


def _check_complete(path: Path, part: PartFile, numbers: Mapping[int, Any]) -> None:
    missing = [at for at in range(1, part.share.of + 1) if at not in numbers]
    if missing:
        shown = ", ".join(f"{at}/{part.share.of}" for at in missing[:_SHOWN])
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise _refusal(
            path,
            f"not all parts of this run are there: {shown}{more} missing",
            f"run `schemagen {part.command}` with --part {missing[0]}/{part.share.of}, "
            "or name its file too",
            found=f"{len(numbers)} of {part.share.of} parts",
            expected="all parts of one run",
        )


def _check_same_run(path: Path, part: PartFile, other: Path, known: PartFile) -> None:
    """Check that two parts are of one run, or of runs of two commands on one listing."""
    if part.command == known.command:
        if part.share.of != known.share.of:
            raise _refusal(
                path,
                f"the number of parts differs from that of {other}",
                "merge only parts with the same n of --part i/n",
                found=f"part {part.share}",
                expected=f"a part of {known.share.of}",
            )
        for name, value in known.options.items():
            if part.options.get(name) != value:
                raise _refusal(
                    path,
                    f"the part has a different --{name.replace('_', '-')} than {other}",
                    "run all parts with the same options",
                    found=_shown(part.options.get(name)),
                    expected=_shown(value),
                )
    if part.listing != known.listing:
        expected, found = difference(known.listing, part.listing)
        raise _refusal(
            path,
            f"the part is of other data than {other}, or the data changed in between",
            f"{_AGAIN}; copies of the data must keep modification times (rsync -t)",
            found=found,
            expected=expected,
        )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
        return f"{value.get('record')} (a schema with the hash {digest[:12]})"
    return "none" if value is None else str(value)


def _read(path: Path) -> tuple[PartFile, str]:
    """Return a part, and the digest of its contents."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise _refusal(
            path,
            f"the file cannot be read: {error.strerror or error}",
            "name the files that --out has written",
        ) from None
    seal = _SEAL.match(text)
    if seal is None:
        raise _refusal(
            path,
            "this is not a whole part file",
            "name the files that --out has written",
        )
    digest = hashlib.sha256(memoryview(text)[seal.end() :]).hexdigest()
    if digest != seal[1].decode():
        raise _refusal(
            path,
            "the part file is damaged or truncated",
            "copy it again, or run this part again",
            found=f"contents with the SHA-256 {digest}",
            expected=f"{seal[1].decode()}, as its first line says",
        )
    data = json.loads(text)
    if (data["format"], data["schemagen"]) != (FORMAT, package_version()):
        raise _refusal(
            path,
            "a different version of schemagen wrote this part",
            "use one version on all machines",
            found=f"schemagen {data['schemagen']}, format {data['format']}",
            expected=f"schemagen {package_version()}, format {FORMAT}",
        )
    share = Share(data["part"], data["parts"])
    names = ("options", "listing", "results")
    return PartFile(data["command"], share, *(data[name] for name in names)), digest


def package_version() -> str:
    """Return the version of schemagen; "unknown" if it is not installed."""
    try:
        return version("schemagen")
    except PackageNotFoundError:
        return "unknown"


def _refusal(
    path: Path,
    message: str,
    advice: str,
    rule: str = "SG443",
    *,
    found: str = "",
    expected: str = "",
) -> SchemagenError:
    return refuse(
        Finding(
            Location(str(path)),
            rule,
            message,
            found=found,
            expected=expected,
            advice=advice,
        )
    )
