"""Benchmarks of schemagen against its alternatives; README.md has the results."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # read when tensorflow is imported
