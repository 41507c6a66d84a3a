"""What can be exported to, and the table of each."""

from __future__ import annotations

from .arrow_fates import FATES as ARROW
from .croissant_fates import FATES as CROISSANT
from .fates import Fate
from .tfds_fates import FATES as TFDS
from .tfmd_fates import FATES as TFMD

TABLES: dict[str, tuple[Fate, ...]] = {
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
