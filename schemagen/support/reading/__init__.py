"""Graph code of the parsers: from a batch of Examples to tensors, or an error.

Shapes are written with B for the batch and T for its longest sequence. Every check
raises tf.errors.InvalidArgumentError and names the field.
"""

from .examples import described, keys_of, parse, present
from .groups import Member, check_groups, row_lengths
from .images import decode_image_lists, decode_images, decode_pixels, resized
from .labels import class_ids, class_ids_of_names, multi_hot
from .masks import decode_masks
from .nesting import first_record, flattened, nested
from .numbers import booleans, decode_raw, dequantized, narrow
from .ragged import partitioned
from .sequences import limited, padded, sequence
from .sparse import dense, sparse
from .steps import list_present, parse_sequences
from .tensors import deserialized, sized

__all__ = [
    "Member",
    "booleans",
    "check_groups",
    "class_ids",
    "class_ids_of_names",
    "decode_image_lists",
    "decode_images",
    "decode_masks",
    "decode_pixels",
    "decode_raw",
    "dense",
    "dequantized",
    "described",
    "deserialized",
    "first_record",
    "flattened",
    "keys_of",
    "limited",
    "list_present",
    "multi_hot",
    "narrow",
    "nested",
    "padded",
    "parse",
    "parse_sequences",
    "partitioned",
    "present",
    "resized",
    "row_lengths",
    "sequence",
    "sized",
    "sparse",
]
