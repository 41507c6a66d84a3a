"""Findings in schema files."""

from __future__ import annotations

from .rule import Rule

SCHEMAS = (
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
        "field declaration is ignored by Python or pydantic",
        "Python keeps the last of two fields with one name; pydantic ignores private ones.",
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
)
