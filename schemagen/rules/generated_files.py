"""Findings in generated files."""

from __future__ import annotations

from .rule import Rule

GENERATED_FILES = (
    Rule(
        "SG301",
        "a generated file is missing",
        "The committed code does not follow from the schemas.",
    ),
    Rule(
        "SG302",
        "a generated file is out of date: its schema changed",
        "Code and schema disagree about the record.",
    ),
    Rule(
        "SG303",
        "a generated file is out of date: its template changed",
        "Another version of schemagen or of a template prints other code for the same "
        "schema.",
    ),
    Rule(
        "SG304",
        "a generated file was edited by hand",
        "The edit would be lost, and until then the parts may disagree.",
    ),
    Rule(
        "SG305",
        "a generated file was reformatted",
        "It says the same in other words; check compares bytes.",
    ),
    Rule(
        "SG306",
        "a generated file has other line endings",
        "Git may have converted them; check compares bytes.",
    ),
    Rule(
        "SG307",
        "a generated file that no schema asks for",
        "It is left over from a record that was renamed or removed.",
    ),
    Rule(
        "SG308",
        "a file in the output directory that schemagen did not write",
        "Only files with schemagen's own header are ever overwritten or deleted.",
    ),
    Rule(
        "SG309",
        "a generated file with merge conflicts",
        "Neither side follows from the merged schemas; both are in git, so that nothing "
        "is lost by generating the file again.",
    ),
    Rule(
        "SG310",
        "a generated file whose header is broken",
        "The header's hash is what tells an edited file from one that may be "
        "overwritten.",
    ),
    Rule(
        "SG311",
        "a symbolic link in the place of a generated file",
        "Writing or deleting through it would change files elsewhere.",
    ),
    Rule(
        "SG312",
        "a file whose name differs from a generated one's in case only",
        "On Windows and macOS both are one file.",
    ),
    Rule(
        "SG313",
        "code that was generated with a copy of the runtime",
        "Earlier versions of schemagen copied the runtime into every project; it is now "
        "the library schemagen.runtime.",
    ),
)
