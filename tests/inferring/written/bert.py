"""Inferred from 24 records of a file.

Open questions are marked with "doubt:".
"""

from typing import Annotated

import numpy as np
from schemagen import Label, Record, VarLen, Vector


class Bert(Record):
    # doubt: always 128 values, zeros at the end in 12 of 24 records: are these padding?
    input_ids: Annotated[
        list[int],
        VarLen("int64", max_length=128, pad_on_disk=True, group="tokens"),
    ]
    input_mask: Annotated[
        list[int],
        VarLen("int64", max_length=128, pad_on_disk=True, group="tokens"),
    ]
    masked_lm_positions: Annotated[np.ndarray, Vector((20,), dtype="int64")]
    segment_ids: Annotated[
        list[int],
        VarLen("int64", max_length=128, pad_on_disk=True, group="tokens"),
    ]

    # doubt: 0, 1 in 24 records: is 1 the highest id?
    next_sentence_labels: Annotated[int, Label(num_classes=2)]

    # doubt: the ids of 'masked_lm_ids' are a target by their name, which the generated
    #   model would learn as quantities: give them to a model of your own
    masked_lm_ids: Annotated[np.ndarray, Vector((20,), dtype="int64", role="info")]
    masked_lm_weights: Annotated[np.ndarray, Vector((20,), role="info")]
