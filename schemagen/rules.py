"""The kinds of findings: one row each. Docs and tests are made from this table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One kind of finding.

    Attributes:
        id: SG and three digits; 1 schema, 2 breaking changes (`evolution/table.py`),
            3 generated files, 4 request and settings, 5 data files.
        title: what is wrong, in a few words.
        purpose: why it matters.
    """

    id: str
    title: str
    purpose: str


_ROWS = (
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
        "init, eject or infer would overwrite something",
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
        "SG411",
        "a template has an error",
        "Nothing is written until every template can be rendered for every record.",
    ),
    Rule(
        "SG412",
        "a template prints what is none of the file's language",
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
        "What the new version prints better, or has mended, is not in the copy.",
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
        "SG501",
        "a manifest that cannot be read",
        "Nothing else says which files belong to a split, and what wrote them.",
    ),
    Rule(
        "SG502",
        "a data file of the manifest is missing",
        "Training would see a part of the split and not know it.",
    ),
    Rule(
        "SG503",
        "a data file is not the one that the manifest lists",
        "Its size, checksum and number of records were written down when it was whole.",
    ),
    Rule(
        "SG504",
        "a data file that the manifest does not list",
        "Programs that read by a glob would read it, and those that read the manifest "
        "not.",
    ),
    Rule(
        "SG505",
        "a data file without records",
        "Readers deliver nothing from it and say nothing.",
    ),
    Rule(
        "SG506",
        "a data file that ends too early",
        "What stood behind its end is lost; readers stop there or fail.",
    ),
    Rule(
        "SG507",
        "a damaged record",
        "Length and bytes of a record have a checksum each, so that damage is never "
        "read as data.",
    ),
    Rule(
        "SG508",
        "a file that is no TFRecord file",
        "No reader finds a record in it.",
    ),
    Rule(
        "SG509",
        "a data file that is compressed otherwise than said",
        "Readers are told the compression by the name, the manifest or a parameter.",
    ),
    Rule(
        "SG510",
        "a data file that cannot be read",
        "Nothing is known of its records.",
    ),
    Rule(
        "SG511",
        "data that was written with another schema",
        "Generated readers compare both schemas and refuse the data before its first "
        "record.",
    ),
    Rule(
        "SG521",
        "a record that is another message",
        "Any bytes may stand in a TFRecord file; some of other messages parse without "
        "a word.",
    ),
    Rule(
        "SG522",
        "a feature that is missing",
        "tensorflow by itself reads a missing list as an empty one.",
    ),
    Rule(
        "SG523",
        "a feature with a list of another type",
        "An Example has lists of bytes, floats and int64; a reader asks for one of "
        "them.",
    ),
    Rule(
        "SG524",
        "a feature with another number of values",
        "A tensor of fixed shape needs as many values as it has elements.",
    ),
    Rule(
        "SG525",
        "raw bytes of another size",
        "Bytes do not say their dtype: of another one they would read as other "
        "numbers.",
    ),
    Rule(
        "SG526",
        "a number that its dtype cannot hold",
        "Lists hold int64; a cast to fewer bits would make another number of it.",
    ),
    Rule(
        "SG527",
        "a class that there is not",
        "An id outside of the classes trains nothing, or the wrong class.",
    ),
    Rule(
        "SG528",
        "an encoded value that is not as declared",
        "Pictures and serialized tensors say themselves what they are, which may be "
        "something else.",
    ),
    Rule(
        "SG529",
        "lengths or indices that do not go together",
        "Boxes without their corners, and lists cut in other places, are other data.",
    ),
    Rule(
        "SG530",
        "a size beside a value that is not the value's",
        "Sizes are stored so that somebody relies on them.",
    ),
    Rule(
        "SG531",
        "text that is not UTF-8",
        "Vocabularies and tokenizers take text for UTF-8.",
    ),
    Rule(
        "SG532",
        "a number that is not finite",
        "One NaN in a batch makes NaN of the loss and then of all weights; the schema "
        "refuses them when writing.",
    ),
)

RULES = {rule.id: rule for rule in _ROWS}
