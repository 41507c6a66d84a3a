"""Rules: old data does not parse any more."""

from __future__ import annotations

from ..runtime.codecs.compatibility import DATA_CHECKS
from .rule import LATER, BreakingRule

RULES = (
    BreakingRule(
        id="SG201",
        title="message type changed",
        purpose="A tf.train.Example and a tf.train.SequenceExample do not parse as "
        "each other.",
        axis="wire",
        direction="both",
        check=DATA_CHECKS["SG201"],
        before=("class Pet(Record):\n    number: int"),
        after=(
            "class Pet(SequenceRecord):\n"
            "    number: int\n"
            '    steps: Annotated[list[int], Steps(Scalar("int64"))]'
        ),
        to_do="declare a record of another name, and write the data again",
    ),
    BreakingRule(
        id="SG202",
        title="new required field",
        purpose="The data does not have it, and a missing value is an error, not a "
        "zero.",
        axis="wire",
        direction="backward",
        check=DATA_CHECKS["SG202"],
        before="",
        after="age: int",
        to_do="give it a default, such as None for a type with `| None`; if it is a "
        "renamed field, give it the old one's key=",
    ),
    BreakingRule(
        id="SG203",
        title="optional field became required",
        purpose="Records without it do not parse any more.",
        axis="wire",
        direction="backward",
        check=DATA_CHECKS["SG203"],
        before="age: int | None = None",
        after="age: int",
        to_do="keep the default until no data without the field is read",
    ),
    BreakingRule(
        id="SG204",
        title="key changed",
        purpose="The new key has no data: a required field is missing, and an "
        "optional one would read as its default in every record.",
        axis="wire",
        direction="both",
        check=DATA_CHECKS["SG204"],
        before="age: int",
        after='age: Annotated[int, Scalar("int64", key="age_years")]',
        to_do="keep the key: key= identifies the field in data, its name is free; if "
        "it is a new field, reserve the name of the old one",
    ),
    BreakingRule(
        id="SG205",
        title="feature type changed",
        purpose="tf.train.Feature has a list of bytes, one of floats and one of "
        "int64, and parsers expect one of them.",
        axis="wire",
        direction="both",
        check=DATA_CHECKS["SG205"],
        before="age: int",
        after="age: float",
        to_do=LATER,
    ),
    BreakingRule(
        id="SG206",
        title="number of values or bytes changed",
        purpose="Parsers expect the number that the shape determines.",
        axis="wire",
        direction="both",
        check=DATA_CHECKS["SG206"],
        before="size: Annotated[np.ndarray, Vector(shape=(3,))]",
        after="size: Annotated[np.ndarray, Vector(shape=(2,))]",
        to_do=LATER,
    ),
    BreakingRule(
        id="SG207",
        title="encoding changed",
        purpose="The bytes have another format than the one that is decoded.",
        axis="wire",
        direction="both",
        check=DATA_CHECKS["SG207"],
        before='photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), encoding="png")]',
        after='photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), encoding="jpeg")]',
        to_do="if both are image formats, declare encoding='any'; or " + LATER,
    ),
    BreakingRule(
        id="SG208",
        title="limit lowered",
        purpose="Values that were valid when they were written are refused when they "
        "are read.",
        axis="wire",
        direction="backward",
        check=DATA_CHECKS["SG208"],
        before='words: Annotated[list[int], VarLen("int64", max_length=3)]',
        after='words: Annotated[list[int], VarLen("int64", max_length=2)]',
        to_do="keep the limit; rows over max_length can be truncated with "
        "too_long='keep_head'",
    ),
    BreakingRule(
        id="SG209",
        title="key of sizes, row lengths or indices changed",
        purpose="Parsers look for them under the new key.",
        axis="wire",
        direction="both",
        check=DATA_CHECKS["SG209"],
        before='lists: Annotated[list[list[int]], Ragged("int64")]',
        after='lists: Annotated[list[list[int]], Ragged("int64", row_lengths_key="lengths")]',
        to_do="keep the key under which it was written",
    ),
    BreakingRule(
        id="SG210",
        title="sequences must have equal lengths",
        purpose="Old records were written without this check; records with other "
        "lengths are refused when they are read.",
        axis="wire",
        direction="backward",
        check=DATA_CHECKS["SG210"],
        before=(
            'xs: Annotated[list[int], VarLen("int64")]\n'
            'ys: Annotated[list[int], VarLen("int64")]'
        ),
        after=(
            'xs: Annotated[list[int], VarLen("int64", group="points")]\n'
            'ys: Annotated[list[int], VarLen("int64", group="points")]'
        ),
        to_do="read the old data once to check it, then accept the break",
    ),
    BreakingRule(
        id="SG211",
        title="unknown attribute",
        purpose="Another version of schemagen made the other spec, with an attribute "
        "that may change the meaning of its bytes.",
        axis="wire",
        direction="both",
        check=DATA_CHECKS["SG211"],
        before="age: int",
        after="age: int  # with an attribute that another schemagen knows",
        to_do="read the data with the version that wrote it, or update schemagen and generate again",
    ),
)
