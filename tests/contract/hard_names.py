"""Field names that mean something else to Python, to pydantic or to generated code."""

from __future__ import annotations

BUILTINS = (
    *("list", "len", "type", "id", "str", "bytes", "int", "float", "tuple", "bool"),
    *("set", "print", "super", "object", "range", "isinstance", "open"),
)
GENERATED = (
    *("batch", "features", "stored", "reading", "wire", "np", "tf", "keras", "record"),
    *("rows", "value", "model", "serialized", "os", "Any", "name", "known", "values"),
    *("outputs", "archive", "blocks", "KEYS", "fields", "FEATURE_DESCRIPTION"),
    *("CLASSES", "ENCODERS", "INFO", "Writer", "write_dataset", "directory", "split"),
    *("shards", "shard_bytes", "compression", "overwrite", "args", "kwargs", "cls"),
    *("append", "extend", "ArrayLike", "NDArray", "Sequence", "Tensor", "Column"),
    *("Iterable", "Mapping", "optimizer", "encoders", "inputs", "adapt", "fit"),
    *("make_inputs", "build_model", "load_spec", "ShardedWriter", "Label", "VarLen"),
    *("element", "dataset", "info", "augment", "prepare", "batches", "training"),
    *("annotations", "datasets", "sort", "index", "write", "write_batch", "records"),
    *("serialize_batch", "Columns", "columns", "framed"),
    *("close", "prompt", "examples", "serve", "path", "source", "seed", "writer"),
)
LETTERS = ("x", "X", "ª", "ﬁsh", "match", "case", "true", "x1")
# Python reads ª as a and ﬁ as fi. Other letters cannot name the layers of a model.
INFO_ONLY = ("ärger", "Ärger", "名前", "ñ", "ß")
ACCEPTED = (*BUILTINS, *GENERATED, *LETTERS, *INFO_ONLY)

REFUSED = {
    "self": "SG115",
    "serialize": "SG115",
    "columns_by_key": "SG115",
    "encode_example": "SG115",
    "encode_examples": "SG115",
    "frame_examples": "SG115",
    "copy": "SG115",
    "json": "SG115",
    "dict": "SG115",
    "schema": "SG115",
    "model_fields": "SG115",
    "model_dump": "SG115",
    "mro": "SG115",
    "list_present": "SG115",
    "ärger": "SG115",
    "名前": "SG115",
    "model_config": "SG101",
}

# Builtins are imported under other names: fields shadow them in the class.
_HEAD = """\
from typing import Annotated as A_

from numpy import ndarray as array_

from schemagen import Label as Label_, Record as Record_, Scalar as Scalar_
from schemagen import Text as Text_, VarLen as VarLen_, Vector as Vector_

int_, str_, list_ = int, str, list


class {class_name}(Record_):
"""

# The kinds, in turn, and a value of each.
KINDS = (
    ("A_[int_, Scalar_('int64')]", 7),
    ("A_[list_[int_], VarLen_('int16')]", [1, 2]),
    ("A_[str_, Text_()]", "text"),
    ("A_[array_ | None, Vector_(shape=(2,), dtype='uint8')] = None", [3, 4]),
    ("A_[str_, Label_(classes=('a', 'b'), role='input')]", "b"),
)


def schema_of_names(names: tuple[str, ...], class_name: str) -> str:
    """Return a schema file with one record that has these fields."""
    lines = []
    for index, name in enumerate(names):
        kind = KINDS[index % len(KINDS)][0]
        if name in INFO_ONLY and class_name != "Reserved":
            kind = "A_[int_, Scalar_('int64', role='info')]"
        lines.append(f"    {name}: {kind}\n")
    target = "    the_target: A_[int_, Label_(num_classes=3)]\n"
    return _HEAD.format(class_name=class_name) + "".join(lines) + target
