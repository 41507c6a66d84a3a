"""The library that generated code imports: codecs, writers, parsers, datasets, models.

It imports numpy and google-crc32c; only `parsing`, `datasets` and `models` import
TensorFlow and Keras. Packages import downwards alone:

- `shared`: wire format, values, TFRecord framing, specs as JSON;
- `storage`: data directories, manifests, journals (on `shared`);
- `encoding`: the codec of each kind (on `shared`);
- `writing`: from rows to published splits (on `storage` and `shared`);
- `parsing`: from records to tensors (on `shared`);
- `datasets`: `tf.data` pipelines (on `parsing`, `storage` and `shared`);
- `models`: Keras models (on `parsing` and `shared`).

`schemagen.testing` and the command line use it too, and so may your own code: the names
that generated packages export from their top package are public.
"""
