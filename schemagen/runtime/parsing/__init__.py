"""Graph code of the parsers: from a batch of Examples to tensors, or an error.

Shapes are written with B for the batch and T for its longest sequence. Every check
raises tf.errors.InvalidArgumentError and names the field.
"""
