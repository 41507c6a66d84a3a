"""Splits by position: any record at once, exact shuffling, without TensorFlow.

`positions` knows where records are, `fetching` gets their bytes, and `source` has them
decoded. `order` says which records come next, `batches` reads them ahead, and `split` is
what users hold.
"""
