"""Keras models: encoders, heads, what learns from data, and export."""
