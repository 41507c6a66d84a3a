"""Operations in TensorFlow graphs. TensorFlow is imported when one is called."""
