"""The demo, and the rows of this repository's records from public datasets.

Run it with `make demo`, or `python -m demo`.
"""
