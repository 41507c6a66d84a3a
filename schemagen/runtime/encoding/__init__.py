"""The codecs: one class for each way in which a field is stored.

Each checks what it is given and refuses what the file could not give back. The same
objects validate a schema's rows and encode them, so the two cannot differ.
"""
