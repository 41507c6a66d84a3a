"""Findings in data files."""

from __future__ import annotations

from .rule import Rule

DATA_FILES = (
    Rule(
        "SG501",
        "a manifest that cannot be read",
        "Nothing else says which files belong to a split, and what wrote them.",
    ),
    Rule(
        "SG502",
        "a data file is missing, by the manifest or by the names of others",
        "Training would see a part of the split and not know it.",
    ),
    Rule(
        "SG503",
        "a data file is not the one that the manifest lists",
        "Its size, checksum and number of records were written down when it was whole.",
    ),
    Rule(
        "SG504",
        "a data file that the manifest does not list, or of another writing",
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
        "compression does not match",
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
        "SG512",
        "a record over the limit of size",
        "A small compressed file can hold a record that fills all memory, of the "
        "machine that checks it and of those that train.",
    ),
    Rule(
        "SG521",
        "wrong message type",
        "Any bytes may be in a TFRecord file; some of other messages parse silently.",
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
        "class id out of range",
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
        "a size next to a value that is not the value's",
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
