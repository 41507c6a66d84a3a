"""Whether a schema file that was written says what it should."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ..findings import Finding
from ..schema.loading import load_schemas
from ..spec.model import RecordSpec
from ..spec.resolve import resolve

_SCHEMAS = "schemagen_drafted_schemas"


def wrong_with(source: str, spec: RecordSpec) -> tuple[Finding, ...]:
    """Load a schema file's text apart from any project, and say what is wrong with it.

    Args:
        source: as `schema_source` has written it.
        spec: what it has to say.

    Returns:
        The findings of its record; none if the schema is right.

    Raises:
        AssertionError: it is right, and says something else: a fault of schemagen.
    """
    with TemporaryDirectory() as directory:
        path = Path(directory) / _SCHEMAS / "drafted.py"
        path.parent.mkdir()
        path.write_text(source, encoding="utf-8")
        loaded = load_schemas(Path(directory), _SCHEMAS, "schemagen_no_output")
        resolved = resolve(loaded.records)
    findings = (*loaded.findings, *resolved.findings)
    found = [replace(each, source=spec.source) for each in resolved.specs]
    assert findings or found == [spec], "a schema that says something else"
    return findings
