"""Statistics of records: for each key its presence, its lengths and its values.

`measuring.Measuring` takes `Columns` and gives the values of `model`. These merge, in any
order and any grouping, into those of all records; only sums differ, by rounding.
"""
