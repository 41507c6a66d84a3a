"""Requests and settings that cannot be carried out."""

from __future__ import annotations

from .rule import Rule

REQUESTS = (
    Rule(
        "SG401",
        "the settings cannot be used",
        "An unknown or mistyped setting would silently do nothing.",
    ),
    Rule(
        "SG402",
        "no project here",
        "A project is a directory with [tool.schemagen] in its pyproject.toml.",
    ),
    Rule(
        "SG403",
        "a file or directory cannot be read or written",
        "No file is left half-written; running the command again ends the work.",
    ),
    Rule(
        "SG404",
        "init, eject, infer or import would overwrite something",
        "What is already there is yours.",
    ),
    Rule(
        "SG405",
        "no such record",
        "The name has to be one that the schema files declare.",
    ),
    Rule(
        "SG406",
        "a record that cannot be trained",
        "A training program needs a target: without one there is no loss.",
    ),
    Rule(
        "SG407",
        "a package that is not installed",
        "What few projects need is left to an extra.",
    ),
    Rule(
        "SG408",
        "the command line is wrong",
        "With --format json, programs get this as a finding too.",
    ),
    Rule(
        "SG409",
        "the command was interrupted",
        "What it has found until then is not all that there is.",
    ),
    Rule(
        "SG410",
        "a bug in schemagen",
        "A result that a bug may have changed must not pass for a clean one.",
    ),
    Rule(
        "SG411",
        "a template has an error",
        "Nothing is written until every template can be rendered for every record.",
    ),
    Rule(
        "SG412",
        "a template prints text that is not valid in the file's language",
        "A module that cannot be compiled would be found out by those who import it.",
    ),
    Rule(
        "SG413",
        "a template that stands for nothing",
        "A template with a mistyped name would silently change nothing.",
    ),
    Rule(
        "SG414",
        "an additional output that cannot be written where it should",
        "Files of schemagen and of others must never take each other's place.",
    ),
    Rule(
        "SG415",
        "the original of an ejected template has changed",
        "What the new version prints better, or has fixed, is not in the copy.",
    ),
    Rule(
        "SG416",
        "no such template",
        "The name has to be one that schemagen has.",
    ),
    Rule(
        "SG421",
        "git tracks a generated file or its source, and not the other",
        "Every other clone would get a half: code without its schema, or a schema "
        "whose code is missing.",
    ),
    Rule(
        "SG422",
        "git does not say what it tracks",
        "Only git knows which files the next commit holds.",
    ),
    Rule(
        "SG431",
        "nothing to compare with",
        "A gate that finds no schemas to compare with would let everything pass.",
    ),
    Rule(
        "SG432",
        "the accepted breaks cannot be read",
        "Breaks that were accepted would be found again, or new ones missed.",
    ),
    Rule(
        "SG433",
        "no one break is meant",
        "Each acceptance is of one exact break, so that the next one is seen.",
    ),
    Rule(
        "SG441",
        "data that cannot be looked at",
        "Files that are not found would otherwise pass for files that are sound.",
    ),
    Rule(
        "SG442",
        "data from which no schema can be inferred",
        "What is inferred from other files than those that were meant would look right.",
    ),
    Rule(
        "SG451",
        "a record that another tool cannot describe",
        "A description that leaves out what changes values would have them misread.",
    ),
    Rule(
        "SG452",
        "an export that cannot be asked for like that",
        "What is asked for has to be known, and what makes it installed.",
    ),
    Rule(
        "SG453",
        "data that another tool cannot read as the export would say",
        "A description of other data than is there would be believed.",
    ),
    Rule(
        "SG454",
        "an export whose place is taken",
        "Files of others are never overwritten without being told to.",
    ),
    Rule(
        "SG461",
        "a source that cannot be imported",
        "What is not what it was taken for would give a schema of something else.",
    ),
    Rule(
        "SG462",
        "a part of a source that has no counterpart here",
        "A field that is left out silently would be missed only in training.",
    ),
    Rule(
        "SG463",
        "a part of a source that is only approximated",
        "The schema may say more or less than its source does.",
    ),
)
