"""What schemagen 0.2.0 wrote, and tests that later versions read and write the same.

Frozen by `freeze.py`, and never changed afterwards but to leave out what was removed:

- `project/`: a project with its schema files;
- `baseline_code.zip`: the packages generated from them;
- `data/`: directories of each record, with their manifests;
- `pictures/`: the images that rows give as bytes;
- `changes/`: pairs of schema files for `breaking`, with the older specs;
- `documents/`: what commands print as JSON, without texts;
- `schemagen-0.2.0-py3-none-any.whl`: the version itself, for `tests/net`.
"""
