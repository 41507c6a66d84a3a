"""What users write: records and the kinds of their fields."""

from ..runtime.codecs.augment import Augment
from ..runtime.codecs.classes import Label, MultiLabel
from ..runtime.codecs.image_lists import Images
from ..runtime.codecs.images import Image
from ..runtime.codecs.lists import VarLen
from ..runtime.codecs.masks import Mask
from ..runtime.codecs.numbers import Scalar, Vector
from ..runtime.codecs.ragged import Ragged
from ..runtime.codecs.sparse import Sparse
from ..runtime.codecs.steps import Steps
from ..runtime.codecs.strings import Text
from ..runtime.codecs.tensors import Tensor
from .declaration import Nested
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
