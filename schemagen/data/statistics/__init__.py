"""What data is like: for each key who has it, how long, and what its values are.

`measuring.Measuring` takes `Columns` and gives the values of `model`; these merge, in
any order and any grouping, into the same values: whatever the number of workers, the
order of files and the cuts between runs of records.
"""
