"""Requests and settings that cannot be carried out."""

from __future__ import annotations

from .rule import Rule

REQUESTS = (
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
        "A field that is silently left out would be noticed only in training.",
    ),
    Rule(
        "SG463",
        "part of a source is approximated",
        "The schema may state more or less than its source.",
    ),
)
