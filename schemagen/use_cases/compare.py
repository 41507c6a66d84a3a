"""The gate for changes of schemas: what they break, and what was accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..atomic_write import write_whole
from ..config import FILE_NAME as SETTINGS
from ..config import Project, find_project, output_in
from ..evolution.baseline import Baseline, of_data, of_path, of_revision
from ..evolution.comparison import (
    Acceptance,
    Break,
    Mode,
    compare,
    dump_acceptances,
    load_acceptances,
)
from ..findings import Finding, Location, refused
from ..git import ACCEPTED_BREAKS, Revision, find_revision
from ..runtime.shared.errors import Problem, did_you_mean, did_you_mean_path
from ..schema.loading import LoadedRecord
from ..spec.serial import to_data
from .generate import resolve_schemas


@dataclass(frozen=True)
class Comparison:
    """What a change of schemas breaks.

    Attributes:
        findings: what was not accepted.
        records: how many records were compared.
        accepted: how many breaks were accepted, now or before.
        where: what the schemas were compared with.
    """

    findings: tuple[Finding, ...]
    records: int
    accepted: int
    where: str

    @property
    def breaks(self) -> int:
        """How many findings are more than a warning."""
        return sum(finding.severity == "error" for finding in self.findings)


@dataclass(frozen=True)
class _Found:
    """A break, where it shows, and whether it was found against data."""

    broken: Break
    location: Location
    class_name: str
    at_data: bool

    @property
    def of_record(self) -> str:
        """What names all breaks of its rule in its record: SG221:pet_photo."""
        return f"{self.broken.rule.id}:{self.broken.record}"

    @property
    def selector(self) -> str:
        """What names it on the command line: SG221:pet_photo.breed."""
        field = self.broken.change.field
        return f"{self.of_record}.{field}" if field else self.of_record


def breaking(
    against: str,
    directory: Path | str = ".",
    *,
    mode: Mode = Mode.BACKWARD,
    accept: Sequence[str] = (),
    reason: str = "",
) -> Comparison:
    """Compare a project's schemas with those of a revision, a file or data.

    Args:
        against: a path that exists, the URL of a data directory, or a git revision.
        directory: in the project.
        mode: who has to get along with whom.
        accept: breaks to record as accepted: a rule's id, or with the field,
            "SG221:pet_photo.breed", where several come under the rule; "SG221:pet_photo"
            for all of the rule in a record.
        reason: why they may be.

    Raises:
        SchemagenError: the schemas or what they are compared with cannot be read, or
            the break to accept does not exist. Nothing is recorded then.
    """
    project = find_project(Path(directory))
    resolved = resolve_schemas(project)
    specs = {spec.record: to_data(spec) for spec in resolved.specs}
    parts = _baselines(against, project)
    found = [
        _located(broken, part, resolved.records, project)
        for part in parts
        for broken in compare(part.specs, specs, mode, part.axes)
    ]
    at_data = any("api" not in part.axes for part in parts)
    if accept and at_data:
        raise refused(
            _accepted_breaks(project),
            f"--accept: no break can be accepted against data, as {against} is",
            rule="SG433",
            found=f"--against {against}",
            expected="--against a git revision or a spec.json",
            advice="accepting makes no data readable: see what `to do` says about the break",
        )
    # What is accepted passes the gate; data is read alike or it is not.
    accepted = () if at_data else _recorded(project)
    if accept:
        new = [
            each.broken.accepted(reason)
            for selector in accept
            for each in _chosen(selector, found, accepted, project)
        ]
        accepted = (*accepted, *new)
        write_whole(
            project.output / ACCEPTED_BREAKS,
            dump_acceptances(accepted),
            _accepted_breaks(project),
        )
    left = [each for each in found if not each.broken.is_accepted(accepted)]
    findings = [_finding(each, against) for each in left]
    findings += [_nothing(part, project) for part in parts if not part.specs]
    return Comparison(
        tuple(sorted(findings)),
        len({record for part in parts for record in part.specs}),
        len(found) - len(left),
        " and ".join(part.where for part in parts),
    )


def _accepted_breaks(project: Project) -> str:
    """Return the file of accepted breaks, relative to the project."""
    return f"{project.settings.output}/{ACCEPTED_BREAKS}"


def _baselines(against: str, project: Project) -> tuple[Baseline, ...]:
    try:
        if "://" in against:
            return of_data(against, against)
        if Path(against).exists():
            return of_path(Path(against), against)
        revision = find_revision(project.root, against)
        if revision is None:
            return (Baseline(f"{against}, before the first commit,", {}),)
        return (of_revision(revision, _output_at(revision, project)),)
    except Problem as problem:
        raise refused(
            project.settings.schemas,
            f"{against}: nothing to compare with",
            rule="SG431",
            found=problem.found,
            expected=problem.expected,
            advice=did_you_mean_path(against) or problem.advice,
        ) from None


def _nothing(part: Baseline, project: Project) -> Finding:
    """Say that nothing exists to compare with: the first commit of a project."""
    return Finding(
        Location(project.settings.schemas),
        "SG431",
        f"{part.where} has no generated code: nothing can be broken",
        expected=f"a spec.json for each record, in {project.settings.output}",
        advice="commit the generated code; if it is there, see what is compared",
        severity="warning",
    )


def _output_at(revision: Revision, project: Project) -> str:
    """Return where a revision has its generated code, by its own settings."""
    text = revision.read([SETTINGS]).get(SETTINGS, b"")
    return output_in(text.decode(errors="replace")) or project.settings.output


def _located(
    broken: Break, part: Baseline, records: Mapping[str, LoadedRecord], project: Project
) -> _Found:
    record = records.get(broken.record)
    place, name = Location(project.settings.schemas), broken.record
    if record is not None:
        place = record.fields.get(broken.change.field, record.location)
        name = record.name
    return _Found(broken, place, name, "api" not in part.axes)


def _finding(found: _Found, against: str) -> Finding:
    broken = found.broken
    draft = ", in a draft" if broken.draft else ""
    change, to_do = str(broken.change), broken.rule.to_do
    if broken.forward:  # the reader's schema is an old one, which no hint can change
        change = broken.change.plain
        expected = "existing readers understand new data"
        to_do = "update all readers before anything is written with the new schema"
    elif broken.rule.axis == "api":
        expected = "existing programs keep working"
    else:
        expected = "existing data stays readable"
    accept = (
        f"; or `schemagen breaking --against {against} --accept {found.selector} "
        "--reason TEXT`"
    )
    return Finding(
        found.location,
        broken.rule.id,
        f"{found.class_name}: {change}",
        found=f"{broken.rule.axis}: {broken.rule.title}{draft}",
        expected=expected,
        advice=to_do + (accept if broken.is_error and not found.at_data else ""),
        severity="error" if broken.is_error else "warning",
    )


def _recorded(project: Project) -> tuple[Acceptance, ...]:
    shown = _accepted_breaks(project)
    try:
        text = (project.root / shown).read_text(encoding="utf-8")
        return load_acceptances(text)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise refused(
            shown,
            f"{shown} cannot be read: {error}",
            rule="SG432",
            expected="the file that `schemagen breaking --accept` writes",
            advice="restore it; of a merge conflict, keep the lines of both sides and "
            "remove its markers",
        ) from None


def _chosen(
    selector: str,
    found: Sequence[_Found],
    accepted: Sequence[Acceptance],
    project: Project,
) -> list[_Found]:
    """Return the break that is meant, or those of a rule in a record."""
    there = [each for each in found if not each.broken.is_accepted(accepted)]
    of_record = [each for each in there if selector == each.of_record]
    if of_record:
        return of_record
    meant = [each for each in there if selector in (each.selector, each.broken.rule.id)]
    breaks = [each.broken.accepted("") for each in meant]
    if meant and all(each == breaks[0] for each in breaks):
        return meant[:1]
    names = sorted({each.selector for each in meant or there})
    matching = "several breaks match" if meant else "no break matches"
    raise refused(
        _accepted_breaks(project),
        f"--accept {selector}: {matching}",
        rule="SG433",
        found=", ".join(names) or "nothing that is a break",
        expected="one break, by its rule and field, SG221:pet_photo.breed, or those of a "
        "rule in a record, SG221:pet_photo",
        advice=did_you_mean(selector, names) or "name one of them",
    )
