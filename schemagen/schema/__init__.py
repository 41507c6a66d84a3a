"""What users write: records and the kinds of their fields."""

from ..runtime.kinds.audio import Audio
from ..runtime.kinds.augment import Augment
from ..runtime.kinds.classes import Label, MultiLabel
from ..runtime.kinds.image_lists import Images
from ..runtime.kinds.images import Image
from ..runtime.kinds.lists import VarLen
from ..runtime.kinds.masks import Mask
from ..runtime.kinds.numbers import Scalar, Vector
from ..runtime.kinds.ragged import Ragged
from ..runtime.kinds.sparse import Sparse
from ..runtime.kinds.steps import Steps
from ..runtime.kinds.tensors import Tensor
from ..runtime.kinds.text import Text
from .declaration import Nested
from .record import Record, SequenceRecord

__all__ = [
    "Audio",
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
