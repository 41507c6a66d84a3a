"""Records to columns of features, without TensorFlow."""
