"""From specs to files: text, then a plan, then the disk."""
