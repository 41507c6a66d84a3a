"""The kinds of findings: one row each. Docs and tests are made from these tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rule:
    """One kind of finding.

    Attributes:
        id: SG and three digits; 1 schema, 2 breaking changes (`evolution/`),
            3 generated files, 4 request and settings, 5 data files.
        title: what is wrong, in a few words.
        purpose: why it matters.
    """

    id: str
    title: str
    purpose: str


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
        "mask or box is not augmented with its image",
        "Augmentation moves pixels, which would get the class or the box of other ones.",
    ),
    Rule(
        "SG122",
        "reserved name or key is used",
        "The new field would read what old data has of the removed one.",
    ),
    Rule(
        "SG123",
        "sides of boxes do not go together, or boxes with their image",
        "Boxes are checked by all sides; in pixels, with and against their image.",
    ),
    Rule(
        "SG124",
        "several targets by default",
        "A Label or Literal that is meant as an input becomes a second target of the model.",
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

# Findings in data files.
_DATA_FILES = (
    Rule(
        "SG501",
        "manifest cannot be read",
        "Only the manifest states the files of a split and the schema that wrote them.",
    ),
    Rule(
        "SG502",
        "data file is missing, according to the manifest or other file names",
        "Training would use a part of the split without an error.",
    ),
    Rule(
        "SG503",
        "data file does not match the manifest",
        "The manifest has its size, checksum and number of records, as it was written.",
    ),
    Rule(
        "SG504",
        "data file is not in the manifest, or from another write",
        "Programs that use a glob read it, programs that use the manifest do not.",
    ),
    Rule(
        "SG505",
        "split without records",
        "Readers deliver nothing from its files, without an error.",
    ),
    Rule(
        "SG506",
        "truncated data file",
        "The data after its end is lost; readers stop there or fail. Copy the file again. If "
        "there is no other copy, write the records that are left to a new split.",
    ),
    Rule(
        "SG507",
        "damaged record",
        "A record's length and bytes have a checksum each: damage is not read as data.",
    ),
    Rule(
        "SG508",
        "not a TFRecord file",
        "Readers find no record in it.",
    ),
    Rule(
        "SG509",
        "compression does not match",
        "Readers take the compression from the name, the manifest or a parameter.",
    ),
    Rule(
        "SG510",
        "data file cannot be read",
        "Its records are unknown.",
    ),
    Rule(
        "SG511",
        "data was written with an incompatible schema",
        "Generated readers compare both schemas and refuse the data.",
    ),
    Rule(
        "SG512",
        "record over the size limit",
        "A small compressed file can contain a record that fills all memory. TensorFlow "
        "reads a record over 2 GiB as an empty one.",
    ),
    Rule(
        "SG513",
        "data file whose records have no key",
        "Other messages can parse without an error; readers find no value in them.",
    ),
    Rule(
        "SG521",
        "wrong message type",
        "A TFRecord file may contain any bytes; some parse without an error.",
    ),
    Rule(
        "SG522",
        "missing feature",
        "TensorFlow itself reads a missing list as an empty one.",
    ),
    Rule(
        "SG523",
        "wrong feature type",
        "A feature is a list of bytes, floats or int64; a reader expects one of them.",
    ),
    Rule(
        "SG524",
        "wrong number of values",
        "A tensor of fixed shape needs as many values as it has elements.",
    ),
    Rule(
        "SG525",
        "wrong size of raw bytes",
        "Bytes do not state their dtype: read as another one they are other numbers.",
    ),
    Rule(
        "SG526",
        "number out of range of its dtype",
        "Lists hold int64; a cast to fewer bits would change the number.",
    ),
    Rule(
        "SG527",
        "class id out of range",
        "An id that is not a class trains nothing, or the wrong class.",
    ),
    Rule(
        "SG528",
        "encoded value does not match its declaration",
        "Images and tensors have a header that may differ; base64 may be damaged.",
    ),
    Rule(
        "SG529",
        "lengths or indices do not match",
        "Lists that describe each other disagree: values are assigned to wrong items.",
    ),
    Rule(
        "SG530",
        "stored size does not match the value",
        "Programs rely on the sizes that are stored next to a value.",
    ),
    Rule(
        "SG531",
        "text is not UTF-8",
        "Vocabularies and tokenizers expect UTF-8.",
    ),
    Rule(
        "SG532",
        "number is not finite",
        "One NaN in a batch makes the loss and then all weights NaN.",
    ),
    Rule(
        "SG533",
        "box ends before it begins, or is outside of its image",
        "Losses of boxes become negative or NaN; sides are often in another order.",
    ),
    Rule(
        "SG534",
        "mask has another size than its image",
        "Resized to one size, pixels get the classes of other places.",
    ),
    Rule(
        "SG535",
        "number out of the declared range",
        "Models and augmentation rely on the range that `min` and `max` declare.",
    ),
    Rule(
        "SG541",
        "same record or group in two splits",
        "A model that was trained on a test record, or on records of the same patient, is "
        "measured by what it remembers. Remove the copies from one split, or split by what "
        "records share before you write.",
    ),
    Rule(
        "SG542",
        "same record twice in a split",
        "It counts twice in training and in each metric. Often a shard or a source was "
        "written twice: remove the copies and write the split again.",
    ),
    Rule(
        "SG543",
        "splits differ",
        "A metric on other data than that of training says little about the model. The "
        "distributions of the field differ by more than chance explains, and by the "
        "threshold or more, uncertainty included. Shuffle before you split; if you split "
        "by groups, inspect with --group, which takes few groups into account. If a field is meant to differ, as "
        "a time, raise its threshold.",
    ),
    Rule(
        "SG544",
        "class without enough records",
        "A class that training lacks is never predicted, and one that test lacks is not "
        "measured. Add records of it, split each class by the same share, or remove the "
        "class from the schema.",
    ),
    Rule(
        "SG545",
        "input that tells the target",
        "A model that reads the target from a copy of it, or from what is known only "
        'afterwards, learns nothing else. Remove the field, or give it role="info". If it '
        "is known when the model is used, raise its threshold.",
    ),
)

RULES = {
    rule.id: rule for rule in (*_SCHEMAS, *_GENERATED_FILES, *_REQUESTS, *_DATA_FILES)
}


@dataclass(frozen=True)
class Judgement:
    """What `--fail-on` makes findings of.

    Attributes:
        rule: the id of the findings.
        threshold: the default of `[tool.schemagen.thresholds]`.
        limits: what the threshold is.
    """

    rule: str
    threshold: float
    limits: str


JUDGEMENTS: Mapping[str, Judgement] = {
    "leakage": Judgement(
        "SG541",
        0.0,
        "the largest share of the smaller split that may be in the other one; of a "
        "group, of the later split",
    ),
    "duplicates": Judgement(
        "SG542", 0.0, "the largest share of records that may repeat another one"
    ),
    "drift": Judgement(
        "SG543", 0.1, "the distance of two distributions, from 0 to 1, that is drift"
    ),
    "missing-classes": Judgement("SG544", 1, "the fewest records of each class"),
    "target-leakage": Judgement(
        "SG545",
        0.98,
        "the largest share of the target's information that an input may have",
    ),
}
"""The names that `inspect --fail-on` takes."""


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of a project, in place of those of `JUDGEMENTS`.

    Attributes:
        every: for all fields and records.
        fields: for fields, by their names.
    """

    every: Mapping[str, float] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def of(self, judgement: str, name: str = "") -> float:
        """Return the threshold of a field; without a name, of records."""
        set_here = {**self.every, **self.fields.get(name, {})}
        return set_here.get(judgement, JUDGEMENTS[judgement].threshold)
