"""From three public datasets to trained models, through the generated code.

Run it with `make demo`, or `python -m demo` after `schemagen generate`.
"""
