"""The pictures of the README and of the documentation, made from the demo's data."""
