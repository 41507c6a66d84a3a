"""Findings about records and files, counted by kind, with the first places of each."""
