"""What data is like, as facts: columns, classes, differences and duplicates."""
