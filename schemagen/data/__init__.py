"""Tools on real TFRecord files, with a spec and without: verify, inspect, infer.

Nothing here imports tensorflow. Files are cut into `Records`, which become `Columns`,
and what the tools know follows from these.
"""
