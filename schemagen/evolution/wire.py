"""Rules: old data does not parse any more."""

from __future__ import annotations

from .rule import REWRITE, BreakingRule

RULES = (
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
        to_do="if both are image formats, declare encoding='any'; or " + REWRITE,
    ),
    BreakingRule(
        id="SG208",
        title="limit lowered",
        purpose="Values over it were valid when they were written, and cannot be read.",
        one_way=True,
        before='words: Annotated[list[int], VarLen("int64", max_length=3)]',
        after='words: Annotated[list[int], VarLen("int64", max_length=2)]',
        to_do="keep the limit, or cut rows over max_length with too_long='keep_head'",
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
