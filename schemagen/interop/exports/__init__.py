"""Descriptions of a record for other tools, with what each keeps of it."""
