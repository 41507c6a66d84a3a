"""Rules: programs that use the generated code have to change."""

from __future__ import annotations

from . import interface
from .rule import BreakingRule

RULES = (
    BreakingRule(
        id="SG241",
        title="field renamed",
        purpose="The keyword of `serialize`, the key in batches and the model's input "
        "have another name.",
        axis="api",
        direction="backward",
        check=interface.renamed,
        before="age: int",
        after='age_years: Annotated[int, Scalar("int64", key="age")]',
        to_do="change the programs that use the name, then accept the break; the data "
        "may stay",
    ),
    BreakingRule(
        id="SG242",
        title="field removed",
        purpose="The keyword of `serialize`, the key in batches and the model's input "
        "are gone, and a later field could use the name with another meaning.",
        axis="api",
        direction="backward",
        check=interface.removed,
        before="age: int",
        after="",
        to_do='reserve its name, and its key if that differs: `reserved=("name", '
        '"key")` after Record, in the parentheses of the class',
    ),
    BreakingRule(
        id="SG243",
        title="`serialize` requires a new keyword",
        purpose="Programs that write raise a TypeError.",
        axis="api",
        direction="backward",
        check=interface.demanded,
        before="",
        after="age: int",
        to_do="give the field a default",
    ),
    BreakingRule(
        id="SG244",
        title="role changed",
        purpose="The field moves to another part of a dataset's elements, and models "
        "gain or lose an input or a head.",
        axis="api",
        direction="backward",
        check=interface.another_role,
        before="age: int",
        after='age: Annotated[int, Scalar("int64", role="info")]',
        to_do="change the programs that use it, then accept the break; the data may "
        "stay",
    ),
    BreakingRule(
        id="SG245",
        title="tensor in batches changed",
        purpose="The data reads as before, into a tensor of another dtype or shape.",
        axis="api",
        direction="backward",
        check=interface.another_tensor,
        before='words: Annotated[list[int], VarLen("int64")]',
        after='words: Annotated[list[int], VarLen("int64", ragged=True)]',
        to_do="change the programs that use it, then accept the break; the data may "
        "stay",
    ),
    BreakingRule(
        id="SG246",
        title="model has a new input",
        purpose="A saved model does not take batches with it: Keras may even match "
        "inputs in the wrong order.",
        axis="api",
        direction="backward",
        check=interface.another_input,
        before="",
        after="age: int | None = 1",
        to_do="read for older models with make_dataset(fields=...), or build and "
        "train them again",
        level="warning",
    ),
    BreakingRule(
        id="SG247",
        title="classes added",
        purpose="The heads and embeddings of saved models are too small for them.",
        axis="api",
        direction="backward",
        check=interface.more_classes,
        before='breed: Annotated[str, Label(classes=("pug", "tabby"))]',
        after='breed: Annotated[str, Label(classes=("pug", "tabby", "beagle"))]',
        to_do="rebuild and retrain models before they read such records",
        level="warning",
    ),
    BreakingRule(
        id="SG248",
        title="`serialize` refuses values that it accepted",
        purpose="Programs fail if they write floats that the dtype cannot hold "
        "exactly, or names of removed classes.",
        axis="api",
        direction="backward",
        check=interface.stricter,
        before="age: float",
        after='age: Annotated[float, Scalar("float32", exact=True)]',
        to_do="leave out exact=True, or keep the names of the classes; or change the "
        "programs that write",
    ),
    BreakingRule(
        id="SG249",
        title="record removed",
        purpose="The generated package cannot be imported any more, and its data has "
        "no reader.",
        axis="api",
        direction="backward",
        check=interface.record_gone,
        before=("class Pet(Record):\n    number: int"),
        after=("class Animal(Record):\n    number: int"),
        to_do="keep the name of the class, which identifies its data; or accept the "
        "break if the record is not used any more",
    ),
    BreakingRule(
        id="SG250",
        title="reserved name removed",
        purpose="A later field could use it, and read what a removed field has "
        "written.",
        axis="api",
        direction="backward",
        check=interface.no_longer_reserved,
        before=('class Pet(Record, reserved=("age",)):\n    number: int'),
        after=("class Pet(Record):\n    number: int"),
        to_do="keep it in reserved as long as data may have it",
    ),
    BreakingRule(
        id="SG251",
        title="structure of dataset elements changed",
        purpose="Loops that unpack elements fail, and so do saved models.",
        axis="api",
        direction="backward",
        check=interface.another_form,
        before="",
        after="breed: Annotated[int, Label(num_classes=3)] = 0",
        to_do="give the field the role info, or change the programs that use it and "
        "accept the break; the data may stay",
    ),
    BreakingRule(
        id="SG252",
        title="field removed, and reserved",
        purpose="The keyword of `serialize`, the key in batches and the model's input "
        "are gone.",
        axis="api",
        direction="backward",
        check=interface.planned_removals,
        before="class Pet(Record):\n    number: int\n    age: int",
        after='class Pet(Record, reserved=("age",)):\n    number: int',
        to_do="check that no program and no saved model uses it",
        level="warning",
    ),
    BreakingRule(
        id="SG253",
        title="record became a draft",
        purpose="From the next revision on, its breaks would only be warnings.",
        axis="api",
        direction="backward",
        check=interface.becomes_draft,
        before="class Pet(Record):\n    number: int",
        after="class Pet(Record, draft=True):\n    number: int",
        to_do="declare a draft under another name; a stable record stays stable",
    ),
)
