"""What people publish with a dataset: its description, or dataset card."""
