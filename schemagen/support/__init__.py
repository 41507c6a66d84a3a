"""Code that every generated package shares, copied verbatim into `_support`.

Nothing here knows a schema. Modules that read or train import tensorflow or
keras; those that write need numpy and google-crc32c alone.
"""
