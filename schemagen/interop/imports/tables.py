"""The table of each form of source, which docs/interop.md has as Markdown.

`python -m schemagen.interop.imports.tables` prints them all.
"""

from __future__ import annotations

from . import feature_spec_mapping, tfds_mapping, tfmd_mapping

TABLES = {
    "tfds": tfds_mapping.TABLE,
    "tfmd": tfmd_mapping.TABLE,
    "feature-spec": feature_spec_mapping.TABLE,
}
_HEADINGS = {
    "tfds": "of TFDS",
    "tfmd": "of TensorFlow Metadata",
    "feature-spec": "of `tf.io`",
}


def page_of(form: str) -> str:
    """Return a form's table as Markdown."""
    rows = [f"| {r.what} | {r.verdict} | {r.becomes} |" for r in TABLES[form]]
    head = [f"| {_HEADINGS[form]} | | becomes |", "| --- | --- | --- |"]
    return "\n".join([*head, *rows]) + "\n"


if __name__ == "__main__":
    print("\n".join(map(page_of, TABLES)), end="")
