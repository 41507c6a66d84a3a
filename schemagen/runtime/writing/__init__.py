"""Writing a split: from rows to durable shards, published all at once or not."""
