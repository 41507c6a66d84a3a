"""The library that generated code imports: codecs, writers, readers, datasets, models.

It imports numpy and the core in C; what reads with TensorFlow or makes models imports
these when it is used. `docs/architecture.md` lists its packages, each of which imports
only from those before it.

`schemagen.testing` and the command line use it too, and so may your own code: the names
that generated packages export from their top package are public.
"""
