"""The demo: write, read, train and draw."""

from __future__ import annotations

import os
import time
from pathlib import Path

# Read when tensorflow is imported: no notices, and the same numbers on all CPUs.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")


def _import_tensorflow() -> None:
    """Import it without its remark on missing GPUs, which heeds no setting."""
    stderr = os.dup(2)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        import tensorflow  # noqa: F401
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


_import_tensorflow()

from . import figures, records, training  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]


def main(data: Path = ROOT / "data", pictures: Path = ROOT / "demo" / "out") -> None:
    """Run it.

    Args:
        data: where to write the records.
        pictures: where to write the pictures.
    """
    started = time.perf_counter()
    draw = {"digit": figures.draw_digits, "penguin": figures.draw_penguins}
    for task in records.tasks(data):
        _write(task.record, data)
        print("  training, and testing on held-out records after each epoch:")
        runs = list(training.runs(task))
        print("  held-out accuracy")
        for run in runs:
            print(f"    {run.name:<22} {run.accuracy:7.1%}")
        _tell(draw[task.record](task, runs, pictures))
    _write("photo", data)
    _tell(figures.draw_photos(data / "photo", pictures))
    print(f"\nDone in {time.perf_counter() - started:.0f} s.")


def _write(record: str, data: Path) -> None:
    for split, count in records.write(record, data).items():
        place = (data / record).relative_to(ROOT) if data.is_relative_to(ROOT) else data
        print(f"{record}: wrote {count:>5,} records to {place}/{split}-*.tfrecord")


def _tell(picture: Path) -> None:
    place = picture.relative_to(ROOT) if picture.is_relative_to(ROOT) else picture
    print(f"  drew {place}\n", flush=True)


if __name__ == "__main__":
    main()
