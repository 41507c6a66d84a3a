"""The ways in which a change of a schema breaks something: one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..rules import Rule

Axis = Literal["wire", "meaning", "api"]

AXES: tuple[Axis, ...] = ("wire", "meaning", "api")

# What to do about most changes of what bytes mean.
_REWRITE = (
    "write the data again into another directory, or declare a new field for it with a "
    "key of its own"
)


@dataclass(frozen=True, kw_only=True)
class BreakingRule(Rule):
    """One way in which a change of a schema breaks something.

    Attributes:
        before: an example: the line of a schema, or a class, before the change.
        after: and after it; empty if it is taken out.
        to_do: how to make the change all the same.
        one_way: whether the change back breaks nothing.
        level: "error", or "warning" for what fails no run.
    """

    before: str = ""
    after: str = ""
    to_do: str = _REWRITE
    one_way: bool = False
    level: Literal["error", "warning"] = "error"

    @property
    def axis(self) -> Axis:
        """What breaks, by the rule's number.

        wire: data does not parse; meaning: it parses and says something else; api:
        programs that use the generated code have to change.
        """
        return (
            "wire" if self.id < "SG220" else "meaning" if self.id < "SG240" else "api"
        )

    @property
    def direction(self) -> Literal["backward", "both"]:
        """Who is at odds: new code with old data and programs, or old code too."""
        return "backward" if self.one_way or self.axis == "api" else "both"


_RETRAIN = "train models again and accept the break; the data may stay"
_ADAPT = "change the programs that use it and accept the break; the data may stay"

# Rules: old data does not parse any more.
_WIRE = (
    BreakingRule(
        id="SG201",
        title="message type changed",
        purpose="An Example and a SequenceExample do not parse as each other.",
        before="class Pet(Record):\n    number: int",
        after='class Pet(SequenceRecord):\n    steps: Annotated[list[int], Steps(Scalar("int64"))]',
        to_do="declare a record of another name, and write the data again",
    ),
    BreakingRule(
        id="SG202",
        title="new required field",
        purpose="The data does not have it, and a missing value is an error, not a zero.",
        one_way=True,
        after="age: int",
        to_do="give it a default, or the key= of the field that it was before",
    ),
    BreakingRule(
        id="SG203",
        title="optional field became required",
        purpose="Records without it do not parse any more.",
        one_way=True,
        before="age: int | None = None",
        after="age: int",
        to_do="keep the default until no data without the field is read",
    ),
    BreakingRule(
        id="SG204",
        title="key changed",
        purpose="The new key has no data: records would lack the field, or read its default.",
        before="age: int",
        after='age: Annotated[int, Scalar("int64", key="age_years")]',
        to_do="keep the key by key=; if the field is a new one, reserve the old one's name",
    ),
    BreakingRule(
        id="SG205",
        title="feature type changed",
        purpose="A feature is a list of bytes, floats or int64, and parsers expect one.",
        before="age: int",
        after="age: float",
    ),
    BreakingRule(
        id="SG206",
        title="number of values or bytes changed",
        purpose="Parsers expect the number that the shape determines.",
        before="size: Annotated[np.ndarray, Vector(shape=(3,))]",
        after="size: Annotated[np.ndarray, Vector(shape=(2,))]",
    ),
    BreakingRule(
        id="SG207",
        title="encoding changed",
        purpose="The bytes have another format than the one that is decoded.",
        before='photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), encoding="png")]',
        after='photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), encoding="jpeg")]',
        to_do="if both are image formats, declare encoding='any'; or " + _REWRITE,
    ),
    BreakingRule(
        id="SG208",
        title="limit lowered, or check added",
        purpose="Values that it refuses were valid when they were written.",
        one_way=True,
        before='words: Annotated[list[int], VarLen("int64", max_length=3)]',
        after='words: Annotated[list[int], VarLen("int64", max_length=2)]',
        to_do="if all data passes, `schemagen verify DATA --record NAME --seal` states the "
        "schema again; longer rows can be cut with too_long='keep_head'",
    ),
    BreakingRule(
        id="SG209",
        title="key of sizes, row lengths or indices changed",
        purpose="Parsers look for them under the new key.",
        before='lists: Annotated[list[list[int]], Ragged("int64")]',
        after='lists: Annotated[list[list[int]], Ragged("int64", row_lengths_key="lengths")]',
        to_do="keep the key under which it was written",
    ),
    BreakingRule(
        id="SG210",
        title="sequences must have equal lengths",
        purpose="Old records were written without this check, and may have other lengths.",
        one_way=True,
        before="xs: list[int]\nys: list[int]",
        after=(
            'xs: Annotated[list[int], VarLen("int64", group="points")]\n'
            'ys: Annotated[list[int], VarLen("int64", group="points")]'
        ),
        to_do="read the old data once to check it, then accept the break",
    ),
    BreakingRule(
        id="SG211",
        title="unknown attribute",
        purpose="An attribute of another version of schemagen may decide what bytes mean.",
        before="age: int",
        after="age: int  # with an attribute that another schemagen knows",
        to_do="read the data with the version that wrote it, or update schemagen",
    ),
)

# Rules: data parses and says something else.
_MEANING = (
    BreakingRule(
        id="SG220",
        title="record name changed",
        purpose="Fields that agree do not make two records equal.",
        before="class Pet(Record):\n    number: int",
        after="class Animal(Record):\n    number: int",
        to_do="read the data with that record's code, or keep the name of the class",
    ),
    BreakingRule(
        id="SG221",
        title="class ids have new names",
        purpose="Data stores ids: under other names, records silently change their class.",
        before='breed: Annotated[str, Label(classes=("pug", "tabby"))]',
        after='breed: Annotated[str, Label(classes=("tabby", "pug"))]',
        to_do="keep all names, and add new ones at the end; or declare renamed={'old': 'new'}",
    ),
    BreakingRule(
        id="SG222",
        title="stored ids of classes changed",
        purpose="Data stores what `offset` or `values` said: records change their class.",
        before="breed: Annotated[int, Label(num_classes=3)]",
        after="breed: Annotated[int, Label(num_classes=3, offset=1)]",
        to_do="keep the offset or the values with which the data was written",
    ),
    BreakingRule(
        id="SG223",
        title="shape or order changed, with the same number of values",
        purpose="The values parse, in other positions.",
        before="size: Annotated[np.ndarray, Vector(shape=(2, 3))]",
        after="size: Annotated[np.ndarray, Vector(shape=(3, 2))]",
        to_do="keep the shape, and reshape or transpose what is read; or " + _REWRITE,
    ),
    BreakingRule(
        id="SG224",
        title="dtype changed, with the same number of bytes",
        purpose="The bytes parse as other numbers.",
        before='size: Annotated[np.ndarray, Vector(shape=(2,), encoding="raw")]',
        after='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="int32", encoding="raw")]',
        to_do="keep the dtype, and cast what is read; or " + _REWRITE,
    ),
    BreakingRule(
        id="SG225",
        title="kind changed",
        purpose="Its values are in the same list with another meaning.",
        before="breed: Annotated[int, Label(num_classes=3)]",
        after='breed: Annotated[int, Scalar("int64", role="target")]',
    ),
    BreakingRule(
        id="SG226",
        title="default changed",
        purpose="Records without the field read as another value.",
        before="age: int | None = 1",
        after="age: int | None = 2",
        to_do="keep the default; a program that wants another value can replace it",
    ),
    BreakingRule(
        id="SG227",
        title="padding value on disk changed",
        purpose="Readers recognize padding by the value that it was written with.",
        before='words: Annotated[list[int], VarLen("int64", max_length=3, pad_on_disk=True)]',
        after=(
            "words: Annotated[\n"
            '    list[int], VarLen("int64", max_length=3, pad_on_disk=True, padding_value=-1)\n'
            "]"
        ),
        to_do="keep the padding value of the data",
    ),
    BreakingRule(
        id="SG228",
        title="scale, unit or rate of stored integers changed",
        purpose="The stored integers become other floats or times, or sound of another speed.",
        before='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint8", dequantize=(0.5, 0.0))]',
        after='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint8", dequantize=(0.25, 0.0))]',
        to_do="keep the scale, unit or rate with which the data was written",
    ),
    BreakingRule(
        id="SG229",
        title="finite became True",
        purpose="The data was written without this check, and readers do not have it.",
        one_way=True,
        before="size: Annotated[np.ndarray, Vector(shape=(2,), finite=False)]",
        after="size: Annotated[np.ndarray, Vector(shape=(2,))]",
        to_do="keep finite=False, or write the data again",
    ),
    BreakingRule(
        id="SG230",
        title="ignored id changed",
        purpose="Losses and metrics leave out other pixels.",
        before='mask: Annotated[np.ndarray, Mask((2, 2), num_classes=3, ignore=255, role="info")]',
        after='mask: Annotated[np.ndarray, Mask((2, 2), num_classes=3, ignore=2, role="info")]',
        to_do="keep the id with which the data was written",
    ),
    BreakingRule(
        id="SG231",
        title="order of the indices of a sparse tensor changed",
        purpose="Rows become columns.",
        before='grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("row", "column"))]',
        after='grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("column", "row"))]',
        to_do="keep the order of the keys, and transpose what is read",
    ),
    BreakingRule(
        id="SG232",
        title="resizing of images or boxes changed",
        purpose="Models get other pixels or boxes than in training.",
        before="photo: Annotated[np.ndarray, Image((4, 4, 3), resize=(2, 2))]",
        after="photo: Annotated[np.ndarray, Image((4, 4, 3), resize=(3, 3))]",
        to_do="restore what was written, such as box_scaled=False of boxes; or "
        + _RETRAIN,
    ),
    BreakingRule(
        id="SG233",
        title="padding value of batches changed",
        purpose="Models that mask padding by its value mask other items.",
        before='words: Annotated[list[int], VarLen("int64")]',
        after='words: Annotated[list[int], VarLen("int64", padding_value=-1)]',
        to_do=_RETRAIN,
    ),
    BreakingRule(
        id="SG234",
        title="truncation of long sequences changed",
        purpose="Models get another part of the values.",
        one_way=True,
        before='words: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head")]',
        after='words: Annotated[list[int], VarLen("int64", max_length=2, too_long="keep_head")]',
        to_do=_RETRAIN,
    ),
    BreakingRule(
        id="SG235",
        title="key was used by another field",
        purpose="The new field would read what the other one has written, such as its sizes.",
        one_way=True,
        before='photo: Annotated[np.ndarray, Image((4, 4, 3), height_key="height")]',
        after="photo: Annotated[np.ndarray, Image((4, 4, 3))]\nheight: int | None = 170",
        to_do="give the field a key that was never used: key= of its kind",
    ),
)

# Rules: programs that use the generated code have to change.
_API = (
    BreakingRule(
        id="SG241",
        title="field renamed",
        purpose="Keywords of `serialize`, keys in batches and model inputs have its name.",
        before="age: int",
        after='age_years: Annotated[int, Scalar("int64", key="age")]',
        to_do=_ADAPT,
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
        to_do=_ADAPT,
    ),
    BreakingRule(
        id="SG245",
        title="tensor in batches changed",
        purpose="The data reads as before, into a tensor of another dtype or shape.",
        before='words: Annotated[list[int], VarLen("int64")]',
        after='words: Annotated[list[int], VarLen("int64", ragged=True)]',
        to_do=_ADAPT,
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
        to_do="give the field the role info; or " + _ADAPT,
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

BREAKING_RULES = {rule.id: rule for rule in (*_WIRE, *_MEANING, *_API)}
