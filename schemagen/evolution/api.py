"""Rules: programs that use the generated code have to change."""

from __future__ import annotations

from .rule import BreakingRule

ADAPT = "change the programs that use it and accept the break; the data may stay"

RULES = (
    BreakingRule(
        id="SG241",
        title="field renamed",
        purpose="Keywords of `serialize`, keys in batches and model inputs have its name.",
        before="age: int",
        after='age_years: Annotated[int, Scalar("int64", key="age")]',
        to_do=ADAPT,
    ),
    BreakingRule(
        id="SG242",
        title="field removed",
        purpose="A later field could use its name or key with another meaning.",
        before="age: int",
        to_do='reserve its name and key: `class Pet(Record, reserved=("name", "key"))`',
    ),
    BreakingRule(
        id="SG243",
        title="`serialize` requires a new keyword",
        purpose="Programs that write raise a TypeError.",
        after="age: int",
        to_do="give the field a default",
    ),
    BreakingRule(
        id="SG244",
        title="role changed",
        purpose="Elements of datasets and models have the field in another part.",
        before="age: int",
        after='age: Annotated[int, Scalar("int64", role="info")]',
        to_do=ADAPT,
    ),
    BreakingRule(
        id="SG245",
        title="tensor in batches changed",
        purpose="The data reads as before, into a tensor of another dtype or shape.",
        before='words: Annotated[list[int], VarLen("int64")]',
        after='words: Annotated[list[int], VarLen("int64", ragged=True)]',
        to_do=ADAPT,
    ),
    BreakingRule(
        id="SG246",
        title="model has a new input",
        purpose="Saved models do not take it; Keras may match inputs in the wrong order.",
        after="age: int | None = 1",
        to_do="read for older models with make_dataset(fields=...), or train them again",
        level="warning",
    ),
    BreakingRule(
        id="SG247",
        title="classes added",
        purpose="The heads and embeddings of saved models are too small for them.",
        before='breed: Annotated[str, Label(classes=("pug", "tabby"))]',
        after='breed: Annotated[str, Label(classes=("pug", "tabby", "beagle"))]',
        to_do="rebuild and retrain models before they read such records",
        level="warning",
    ),
    BreakingRule(
        id="SG248",
        title="`serialize` refuses values that it accepted",
        purpose="Programs fail that write rounded floats, or names of removed classes.",
        before="age: float",
        after='age: Annotated[float, Scalar("float32", exact=True)]',
        to_do="leave out exact=True, or keep the names of the classes",
    ),
    BreakingRule(
        id="SG249",
        title="record removed",
        purpose="Its generated package is gone, and its data has no reader.",
        before="class Pet(Record):\n    number: int",
        after="class Animal(Record):\n    number: int",
        to_do="keep the name of the class, or accept the break if nothing uses it",
    ),
    BreakingRule(
        id="SG250",
        title="reserved name removed",
        purpose="A later field could use it, and read what a removed field has written.",
        before='class Pet(Record, reserved=("age",)):\n    number: int',
        after="class Pet(Record):\n    number: int",
        to_do="keep it in reserved as long as data may have it",
    ),
    BreakingRule(
        id="SG251",
        title="structure of dataset elements changed",
        purpose="Loops that unpack elements fail, and so do saved models.",
        after="breed: Annotated[int, Label(num_classes=3)] = 0",
        to_do="give the field the role info; or " + ADAPT,
    ),
    BreakingRule(
        id="SG252",
        title="field removed, and reserved",
        purpose="Keywords of `serialize`, keys in batches and model inputs have its name.",
        before="class Pet(Record):\n    number: int\n    age: int",
        after='class Pet(Record, reserved=("age",)):\n    number: int',
        to_do="check that no program and no saved model uses it",
        level="warning",
    ),
    BreakingRule(
        id="SG253",
        title="record became a draft",
        purpose="From the next revision on, its breaks would only be warnings.",
        before="class Pet(Record):\n    number: int",
        after="class Pet(Record, draft=True):\n    number: int",
        to_do="declare a draft under another name; a stable record stays stable",
    ),
)
