"""Reads small records as a program of its own, from a checkpoint on or up to one.

python checkpoint_reader.py PROJECT PACKAGE DIRECTORY OPTIONS save PATH BATCHES
python checkpoint_reader.py PROJECT PACKAGE DIRECTORY OPTIONS restore PATH

OPTIONS are JSON. It prints the numbers of the records that remain, as JSON.
"""

from __future__ import annotations

import importlib
import json
import sys


def main() -> None:
    project, package, directory, options, mode, path, *batches = sys.argv[1:]
    sys.path.insert(0, project)
    import tensorflow as tf

    module = importlib.import_module(f"{package}.small.pipeline")
    iterator = iter(module.make_dataset(directory, **json.loads(options)))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    if mode == "save":
        for _ in range(int(batches[0])):
            next(iterator)
        checkpoint.write(path)
    else:
        checkpoint.read(path).assert_consumed()
    print(json.dumps([features["number"].numpy().tolist() for features, _ in iterator]))


if __name__ == "__main__":
    main()
