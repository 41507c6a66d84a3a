"""What can be exported to, and the table of each."""

from __future__ import annotations

from .arrow_mapping import MAPPING as ARROW
from .croissant_mapping import MAPPING as CROISSANT
from .mapping import MappingRow
from .tfds_mapping import MAPPING as TFDS
from .tfmd_mapping import MAPPING as TFMD

TABLES: dict[str, tuple[MappingRow, ...]] = {
    "tfds": TFDS,
    "tfmd": TFMD,
    "arrow": ARROW,
    "croissant": CROISSANT,
}

TITLES = {
    "tfds": "TensorFlow Datasets",
    "tfmd": "TensorFlow Metadata, for TensorFlow Data Validation",
    "arrow": "Arrow",
    "croissant": "Croissant",
}
