"""Writing: ours against protobuf, tfx-bsl and tensorflow-datasets."""
