"""All kinds. `schemagen` exports what `__all__` lists."""

from __future__ import annotations

from .audio import Audio
from .classes import Label, MultiLabel
from .image_lists import Images
from .images import Image
from .kind import Kind
from .lists import VarLen
from .masks import Mask
from .numbers import Scalar, Vector
from .ragged import Ragged
from .sparse import Sparse
from .steps import Steps
from .tensors import Tensor
from .text import Text

__all__ = [
    "Audio",
    "Image",
    "Images",
    "Label",
    "Mask",
    "MultiLabel",
    "Ragged",
    "Scalar",
    "Sparse",
    "Steps",
    "Tensor",
    "Text",
    "VarLen",
    "Vector",
]

KINDS: dict[str, type[Kind]] = {name: globals()[name] for name in __all__}
"""By the names that specs and messages give them."""
