"""The kinds of findings: one row each. Docs and tests are made from these tables."""

from __future__ import annotations

from .data_files import DATA_FILES
from .rule import Rule

# Findings in schema files.
_SCHEMAS = (
    Rule(
        "SG101",
        "schema file does not load",
        "Schema files are imported. If the import fails, their records are unknown.",
    ),
    Rule(
        "SG102",
        "schema file imports generated code",
        "A schema that imports generated code fails in a clean checkout.",
    ),
    Rule(
        "SG103",
        "no record in the schema files",
        "There is nothing to generate.",
    ),
    Rule(
        "SG104",
        "duplicate record name",
        "Each record is generated into a package with its name.",
    ),
    Rule(
        "SG105",
        "invalid record name",
        "The name becomes a folder and a Python package, on every platform.",
    ),
    Rule(
        "SG106",
        "record without fields",
        "There is nothing to write or read.",
    ),
    Rule(
        "SG107",
        "model that may be meant as a record",
        "Code is generated only for a class that derives from Record.",
    ),
    Rule(
        "SG111",
        "unsupported field type",
        "A type must determine how its values are stored.",
    ),
    Rule(
        "SG112",
        "type does not match its kind",
        "Type checkers rely on the annotation, so it must match the stored values.",
    ),
    Rule(
        "SG113",
        "invalid parameter of a kind",
        "Code is generated from these values.",
    ),
    Rule(
        "SG114",
        "duplicate key",
        "A tf.train.Example is a map: one of the two fields would be lost.",
    ),
    Rule(
        "SG115",
        "reserved field name",
        "Field names become keywords and dictionary keys of generated code.",
    ),
    Rule(
        "SG116",
        "invalid default",
        "Readers deliver the default if the feature is missing.",
    ),
    Rule(
        "SG117",
        "unsupported metadata in a type annotation",
        "The generated writer could not enforce it, and would silently ignore it.",
    ),
    Rule(
        "SG118",
        "role is not supported by the field's kind",
        "The generated model has no input, head or weight for it.",
    ),
    Rule(
        "SG119",
        "field declaration is ignored by pydantic",
        "Pydantic treats annotated names that begin with `_` as private attributes.",
    ),
    Rule(
        "SG120",
        "steps in a Record, or a SequenceRecord without steps",
        "Only a SequenceExample has feature lists, and it is recognized by them.",
    ),
    Rule(
        "SG121",
        "mask is not augmented with its image",
        "Augmentation moves pixels, which would get the class of another one.",
    ),
    Rule(
        "SG122",
        "reserved name or key is used",
        "The new field would read what old data has of the removed one.",
    ),
    Rule(
        "SG123",
        "sides of boxes do not go together",
        "Boxes are checked by all of their sides, and in pixels against their image.",
    ),
)

# Findings in generated files.
_GENERATED_FILES = (
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

# Requests and settings that cannot be carried out.
_REQUESTS = (
    Rule(
        "SG401",
        "invalid settings",
        "An unknown or mistyped setting would silently have no effect.",
    ),
    Rule(
        "SG402",
        "not a project directory",
        "A project is a directory with [tool.schemagen] in its pyproject.toml.",
    ),
    Rule(
        "SG403",
        "file or directory cannot be read or written",
        "No file is left half-written; running the command again completes the work.",
    ),
    Rule(
        "SG404",
        "init, infer or import would overwrite a file",
        "Existing files are yours.",
    ),
    Rule(
        "SG405",
        "unknown record",
        "The schema files must declare the record.",
    ),
    Rule(
        "SG406",
        "record cannot be trained",
        "A training program needs a target: without one there is no loss.",
    ),
    Rule(
        "SG407",
        "package is not installed",
        "Some features need packages of an extra, which is not installed by default.",
    ),
    Rule(
        "SG408",
        "invalid command line",
        "With --format json, programs get this as a finding too.",
    ),
    Rule(
        "SG409",
        "command was interrupted",
        "The findings until then are not complete.",
    ),
    Rule(
        "SG410",
        "bug in schemagen",
        "A result that a bug may have changed must not look like a clean one.",
    ),
    Rule(
        "SG411",
        "error in a template",
        "Nothing is written until every template can be rendered for every record.",
    ),
    Rule(
        "SG412",
        "template prints text that is not valid Python",
        "Otherwise the error would appear only when a program imports the module.",
    ),
    Rule(
        "SG421",
        "git tracks a generated file without its source, or the reverse",
        "Other clones would have code without its schema, or the reverse.",
    ),
    Rule(
        "SG422",
        "git cannot list tracked files",
        "Only git knows which files the next commit contains.",
    ),
    Rule(
        "SG431",
        "nothing to compare with",
        "A check without schemas to compare with would accept everything.",
    ),
    Rule(
        "SG432",
        "accepted breaks cannot be read",
        "Accepted breaks would be reported again, or new ones missed.",
    ),
    Rule(
        "SG433",
        "ambiguous or unknown break to accept",
        "Each acceptance covers one exact break, so the next one is reported.",
    ),
    Rule(
        "SG441",
        "data cannot be read",
        "Missing files must not look like valid files.",
    ),
    Rule(
        "SG442",
        "no schema can be inferred from the data",
        "A schema inferred from the wrong files would look right.",
    ),
    Rule(
        "SG451",
        "record cannot be exported to another tool",
        "The tool cannot read such records.",
    ),
    Rule(
        "SG452",
        "invalid export request",
        "The target and its options must be known.",
    ),
    Rule(
        "SG453",
        "data does not match the export",
        "The description would be wrong for this data.",
    ),
    Rule(
        "SG454",
        "export would overwrite a file",
        "Existing files are overwritten only with --force.",
    ),
    Rule(
        "SG461",
        "source cannot be imported",
        "A source of another format would give a wrong schema.",
    ),
    Rule(
        "SG462",
        "part of a source has no counterpart in schemas",
        "The schema file lacks the field, and has a comment in its place.",
    ),
    Rule(
        "SG463",
        "part of a source is approximated",
        "The schema may state more or less than its source.",
    ),
)

RULES = {
    rule.id: rule for rule in (*_SCHEMAS, *_GENERATED_FILES, *_REQUESTS, *DATA_FILES)
}
