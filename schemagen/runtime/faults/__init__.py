"""What is wrong with data, and reading by Python what TensorFlow cannot."""
