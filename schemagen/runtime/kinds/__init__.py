"""Kinds: what declares, stores, checks and reads a field."""
