"""Records of several fields: from rows to bytes, and from bytes to batches."""
