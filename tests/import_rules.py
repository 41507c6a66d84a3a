"""The rules of imports between parts, and their tables in docs/architecture.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part of schemagen, or of its runtime.

    Attributes:
        name: of a package or module.
        subject: what is in it.
        imports: the parts that it may import, besides itself.
        packages: what it may import from outside, beyond the standard library; None for
            anything that schemagen depends on.
    """

    name: str
    subject: str
    imports: tuple[str, ...] = ()
    packages: tuple[str, ...] | None = None


# Each part imports only parts above it.
RUNTIME = (
    Part("interface", "the interface number of generated code", (), ()),
    Part(
        "shared",
        "values, wire format, TFRecord framing, specs as JSON, processes",
        (),
        ("numpy", "google_crc32c", "PIL", "ml_dtypes", "tensorflow", "keras"),
    ),
    Part(
        "storage",
        "data directories: files, locks, manifests, journals",
        ("shared",),
        ("google_crc32c", "fsspec"),
    ),
    Part(
        "encoding",
        "the codec of each kind: values to bytes",
        ("shared",),
        ("numpy", "google_crc32c"),
    ),
    Part(
        "writing",
        "rows to published splits: chunks, shards, names, publication",
        ("shared", "storage"),
        ("numpy", "google_crc32c", "tqdm"),
    ),
    Part(
        "distributed",
        "one split from many processes: plans, parts, receipts",
        ("shared", "storage", "writing"),
        ("numpy",),
    ),
    Part(
        "engines",
        "one split from the workers of an engine; imported by users only",
        ("shared", "storage", "writing", "distributed"),
        ("numpy", "apache_beam", "pyspark", "ray"),
    ),
    Part("parsing", "batches of records to tensors", ("shared",), ("numpy",)),
    Part(
        "sources",
        "what a dataset reads: directories, globs and files, held to manifests",
        ("shared", "storage"),
    ),
    Part(
        "faults",
        "opening files by Python: local copies, and what is wrong with data",
        ("shared", "storage", "parsing", "sources"),
        ("numpy", "google"),
    ),
    Part(
        "datasets",
        "`tf.data` pipelines: files to batches",
        ("shared", "storage", "parsing", "sources", "faults"),
        ("numpy",),
    ),
    Part("models", "Keras models", ("shared", "parsing"), ("numpy",)),
)

SCHEMAGEN = (
    Part("runtime", "the library that generated code imports"),
    Part("display", "tables and texts as blocks; blocks as HTML and as Markdown"),
    Part("findings", "findings, locations and how they are printed", ("display",)),
    Part("rules", "the tables of rules"),
    Part("interrupts", "Ctrl-C during imports"),
    Part("progress", "progress bars of the command line"),
    Part("atomic_write", "writing a file in one step", ("findings",)),
    Part("setting_checks", "checks of settings", ("findings", "runtime")),
    Part(
        "config",
        "the settings of a project",
        ("findings", "runtime", "setting_checks"),
    ),
    Part(
        "git",
        "files of a revision, attributes, tracked files",
        ("findings", "runtime"),
    ),
    Part(
        "kinds",
        "one module a kind: its parameters, its storage, what templates see",
        ("runtime",),
    ),
    Part(
        "schema",
        "the schema language: `Record`, nested models, loading of schema files",
        ("findings", "kinds", "progress", "runtime"),
    ),
    Part(
        "spec",
        "the IR: frozen specs, their JSON, fingerprint and description",
        ("display", "findings", "kinds", "runtime", "schema"),
    ),
    Part(
        "codegen",
        "spec to view to text to plan to disk",
        (
            "atomic_write",
            "config",
            "findings",
            "kinds",
            "progress",
            "runtime",
            "spec",
        ),
    ),
    Part(
        "evolution",
        "breaking changes of schemas",
        ("findings", "git", "kinds", "rules", "runtime", "spec"),
    ),
    Part(
        "schema_source",
        "a spec as a schema file",
        ("codegen", "findings", "kinds", "runtime", "schema", "spec"),
    ),
    Part(
        "interop",
        "formats of other tools: `imports/` and `exports/`",
        (
            "atomic_write",
            "schema_source",
            "findings",
            "kinds",
            "progress",
            "runtime",
            "spec",
        ),
    ),
    Part(
        "data",
        "tools for data files: framing, decoding, `verify/`, `inspect/`, `describe/`, `report/`, `infer/`",
        (
            "atomic_write",
            "display",
            "schema_source",
            "findings",
            "kinds",
            "progress",
            "runtime",
            "spec",
        ),
    ),
    Part(
        "use_cases",
        "one module per command, without its command line; what notebooks call",
        (
            "atomic_write",
            "codegen",
            "config",
            "data",
            "display",
            "schema_source",
            "evolution",
            "findings",
            "git",
            "interop",
            "progress",
            "rules",
            "runtime",
            "schema",
            "setting_checks",
            "spec",
        ),
    ),
    Part(
        "testing",
        "the use cases as assertions, for users' tests",
        ("config", "evolution", "findings", "use_cases"),
    ),
    Part(
        "cli",
        "the command line",
        (
            "atomic_write",
            "codegen",
            "config",
            "data",
            "evolution",
            "findings",
            "git",
            "interop",
            "interrupts",
            "progress",
            "rules",
            "runtime",
            "spec",
            "use_cases",
        ),
    ),
    Part(
        "__init__",
        "the public names",
        ("codegen", "config", "schema", "use_cases"),
    ),
    Part("__main__", "the command `schemagen`", ("cli", "interrupts")),
)


def table(parts: tuple[Part, ...], prefix: str) -> str:
    """Return rules as a table in Markdown."""
    rows = ["| part | subject | may import |", "| --- | --- | --- |"]
    for part in parts:
        names = [f"`{name}`" for name in part.imports]
        names += [f"*{name}*" for name in part.packages or ()]
        rows.append(
            f"| `{prefix}{part.name}` | {part.subject} | {', '.join(names) or 'nothing'} |"
        )
    return "\n".join(rows) + "\n"
