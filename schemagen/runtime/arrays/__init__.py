"""Splits by position: any record at once, exact shuffling, without TensorFlow.

`positions` knows where records are, `fetching` gets their bytes, `decoding` checks and decodes
them, and `source` is the view of files. `views`, `mapping` and `mixing` are views of other
views. `order` says which records come next and which reader takes them, and `batches` reads them
ahead; `packing` puts rows of several records in their place, by the lengths that `lengths` has read.
`split` is what users hold; `torch`, `tensorflow`, `keras` and `arrow` hand it on.
"""
