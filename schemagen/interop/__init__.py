"""The formats of others: what they can say about a record, and what they say about theirs."""
