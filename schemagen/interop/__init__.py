"""The formats of others: what they can say of a record, and what they say of theirs."""
