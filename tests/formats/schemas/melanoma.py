"""Melanoma: pictures of skin lesions with what is known of the patient."""

from typing import Annotated

import numpy as np
from schemagen import Image, Label, Record, Scalar, Text

SIZE = 16
"""Published from 128 to 1024 pixels wide."""


class Melanoma(Record):
    """One lesion. Metadata are ids of categories, -1 for unknown."""

    image: Annotated[bytes | np.ndarray, Image((SIZE, SIZE, 3), encoding="jpeg")]
    image_name: Annotated[str, Text(role="info")]
    patient_id: Annotated[int, Scalar("int64", role="info")]
    sex: int
    age_approx: int
    anatom_site_general_challenge: int

    diagnosis: Annotated[int | None, Label(num_classes=10, role="info")] = None
    target: Annotated[int | None, Label(classes=("benign", "malignant"))] = None
    """No one has said it of the pictures of the test split."""
