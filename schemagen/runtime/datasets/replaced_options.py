"""What replaces options that `make_dataset` had before version 0.3, or never had."""

from __future__ import annotations

REPLACED = {
    "image_dtype": (
        "dataset.map(lambda features, target: ({**features, 'photo': "
        "tf.cast(features['photo'], tf.float32) / 255}, target))"
    ),
    "one_hot": (
        "dataset.map(lambda features, target: (features, tf.one_hot(target, 3)))"
    ),
    "cache_decoded": "dataset.cache().unbatch().shuffle(10_000).batch(32)",
    "service": (
        "tf.data.Dataset.list_files('data/train-*', shuffle=False).interleave("
        "tf.data.TFRecordDataset).batch(32).map(parse_batch).apply("
        "tf.data.experimental.service.distribute('distributed_epoch', "
        "'grpc://localhost:5000'))"
    ),
    "service_timeout": (
        "model.fit(dataset, callbacks=[keras.callbacks.LambdaCallback("
        "on_train_batch_begin=lambda batch, logs: signal.alarm(600))])"
    ),
    "bucket_batch_sizes": "batch_size=[64, 32, 16]",
}
"""The line of TensorFlow or Keras to write in place of each."""
