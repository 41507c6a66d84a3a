"""Datasets of records: from files to batches.

`records` reads them, `batching` batches them, `parsing` parses batches, and `elements` and
`augmentation` arrange and vary these. `transformations` are what all of them are made with.
`pipeline` joins them, and `reader` has the options.
"""
