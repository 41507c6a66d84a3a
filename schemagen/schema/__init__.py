"""What users write: records and the kinds of their fields."""

from .augment import Augment
from .image import Image
from .images import Images
from .label import Label
from .mask import Mask
from .multilabel import MultiLabel
from .nested import Nested
from .ragged import Ragged
from .record import Record, SequenceRecord
from .scalar import Scalar
from .sparse import Sparse
from .steps import Steps
from .tensor import Tensor
from .text import Text
from .varlen import VarLen
from .vector import Vector

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
