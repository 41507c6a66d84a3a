"""What the reader is to reach, by what is compared and by shape."""

from __future__ import annotations

from ..targets import Target

OURS = "ours"
OURS_IN_ORDER = "ours, not shuffled"
A = "(a) the tutorials' pipeline"
A_FLOATS = "(a) with pixels left as float32"
B = "(b) make_batched_features_dataset"
C = "(c) TFRecordDataset.batch, nothing parsed"
C_SHUFFLED = "(c) with shuffle"
D = "(d) TFDS"
E = "(e) keras.utils.PyDataset in memory"
DECODING = "decoding alone, from memory"
AN_EPOCH = "an epoch"

TARGETS = (
    Target(AN_EPOCH, A, OURS, {"mix": 6, "jpeg": 1.15, "tokens": 4}),
    Target(AN_EPOCH, A_FLOATS, OURS, {}),
    Target(AN_EPOCH, B, OURS, {"mix": 2.5}),
    Target(AN_EPOCH, OURS, C, {"mix": 1.5}, at_most=True),
    Target(AN_EPOCH, OURS, C_SHUFFLED, {}, at_most=True),
    Target(AN_EPOCH, OURS_IN_ORDER, C, {}, at_most=True),
    Target(AN_EPOCH, OURS, DECODING, {"jpeg": 1.25}, at_most=True),
    Target(AN_EPOCH, D, OURS, {}),
    Target(AN_EPOCH, OURS, E, {}, at_most=True),
)
