"""Reading: ours against the tutorials' pipelines, TFRecordDataset alone and TFDS."""

import os

# Before tensorflow is imported, which these modules do.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
