"""Chicago taxi trips, as TFX's CsvExampleGen writes and its pipelines read them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from stored_features import blobs, example, floats, ints

from .original import Format, Row, Tensors

_DTYPES = {
    tf.int64: "trip_start_timestamp trip_start_month trip_start_day trip_start_hour "
    "pickup_community_area",
    tf.float32: "dropoff_community_area pickup_latitude pickup_longitude "
    "dropoff_latitude dropoff_longitude dropoff_census_tract trip_miles trip_seconds "
    "fare tips",
    tf.string: "pickup_census_tract payment_type company",
}
COLUMNS = {name: dtype for dtype, names in _DTYPES.items() for name in names.split()}


def _feature(dtype: Any, value: Any) -> tf.train.Feature:
    if value is None:
        return tf.train.Feature()  # no kind is set where a cell is empty
    if dtype == tf.string:
        return blobs(value.encode())
    return ints(value) if dtype == tf.int64 else floats(value)


def write(row: Row) -> bytes:
    return example({n: _feature(dtype, row.get(n)) for n, dtype in COLUMNS.items()})


def _filled_in(values: tf.SparseTensor) -> tf.Tensor:
    """Let "" or 0 stand for an empty cell, as the pipelines' preprocessing does."""
    default = "" if values.dtype == tf.string else 0
    whole = tf.SparseTensor(values.indices, values.values, [1])
    return tf.sparse.to_dense(whole, default)[0]


def read(serialized: Any) -> Tensors:
    features = {name: tf.io.VarLenFeature(dtype) for name, dtype in COLUMNS.items()}
    found = tf.io.parse_single_example(serialized, features)
    return {name: _filled_in(values) for name, values in found.items()}


def ours(tensors: Tensors) -> Tensors:
    return {name: tensors[name] for name in COLUMNS}


def rows() -> list[Row]:
    trip = {
        "trip_start_timestamp": 1380593700,
        "trip_start_month": 10,
        "trip_start_day": 3,
        "trip_start_hour": 2,
        "pickup_community_area": 8,
        "dropoff_community_area": 24.0,
        "pickup_latitude": 41.890922,
        "pickup_longitude": -87.618868,
        "dropoff_latitude": 41.906651,
        "dropoff_longitude": -87.671097,
        "dropoff_census_tract": 17031241400.0,
        "trip_miles": 1.5,
        "trip_seconds": 420.0,
        "fare": 7.45,
        "payment_type": "Credit Card",
        "company": "Taxi Affiliation Services",
        "tips": 1.25,
    }
    empty = {"trip_start_timestamp": 1380593700, "payment_type": "", "fare": 0.0}
    return [trip, empty]


# Where the original writes a feature without a kind, ours leaves the feature out.
FORMAT = Format("taxi_trip", rows(), write, read, ours, same_bytes=False)
