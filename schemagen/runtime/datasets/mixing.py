"""Several sources as one stream, each with a share of its own."""

from __future__ import annotations

from ..shared.requirements import tf


def mixed(
    datasets: list[tf.data.Dataset], weights: list[float], seed: int | None
) -> tf.data.Dataset:
    """Draw from several datasets until the first of them is used up.

    So each keeps its share up to the end, and no record comes twice.

    Args:
        datasets: of equal elements.
        weights: how often each is drawn from, relative to the others.
        seed: makes the draws the same in every run; they are others in each epoch.
    """
    total = sum(weights)
    return tf.data.Dataset.sample_from_datasets(
        datasets,
        [weight / total for weight in weights],
        seed=seed,
        stop_on_empty_dataset=True,
        rerandomize_each_iteration=True,
    )
