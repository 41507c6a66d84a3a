"""Findings in schema files."""

from __future__ import annotations

from .rule import Rule

SCHEMAS = (
    Rule(
        "SG101",
        "a schema file does not load",
        "Schema files are Python and are imported; one that raises declares nothing.",
    ),
    Rule(
        "SG102",
        "a schema file imports generated code",
        "Generated code follows from schemas. A schema that needs it could never be "
        "generated again from a clean checkout.",
    ),
    Rule(
        "SG103",
        "no record in the schema files",
        "There is nothing to generate.",
    ),
    Rule(
        "SG104",
        "two records with one name",
        "Each record is generated into a package with its name.",
    ),
    Rule(
        "SG105",
        "a record's name cannot be a package's",
        "The name becomes a folder and an import on every machine.",
    ),
    Rule(
        "SG106",
        "a record without fields",
        "There is nothing to write or read.",
    ),
    Rule(
        "SG107",
        "a model that may be meant as a record",
        "Nothing is generated from a class that derives from pydantic's BaseModel, "
        "unless a record has a field of it.",
    ),
    Rule(
        "SG111",
        "a field of a type that has no kind",
        "A type must say how its values are stored.",
    ),
    Rule(
        "SG112",
        "a type that does not go with its kind",
        "The annotation is what type checkers believe; it has to be true.",
    ),
    Rule(
        "SG113",
        "a kind's parameter is wrong",
        "Generated code is made from these values.",
    ),
    Rule(
        "SG114",
        "a duplicate wire key",
        "A tf.train.Example is a map: one of the two fields would be lost.",
    ),
    Rule(
        "SG115",
        "a field's name is taken",
        "Field names become keywords and dictionary keys of generated code.",
    ),
    Rule(
        "SG116",
        "a default that the field cannot hold",
        "Readers deliver the default where the feature is missing.",
    ),
    Rule(
        "SG117",
        "metadata that schemagen does not know",
        "The generated writer could not enforce it, and would silently drop it.",
    ),
    Rule(
        "SG118",
        "a role that the field's kind cannot play",
        "The generated model has no input, head or weight for it.",
    ),
    Rule(
        "SG119",
        "a declaration that would be lost",
        "Python keeps the last of two fields of one name, and pydantic no private ones.",
    ),
    Rule(
        "SG120",
        "steps in a Record, or a SequenceRecord without any",
        "Only a tf.train.SequenceExample has feature lists, and one without them could "
        "not be told from a tf.train.Example.",
    ),
    Rule(
        "SG121",
        "a mask that would not move with its picture",
        "Augmentation mirrors and moves pictures: training would teach each pixel the "
        "class of another one.",
    ),
    Rule(
        "SG122",
        "a name or a key that a record reserves",
        "Data of a field that is no more may still have it: read as the new field, it "
        "would say something else.",
    ),
)
