"""What users write: records and the kinds of their fields."""

from ..kinds.augment import Augment
from ..kinds.image import Image
from ..kinds.images import Images
from ..kinds.label import Label
from ..kinds.mask import Mask
from ..kinds.multilabel import MultiLabel
from ..kinds.ragged import Ragged
from ..kinds.scalar import Scalar
from ..kinds.sparse import Sparse
from ..kinds.steps import Steps
from ..kinds.tensor import Tensor
from ..kinds.text import Text
from ..kinds.varlen import VarLen
from ..kinds.vector import Vector
from .nested import Nested
from .record import Record, SequenceRecord

__all__ = [
    "Augment",
    "Image",
    "Images",
    "Label",
    "Mask",
    "MultiLabel",
    "Nested",
    "Ragged",
    "Record",
    "Scalar",
    "SequenceRecord",
    "Sparse",
    "Steps",
    "Tensor",
    "Text",
    "VarLen",
    "Vector",
]
