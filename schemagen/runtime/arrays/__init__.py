"""Splits by position: any record at once, exact shuffling, without TensorFlow.

`positions` knows where records are, `fetching` gets their bytes, `decoding` checks and decodes
them, and `source` is the view of files. `views`, `mapping` and `mixing` are views of other
views. `order` says which records come next, `turns` which reader takes them, and `batches` and
`packing` read them ahead. `split` is what users hold; `torch`, `tensorflow`, `keras` and `arrow`
hand it on.
"""
