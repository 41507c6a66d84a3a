"""The demo's pictures, one a record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import tensorflow as tf
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from generated.digit.serializer import CLASSES as DIGIT_CLASSES
from generated.penguin.serializer import CLASSES as PENGUIN_CLASSES
from generated.photo.parser import parse_batch as parse_photos
from generated.photo.serializer import CLASSES as PHOTO_CLASSES

from .panels import (
    BLUE,
    FAINT,
    GREEN,
    GRID,
    INK,
    ORANGE,
    RED,
    STYLE,
    accuracy_bars,
    heading,
    learning_curves,
    save,
)
from .photos import photographs
from .training import Answers, Run, Task, answers

_SPECIES_COLOURS = (ORANGE, GREEN, BLUE)
_SPECIES_MARKERS = "o^s"
_SPLIT_COLOURS = {"train": ORANGE, "test": BLUE}


def draw_digits(task: Task, runs: Sequence[Run], directory: Path) -> Path:
    """Draw held-out scans with predictions next to curves and accuracies."""
    found = answers(task, runs[0].model)
    with matplotlib.rc_context(STYLE):
        figure, samples = _page("Handwritten digits", task, runs, found)
        _digit_samples(samples, found)
        return save(figure, directory / "digit.png")


def draw_penguins(task: Task, runs: Sequence[Run], directory: Path) -> Path:
    """Draw held-out birds with predictions next to curves and accuracies."""
    found = answers(task, runs[0].model)
    with matplotlib.rc_context(STYLE):
        figure, samples = _page("Palmer penguins", task, runs, found)
        _penguin_samples(samples, found)
        return save(figure, directory / "penguin.png")


def _page(
    title: str, task: Task, runs: Sequence[Run], found: Answers
) -> tuple[Figure, Axes]:
    """Return a page with all but the samples, and where these go, at the left."""
    figure = Figure(figsize=(14, 8.4))
    right = int((found.truth == found.predicted).sum())
    heading(
        figure,
        f"{title}: {right} of {len(found.truth)} held-out records right",
        f"The model generated from schemas/{task.record}.py, after {task.epochs} "
        "epochs on the training records",
    )
    grid = figure.add_gridspec(
        2, 2, width_ratios=(1.12, 1), height_ratios=(1, 1.15), hspace=0.36,
        wspace=0.36, left=0.045, right=0.975, top=0.83, bottom=0.07,
    )  # fmt: skip
    learning_curves(figure.add_subplot(grid[0, 1]), runs[0])
    guess = float(np.bincount(found.truth).max() / len(found.truth))
    accuracy_bars(figure.add_subplot(grid[1, 1]), runs, guess)
    return figure, figure.add_subplot(grid[:, 0])


def _digit_samples(axes: Axes, found: Answers, columns: int = 8, rows: int = 7) -> None:
    """Draw the scans with wrong answers first, then others in their order."""
    names = DIGIT_CLASSES["digit"]
    wrong = np.flatnonzero(found.truth != found.predicted)
    right = np.flatnonzero(found.truth == found.predicted)
    for place, index in enumerate([*wrong, *right][: columns * rows]):
        row, column = divmod(place, columns)
        left, top = column * 1.25, row * 1.6
        axes.imshow(
            found.features["image"][index, :, :, 0],
            cmap="Greys",
            vmin=0,
            vmax=240,
            extent=(left, left + 1, top + 1, top),
        )
        said, truth = names[found.predicted[index]], names[found.truth[index]]
        is_wrong = said != truth
        frame = {"edgecolor": RED if is_wrong else GRID, "linewidth": 1 + is_wrong}
        axes.add_patch(Rectangle((left, top), 1, 1, fill=False, **frame))
        for line, text in enumerate([said, f"not {truth}"][: 1 + is_wrong]):
            place_of_text = (left + 0.5, top + 1.23 + 0.21 * line)
            colour = RED if is_wrong else FAINT
            axes.text(*place_of_text, text, ha="center", size=9.5, color=colour)
    axes.set_xlim(-0.02, columns * 1.25 - 0.23)
    axes.set_ylim(rows * 1.6 - 0.3, -0.04)
    axes.set_title(
        f"Held-out scans as the model reads them, {len(wrong)} mistakes first"
    )
    axes.set_axis_off()


def _penguin_samples(axes: Axes, found: Answers) -> None:
    """Draw the birds by their bills; a bird without measurements has no place."""
    length = found.features["bill_length_mm"]
    depth = found.features["bill_depth_mm"]
    for species, name in enumerate(PENGUIN_CLASSES["species"]):
        said = found.predicted == species
        axes.scatter(
            length[said],
            depth[said],
            s=64,
            color=_SPECIES_COLOURS[species],
            marker=_SPECIES_MARKERS[species],
            edgecolor="white",
            linewidth=0.8,
            label=f"{name} ({said.sum()})",
        )
    wrong = found.predicted != found.truth
    if wrong.any():
        axes.scatter(
            length[wrong],
            depth[wrong],
            s=210,
            facecolor="none",
            edgecolor=RED,
            linewidth=2,
            label=f"wrong ({wrong.sum()})",
        )
    unmeasured = int(np.isnan(length).sum())
    if unmeasured:
        axes.text(
            0.99, 0.01, f"not shown: {unmeasured} without measurements", size=9,
            color=FAINT, ha="right", va="bottom", transform=axes.transAxes,
        )  # fmt: skip
    axes.set_title("Held-out birds by their bills, as the model names them")
    axes.set_xlabel("bill length, mm")
    axes.set_ylabel("bill depth, mm")
    axes.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.legend(loc="lower left", handletextpad=0.3)


def draw_photos(data: Path, directory: Path) -> Path:
    """Draw where the photographs were cut, and the pieces as they are read."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(14, 7.8))
        heading(
            figure,
            "Photographs: pieces of any size in, batches of one size out",
            "JPEG pieces as they were cut; below each photograph, pieces read back "
            "from the shards at 48x48. No pixel is in both train and test",
        )
        grid = figure.add_gridspec(
            2, 2, height_ratios=(3.15, 1), hspace=0.04, wspace=0.05,
            left=0.03, right=0.97, top=0.86, bottom=0.03,
        )  # fmt: skip
        splits = {split: _read_photos(data, split) for split in _SPLIT_COLOURS}
        for column, name in enumerate(PHOTO_CLASSES["photograph"]):
            above = figure.add_subplot(grid[0, column])
            below = figure.add_subplot(grid[1, column])
            above.imshow(photographs()[name])
            above.set_title(name)
            above.set_axis_off()
            for row, (split, batch) in enumerate(splits.items()):
                own = batch["photograph"] == column
                _cuts(above, batch["box"][own][:10], _SPLIT_COLOURS[split])
                _pieces(below, row, split, batch["crop"][own][:10])
            below.set_xlim(-0.85, 11.0)
            below.set_ylim(2.25, -0.05)
            below.set_anchor("N")
            below.set_axis_off()
        return save(figure, directory / "photo.png")


