"""Findings in generated files."""

from __future__ import annotations

from .rule import Rule

GENERATED_FILES = (
    Rule(
        "SG301",
        "generated file is missing",
        "The committed code does not match the schemas.",
    ),
    Rule(
        "SG302",
        "generated file is out of date: its schema changed",
        "Code and schema disagree about the record.",
    ),
    Rule(
        "SG303",
        "generated file is out of date: its template changed",
        "Another version of schemagen or of a template generates different code.",
    ),
    Rule(
        "SG304",
        "generated file was edited by hand",
        "The next run of generate would lose the edit.",
    ),
    Rule(
        "SG305",
        "generated file was reformatted",
        "The code is equivalent, but check compares bytes.",
    ),
    Rule(
        "SG306",
        "generated file has other line endings",
        "Git may have converted them; check compares bytes.",
    ),
    Rule(
        "SG307",
        "generated file is left over",
        "Its record was renamed or removed.",
    ),
    Rule(
        "SG308",
        "file in the output directory that schemagen did not write",
        "Only files with schemagen's own header are ever overwritten or deleted.",
    ),
    Rule(
        "SG309",
        "generated file has merge conflicts",
        "Neither side matches the merged schemas; generate the file again.",
    ),
    Rule(
        "SG310",
        "generated file has a broken header",
        "Without the hash, an edited file cannot be distinguished from a generated one.",
    ),
    Rule(
        "SG311",
        "symbolic link in place of a generated file",
        "Writing or deleting through it would change files elsewhere.",
    ),
    Rule(
        "SG312",
        "file name differs from a generated one only in case",
        "On Windows and macOS both are one file.",
    ),
)
