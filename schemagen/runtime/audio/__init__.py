"""Encoded sound: the table of formats, headers and samples; in numpy and TensorFlow."""
