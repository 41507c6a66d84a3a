"""The pages of the documentation, and how each of them runs.

A page whose blocks run from top to bottom in an empty directory is a line `Run(("name",))`.
"""

from __future__ import annotations

import fixtures as given
from running import DOCS, Run

ENVIRONMENTS = {"apache_beam": "test-beam", "torch": "test-frameworks"}
"""Packages of other environments, and the target of make that runs their pages."""

KINDS = [f"kinds/{path.stem}" for path in sorted((DOCS / "kinds").glob("*.md"))]
KINDS.remove("kinds/audio")  # it has programs, too

DRAWING = {"": "is a drawing"}
INSTALLS = {"pip install": "the tests have an environment"}

READING = {"": given.PROJECT, "After `schemagen generate`": given.GENERATE}
WITH_TENSORFLOW = (
    "import tensorflow as tf",
    "example = tf.train.Example",
    "mixed.tfrecord: record 1",
    "fixed = make_dataset",
    'options = {"batch_size": 32',
    "from generated.post.parser",
    "exact = ",
)

RUNS = [
    # README and guides.
    Run(
        ("README",),
        sentences=True,
        not_run={
            **INSTALLS,
            "from generated.pet_photo.reader": "needs PyTorch",
        },
        after=given.leaves("served/saved_model.pb", "report.html"),
        marks=("integration",),
    ),
    Run(
        ("README",),
        at={"": given.pets},
        not_run={**INSTALLS, "import numpy": "needs TensorFlow"},
        after=given.batches_of_frameworks,
        needs="torch",
    ),
    Run(
        ("index",),
        not_run=INSTALLS,
        after=given.leaves("schemas/pet_photo.py"),
    ),
    Run(
        ("tutorial",),
        not_run={"mkdir pets": "the tests have an environment"},
        after=given.leaves("served/pet_photo/1/saved_model.pb"),
        marks=("integration",),
    ),
    Run(("tables",), marks=("integration",)),
    Run(
        ("adopting",),
        at={"": given.flowers},
        not_run={"schemagen inspect old": "runs below"},
        marks=("integration",),
    ),
    Run(
        ("evolution",),
        at={"": given.REPOSITORY},
        not_run={"schemagen breaking --against main": "the schema comes later"},
        marks=("integration",),
    ),
    Run(
        ("writing",),
        at={
            "": given.few_photographs,
            "After `schemagen generate`": given.GENERATE,
            "## Many files": given.many_photographs,
        },
        not_run={
            '{"row": 3': "is a line of a file",
            "schemagen infer sales": "has no file; docs/tables.md infers from a frame",
            'write_dataset(frame, "data"': "has no frame; docs/tables.md runs",
            'write_dataset(rows, "data", "train-day2")': "has no rows",
            'with Writer("data", "train", resume=True)': "needs an interrupted run",
        },
        after=given.photographs_written,
        marks=("slow",),
    ),
    Run(
        ("reading",),
        at=READING,
        not_run=dict.fromkeys(("import grain", "list<item"), "runs without TensorFlow"),
        marks=("slow",),
    ),
    *(
        Run(
            ("reading",),
            at=READING,
            not_run=dict.fromkeys(WITH_TENSORFLOW, "needs TensorFlow"),
            whole=True,
            needs="torch",
            environment={"KERAS_BACKEND": backend},
        )
        for backend in ("torch", "jax")
    ),
    Run(
        ("pytorch",),
        not_run=INSTALLS,
        needs="torch",
    ),
    Run(
        ("training", "serving"),
        at={"": given.training_of_pets},
        not_run={
            "docker run": "needs Docker",
            "schemagen init --train": "runs in test_training_program.py",
        },
        after=given.served,
        marks=("slow",),
    ),
    Run(
        ("recipes",),
        at={"": given.training},
        not_run={"torchrun": "needs PyTorch"},
        after=given.cooked,
        marks=("slow",),
    ),
    Run(
        ("recipes",),
        "Several GPUs with PyTorch",
        at={
            "": given.PROJECT,
            "torchrun": given.command("schemagen generate; python write_reviews.py"),
        },
        after=given.ranks_share_an_epoch,
        needs="torch",
    ),
    Run(
        ("decoders",), at={"": given.SETTINGS}, not_run=INSTALLS, marks=("integration",)
    ),
    Run(("scale",), at={"": given.SETTINGS}, after=given.nothing_is_left),
    Run(
        ("scale-engines",),
        "Apache Beam",
        at={"": given.scans},
        after=given.scans_written,
        needs="apache_beam",
    ),
    Run(
        ("scale-engines",),
        "Spark",
        at={"": given.quick_spark},
        after=given.spark_splits,
        marks=("integration",),
    ),
    Run(("scale-engines",), "Ray", whole=True, marks=("integration",)),
    Run(("scale-engines",), "Dask", whole=True, marks=("integration",)),
    # Data.
    Run(
        ("inspect",),
        at={
            "": given.old_files,
            "## Leakage and drift": given.two_splits,
            "### Groups": given.speech,
            "## Two datasets": given.two_datasets,
        },
        finds=("schemagen diff",),
        after=given.cut_file_is_reported,
    ),
    Run(
        ("verify",),
        at={
            "": given.shelter,
            "After some bytes were changed": given.damage,
            "## Several machines": given.exchange,
            "## Findings in Python": given.exchange,
        },
        not_run={"[tool.schemagen]": "is a setting"},
        after=given.all_is_found,
    ),
    Run(("interop",), at={"": given.pets, "~/tensorflow_datasets": given.descriptions}),
    Run(
        ("notebooks",),
        at={"": given.pets},
        not_run={"pip install": "starts a server"},
    ),
    # Schemas and generated code.
    Run(
        ("schema", *KINDS),
        schemas=True,
        after=given.leaves(
            "generated/station/parser.py",
            "generated/every/model.py",
            "generated/robot_step/model.py",
            "generated/long_question/serializer.py",
            "generated/video/parser.py",
        ),
        not_run={"from generated.gesture.pipeline": "runs below"},
    ),
    Run(("kinds/images",), "Clips", at={"": given.clips}),
    Run(("kinds/audio",), "Audio", schemas=True),
    Run(("kinds/audio",), "Write and read", at={"": given.SETTINGS}),
    Run(
        ("generated-code",),
        at={"": given.SETTINGS},
        not_run={'pip install "PATH/TO/CLONE[watch]"': "does not end"},
    ),
    Run(("templates",), at={"": given.PROJECT}, after=given.parser_has_more),
    # The project.
    Run(
        ("comparison",),
        at={"": given.PROJECT},
        after=given.both_programs,
        marks=("slow",),
    ),
    Run(
        ("benchmarks",),
        not_run={"make bench": "takes minutes and another environment"},
    ),
    Run(("how-it-works",), not_run=DRAWING),
    Run(("architecture",), not_run=DRAWING),
    Run(("data",), not_run=DRAWING),
    Run(("questions",), not_run={"rows = ": "needs files of others"}),
]

TESTED_ELSEWHERE = {
    "ci": "tests/integrations/test_ci_page.py",
    "cli": "tests/cli/test_help.py",
    "json-output": "tests/integrations/test_json.py",
    "reference": "docs/generators/reference.py",
}


def named(name: str) -> Run:
    """Return the run of a name."""
    (found,) = [run for run in RUNS if run.name == name]
    return found
