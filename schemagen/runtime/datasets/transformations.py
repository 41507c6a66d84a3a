"""`map`, `flat_map` and `interleave` whose functions TensorFlow runs as they are.

TensorFlow places and optimizes the functions of a dataset whenever an iterator is made,
which takes longer than to read a small split. These functions need neither. They take
and return tensors and datasets; other values an element has come as a dataset of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..shared.requirements import tf

# A function that says where its integers are is neither placed nor optimized. On the
# processor, which runs all functions of datasets, it makes no other difference.
_AS_IT_IS = {"experimental_ints_on_device": True, "_tf_data_function": True}

_VARIANT = tf.TensorSpec((), tf.variant)
_ANY = tf.TensorSpec(None, tf.variant)


def mapped(
    dataset: tf.data.Dataset, function: Callable[..., Any], parallel: int | None = None
) -> tf.data.Dataset:
    """Apply a function to each element.

    Args:
        dataset: of tensors and datasets.
        function: returns tensors and datasets.
        parallel: how many elements are computed at a time; None for one after the
            other. They keep their order.
    """
    traced = _Traced(function, dataset)
    if parallel is None:
        return traced.applied(tf.raw_ops.MapDataset, traced.spec)
    return traced.applied(
        tf.raw_ops.ParallelMapDatasetV2,
        traced.spec,
        num_parallel_calls=tf.constant(parallel, tf.int64),
        deterministic="true",
    )


def mapped_to_any(
    dataset: tf.data.Dataset, function: Callable[..., Any], parallel: int
) -> tf.data.Dataset:
    """Do the same with a function that may return ragged and sparse tensors, too."""

    def one(*components: Any) -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors(function(*components))

    found = flat_mapped(mapped(dataset, one, parallel), lambda found: found)
    count = dataset.cardinality()
    if count == tf.data.UNKNOWN_CARDINALITY:
        return found
    return found.apply(tf.data.experimental.assert_cardinality(count))


def flat_mapped(
    dataset: tf.data.Dataset, function: Callable[..., tf.data.Dataset]
) -> tf.data.Dataset:
    """Return the elements of the datasets that a function returns for each element."""
    traced = _Traced(function, dataset)
    return traced.applied(tf.raw_ops.FlatMapDataset, traced.spec.element_spec)


def interleaved(
    dataset: tf.data.Dataset,
    function: Callable[..., tf.data.Dataset],
    parallel: int,
) -> tf.data.Dataset:
    """Return elements of several of these datasets by turns.

    Args:
        dataset: of tensors and datasets.
        function: returns a dataset.
        parallel: how many of these are read at a time.
    """
    traced = _Traced(function, dataset)
    autotuned = tf.constant(tf.data.AUTOTUNE, tf.int64)
    return traced.applied(
        tf.raw_ops.ParallelInterleaveDatasetV4,
        traced.spec.element_spec,
        cycle_length=tf.constant(parallel, tf.int64),
        block_length=tf.constant(1, tf.int64),
        buffer_output_elements=autotuned,
        prefetch_input_elements=autotuned,
        num_parallel_calls=tf.constant(parallel, tf.int64),
    )


def unbatched(batches: tf.data.Dataset) -> tf.data.Dataset:
    """Return the rows of batches, which are single tensors.

    `Dataset.unbatch` calls a function for each batch.
    """
    spec = batches.element_spec
    row = tf.TensorSpec(spec.shape[1:], spec.dtype)
    variant = tf.raw_ops.UnbatchDataset(
        input_dataset=tf.data.experimental.to_variant(batches),
        output_types=[row.dtype],
        output_shapes=[row.shape],
    )
    return _dataset_of(variant, row, batches)


class _Traced:
    """A function of the elements of a dataset.

    Args:
        function: takes the components of an element.
        dataset: whose elements it takes.

    Attributes:
        spec: of what it returns.
    """

    spec: Any

    def __init__(self, function: Callable[..., Any], dataset: tf.data.Dataset) -> None:
        taken = dataset.element_spec
        specs = tf.nest.flatten(taken)

        def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
            each = map(_component, tensors, specs)
            element = tf.nest.pack_sequence_as(taken, [*each])
            one = not isinstance(taken, tuple)
            found = function(element) if one else function(*element)
            self.spec = tf.nest.map_structure(_spec_of, found)
            return [*map(_tensor_of, tf.nest.flatten(found))]

        self._dataset = dataset
        self._function = tf.function(
            flat,
            input_signature=[_flat_spec(spec, _VARIANT) for spec in specs],
            autograph=False,
            experimental_attributes=_AS_IT_IS,
        ).get_concrete_function()

    def applied(self, op: Callable[..., Any], spec: Any, **options: Any) -> Any:
        """Return the dataset of an operation that calls the function, of elements `spec`."""
        flat = [_flat_spec(each, _ANY) for each in tf.nest.flatten(spec)]
        variant = op(
            input_dataset=tf.data.experimental.to_variant(self._dataset),
            other_arguments=self._function.captured_inputs,
            f=self._function,
            output_types=[each.dtype for each in flat],
            output_shapes=[each.shape for each in flat],
            **options,
        )
        return _dataset_of(variant, spec, self)


def _dataset_of(variant: tf.Tensor, spec: Any, made_of: object) -> tf.data.Dataset:
    """Return the dataset of a variant, which keeps what it is made of.

    What functions of datasets call in Python has to live as long as the dataset.
    """
    dataset = tf.data.experimental.from_variant(variant, spec)
    dataset.made_of = made_of
    return dataset


def _flat_spec(spec: Any, other: tf.TensorSpec) -> tf.TensorSpec:
    """Return the spec of the one tensor that stands for a component of an element."""
    return spec if isinstance(spec, tf.TensorSpec) else other


def _component(tensor: tf.Tensor, spec: Any) -> Any:
    if isinstance(spec, tf.TensorSpec):
        return tensor
    return tf.data.experimental.from_variant(tensor, spec.element_spec)


def _spec_of(value: Any) -> Any:
    if isinstance(value, tf.data.Dataset):
        return tf.data.DatasetSpec(value.element_spec)
    return tf.TensorSpec(value.shape, value.dtype)


def _tensor_of(value: Any) -> tf.Tensor:
    if isinstance(value, tf.data.Dataset):
        return tf.data.experimental.to_variant(value)
    return value
