"""One class per way in which a field is stored: values in, wire bytes out.

Each checks what it is given and refuses what the file could not give back. The
same objects validate a schema's rows and encode them, so the two cannot differ.
"""

from .base import Column, Compound, Feature
from .examples import (
    Columns,
    encode_example,
    encode_examples,
    encode_fields,
    frame_examples,
)
from .groups import check_column_lengths, check_lengths
from .image import DescribedImage, EncodedImage
from .images import EncodedImages
from .label import Label, MultiLabel
from .mask import DescribedMask, Mask
from .nested import nested_members
from .ragged import Ragged
from .sequence import Strings, VarLen
from .shaped import SerializedTensor, SizedTensor
from .sparse import Sparse
from .steps import (
    Steps,
    encode_sequence_example,
    encode_sequence_examples,
    frame_sequence_examples,
)
from .tensor import Tensor
from .text import Bytes, Text

__all__ = [
    "Bytes",
    "Column",
    "Columns",
    "Compound",
    "DescribedImage",
    "DescribedMask",
    "EncodedImage",
    "EncodedImages",
    "Feature",
    "Label",
    "Mask",
    "MultiLabel",
    "Ragged",
    "SerializedTensor",
    "SizedTensor",
    "Sparse",
    "Steps",
    "Strings",
    "Tensor",
    "Text",
    "VarLen",
    "check_column_lengths",
    "check_lengths",
    "encode_example",
    "encode_examples",
    "encode_fields",
    "encode_sequence_example",
    "encode_sequence_examples",
    "frame_examples",
    "frame_sequence_examples",
    "nested_members",
]
