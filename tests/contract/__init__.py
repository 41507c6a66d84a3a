"""The contract of generated code: what was written is what every reader reads."""
