"""Looking at data: ours against parsers, each on one core."""
