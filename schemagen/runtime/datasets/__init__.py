"""Datasets of records: from files to batches.

`files` finds them, `records` reads them, `caching`, `mixing` and `batching` do what
their names say, `guarded` parses batches and `faults` tells what is wrong with those
that cannot be parsed. `pipeline` joins them all, and `reader` has the options.
"""
