"""All kinds, by the names that specs and messages give them."""

from __future__ import annotations

from .image import Image
from .images import Images
from .kind import Kind
from .label import Label
from .mask import Mask
from .multilabel import MultiLabel
from .ragged import Ragged
from .scalar import Scalar
from .sparse import Sparse
from .steps import Steps
from .tensor import Tensor
from .text import Text
from .varlen import VarLen
from .vector import Vector

KINDS: dict[str, type[Kind]] = {
    kind.name: kind
    for kind in (
        Image,
        Images,
        Label,
        Mask,
        MultiLabel,
        Ragged,
        Scalar,
        Sparse,
        Steps,
        Tensor,
        Text,
        VarLen,
        Vector,
    )
}
