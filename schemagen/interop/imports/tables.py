"""What is kept, approximated and refused of each form: the tables of the page.

`python -m schemagen.interop.imports.tables` prints them as docs/interop.md has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from .feature_spec.table import TABLE as FEATURE_SPEC
from .outcome import MappingRow, table_of
from .tfds.table import TABLE as TFDS
from .tfmd.table import TABLE as TFMD

_HEADINGS = {
    "tfds": "of TFDS",
    "tfmd": "of TensorFlow Metadata",
    "feature-spec": "of `tf.io`",
}


def tables() -> Mapping[str, tuple[MappingRow, ...]]:
    """Return the rows of each form's table, by the word for the form."""
    return {"tfds": TFDS, "tfmd": TFMD, "feature-spec": FEATURE_SPEC}


def page_of(form: str) -> str:
    """Return a form's table as Markdown."""
    return table_of(tables()[form], _HEADINGS[form])


if __name__ == "__main__":
    print("\n".join(map(page_of, tables())), end="")