def _read_photos(data: Path, split: str) -> dict[str, NDArray[Any]]:
    """Read all fields of a split; `make_dataset` would leave out what is no input."""
    shards = sorted(str(path) for path in data.glob(f"{split}-*"))
    serialized = next(iter(tf.data.TFRecordDataset(shards).batch(1024)))
    return {name: value.numpy() for name, value in parse_photos(serialized).items()}


def _cuts(axes: Axes, boxes: NDArray[np.int32], colour: str) -> None:
    for top, left, height, width in boxes:
        axes.add_patch(
            Rectangle(
                (left, top), width, height, fill=False, edgecolor="white", linewidth=3
            )
        )
        axes.add_patch(
            Rectangle(
                (left, top), width, height, fill=False, edgecolor=colour, linewidth=1.8
            )
        )


def _pieces(axes: Axes, row: int, split: str, pieces: NDArray[np.uint8]) -> None:
    top = row * 1.12 + 0.02
    axes.text(-0.12, top + 0.5, split, ha="right", va="center", color=INK)
    for place, piece in enumerate(pieces):
        left = place * 1.1
        axes.imshow(piece, extent=(left, left + 1, top + 1, top))
        axes.add_patch(
            Rectangle(
                (left, top), 1, 1, fill=False, edgecolor=_SPLIT_COLOURS[split], lw=2
            )
        )
