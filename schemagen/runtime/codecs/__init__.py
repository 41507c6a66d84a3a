"""Codecs: how the values of a field are checked, stored, read and described.

A codec writes rows and columns, reads columns with numpy, and reads tensors in TensorFlow
graphs. TensorFlow is imported when a graph is built, never before.
"""
