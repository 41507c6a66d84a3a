"""Keras models: encoders, heads, what learns from data, and export.

Importing this package registers everything that a saved model names, so that
`keras.models.load_model` needs no generated code.
"""

from . import blocks, layers, metrics, multi_label, record_model, segmentation

__all__ = ["blocks", "layers", "metrics", "multi_label", "record_model", "segmentation"]
