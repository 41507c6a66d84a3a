"""The demo: declare, generate, write, catch a mistake, train, look."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

# Read when tensorflow is imported: no notices, and the same numbers on all CPUs.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")


def _import_tensorflow() -> None:
    """Import it without its message about missing GPUs, which no setting turns off."""
    stderr = os.dup(2)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        import tensorflow  # noqa: F401
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


_import_tensorflow()

from . import drift, records, training  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "schemas" / "digit.py"
EPOCHS = 12

_NEXT = f"""\
What to try next, after `. {Path(sys.prefix).name}/bin/activate`
  schemagen inspect data/photo            look at other records that were written
  schemagen verify data/penguin           compare every byte and record with the schema
  schemagen infer 'YOUR/FILES-*' --out schemas/mine.py    make a schema of your own data
  docs/tutorial.md                        build a project from nothing
"""


def main(
    data: Path = ROOT / "data", out: Path = ROOT / "demo" / "out", epochs: int = EPOCHS
) -> None:
    """Run it.

    Args:
        data: where to write the records.
        out: where to write the report, and a copy of the project with a mistake.
        epochs: how often to go through the training data.
    """
    started = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    _title("1. Declare a record, generate its code")
    print(f"  {_shown(SCHEMA)} declares a record as a class.")
    print("  `schemagen generate` has written generated/digit/: serializer, parser,")
    print("  pipeline, reader and model, which match by construction.")
    _title("2. Write data, each value checked")
    for record in records.RECORDS:
        for split, count in records.write(record, data).items():
            print(f"  {count:>5,} records  {_shown(data / record)}/{split}-*.tfrecord")
    _title("3. A mistake is caught: the class names are sorted")
    for command, said in drift.caught(SCHEMA, data / "digit", out / "drift"):
        print(f"  $ {command}")
        print(textwrap.indent(said.rstrip(), "    "))
    _title(f"4. Train the generated model, {epochs} epochs")
    ways = {
        "always the most frequent class": training.baseline(data / "digit"),
        "make_dataset (tf.data)": training.with_make_dataset(data / "digit", epochs),
        "open_split (numpy, exact shuffle)": training.with_open_split(
            data / "digit", epochs
        ),
    }
    for name, accuracy in ways.items():
        print(f"  {name:<34} accuracy on held-out digits {accuracy:6.1%}")
    print(f"\n{_NEXT}")
    report = out / "digit.html"
    inspect = ["-m", "schemagen", "inspect", str(data / "digit"), "--html", str(report)]
    subprocess.run([sys.executable, *inspect], check=True, capture_output=True)
    print(
        f"Done in {time.perf_counter() - started:.0f} s. Open the report on the digits:"
    )
    print(f"  {_shown(report)}")


def _title(text: str) -> None:
    print(f"\n{text}", flush=True)


def _shown(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


if __name__ == "__main__":
    main()
