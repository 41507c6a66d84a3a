"""DeepVariant: pileups of reads around a candidate variant."""

from typing import Annotated

import numpy as np
from schemagen import Label, Record, Scalar, Tensor


class Pileup(Record):
    """One candidate variant, with the reads around it as an image of six channels."""

    image: Annotated[
        np.ndarray,
        Tensor((100, 221, 6), "uint8", key="image/encoded", shape_key="image/shape"),
    ]
    locus: bytes
    variant: Annotated[bytes, Scalar("bytes", key="variant/encoded")]
    """A serialized third_party.nucleus.protos.Variant."""

    alt_allele_indices: Annotated[
        bytes, Scalar("bytes", key="alt_allele_indices/encoded")
    ]
    variant_type: int
    sequencing_type: int
    label: Annotated[int, Label(num_classes=3)]
    """How many copies of the alternative allele there are."""
