"""What replaces options that `make_dataset` had before version 0.3.

IMAGE, CLASSES and ADDRESS stand for what a program has.
"""

from __future__ import annotations

REPLACED = {
    "image_dtype": (
        "dataset.map(lambda features, target: ({**features, 'IMAGE': "
        "tf.cast(features['IMAGE'], tf.float32) / 255}, target))"
    ),
    "one_hot": (
        "dataset.map(lambda features, target: (features, tf.one_hot(target, CLASSES)))"
    ),
    "cache_decoded": (
        "dataset.cache().unbatch().shuffle(10_000).batch(32), of make_dataset with "
        "pad_to_max_length=True and without training=True"
    ),
    "service": (
        "tf.data.Dataset.list_files('data/train-*', shuffle=False).interleave("
        "tf.data.TFRecordDataset).batch(32).map(parse_batch).apply("
        "tf.data.experimental.service.distribute('distributed_epoch', "
        "ADDRESS)), as docs/reading.md shows"
    ),
    "service_timeout": (
        "model.fit(dataset, callbacks=[keras.callbacks.LambdaCallback("
        "on_train_batch_begin=lambda batch, logs: signal.alarm(600))])"
    ),
}
"""The line of TensorFlow or Keras to write in place of each."""
