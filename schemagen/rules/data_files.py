"""Findings in data files."""

from __future__ import annotations

from .rule import Rule

DATA_FILES = (
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
        "The data after its end is lost; readers stop there or fail.",
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
        "same record in two splits",
        "A model that was trained on a test record is measured by what it remembers. "
        "Remove the copies from one split, or split by what records share, such as a "
        "patient, before you write.",
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
        "A metric on other data than that of training says little about the model. Shuffle "
        "before you split. If the splits are meant to differ, as by time, raise the "
        "threshold.",
    ),
    Rule(
        "SG544",
        "class without enough records",
        "A class that training lacks is never predicted, and one that test lacks is not "
        "measured. Add records of it, split each class by the same share, or remove the "
        "class from the schema.",
    ),
)
