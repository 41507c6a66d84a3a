"""Encoded images: their formats, headers and pixels, in numpy and TensorFlow."""
