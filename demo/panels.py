"""The parts that the demo's pictures share: how they look, curves and bars."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from .training import Run

# Okabe and Ito's colours, which people with any colour vision can tell apart.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
INK, FAINT, GRID = "#222222", "#767676", "#E4E4E4"

STYLE: Any = {
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": "#B0B0B0",
    "axes.labelcolor": FAINT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "legend.frameon": False,
}


def heading(figure: Figure, title: str, subtitle: str) -> None:
    """Write a picture's heading, one line large and one small, at the top left."""
    inches = figure.get_figheight()
    figure.text(0.03, 1 - 0.38 / inches, title, size=18, weight="bold", va="center")
    figure.text(0.03, 1 - 0.72 / inches, subtitle, size=11, color=FAINT, va="center")


def learning_curves(axes: Axes, run: Run) -> None:
    """Draw a run's accuracy over its epochs."""
    epochs = range(1, len(run.test) + 1)
    low = min(*run.train, *run.test)
    axes.plot(epochs, run.train, color=ORANGE, linewidth=2, label="training records")
    axes.plot(epochs, run.test, color=BLUE, linewidth=2, label="held-out records")
    axes.set_title(f"Learning from {run.name}")
    axes.set_xlabel("epoch")
    axes.set_xlim(0.5, len(run.test) + 0.5)
    axes.set_ylim(max(0.0, low - 0.05), 1.01)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.legend(loc="lower right")


def accuracy_bars(axes: Axes, runs: Sequence[Run], guess: float) -> None:
    """Draw the held-out accuracy of all runs, the first one on top.

    Args:
        axes: where.
        runs: of all inputs first, then of each alone.
        guess: the accuracy of always saying the most frequent class.
    """
    for place, run in enumerate(reversed(runs)):
        whole = run is runs[0]
        axes.barh(place, run.accuracy, height=0.66, color=BLUE if whole else "#A6C8E0")
        axes.text(
            run.accuracy + 0.012,
            place,
            f"{run.accuracy:.1%}",
            va="center",
            weight="bold" if whole else "normal",
        )
    names = [run.name if run is runs[0] else f"only {run.name}" for run in runs]
    axes.set_yticks(range(len(runs)), reversed(names), color=INK)
    axes.set_title("Held-out accuracy by what the model is given")
    axes.axvline(guess, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate(
        "always the most frequent class",
        (guess, -0.6),
        xytext=(5, -4),
        textcoords="offset points",
        size=9,
        color=FAINT,
        va="top",
    )
    axes.set_xlim(0, 1.14)
    axes.set_ylim(-0.6, len(runs) - 0.4)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[["bottom"]].set_visible(False)


def save(figure: Figure, path: Path) -> Path:
    """Write a picture as PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path
