"""Other descriptions of the same data: what they say, and what they cannot."""
