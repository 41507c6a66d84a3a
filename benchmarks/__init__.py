"""Measurements against what one would otherwise use; see docs/benchmarks.md."""
