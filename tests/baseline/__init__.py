"""What schemagen 0.4.0 wrote, and tests that later versions read and write the same.

Frozen by `freeze.py`, and never changed afterwards:

- `project/`: a project with its schema files;
- `baseline_code.zip`: the packages generated from them;
- `data/`: directories of each record, with their manifests, and sealed files;
- `values/`: what `open_split` delivers of each record;
- `pictures/`: the images that rows give as bytes;
- `changes/`: pairs of schema files for `breaking`, with the older specs;
- `documents/`: what commands print as JSON, without texts.
"""
