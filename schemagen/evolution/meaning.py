"""Rules: data parses and says something else."""

from __future__ import annotations

from .rule import REWRITE, BreakingRule

RETRAIN = "train models again and accept the break; the data may stay"

RULES = (
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
        title="offset of class ids changed",
        purpose="Each record gets the class next to its own.",
        before="breed: Annotated[int, Label(num_classes=3)]",
        after="breed: Annotated[int, Label(num_classes=3, offset=1)]",
        to_do="keep the offset with which the data was written",
    ),
    BreakingRule(
        id="SG223",
        title="shape changed, with the same number of values",
        purpose="The values parse, in other positions.",
        before="size: Annotated[np.ndarray, Vector(shape=(2, 3))]",
        after="size: Annotated[np.ndarray, Vector(shape=(3, 2))]",
        to_do="keep the shape, and reshape or transpose what is read; or " + REWRITE,
    ),
    BreakingRule(
        id="SG224",
        title="dtype changed, with the same number of bytes",
        purpose="The bytes parse as other numbers.",
        before='size: Annotated[np.ndarray, Vector(shape=(2,), encoding="raw")]',
        after='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="int32", encoding="raw")]',
        to_do="keep the dtype, and cast what is read; or " + REWRITE,
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
        title="scale of quantized values changed",
        purpose="The stored integers become other floats.",
        before='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint8", dequantize=(0.5, 0.0))]',
        after='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint8", dequantize=(0.25, 0.0))]',
        to_do="keep the scale with which the data was quantized",
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
        title="resizing of images changed",
        purpose="Models get other pixels than in training.",
        before="photo: Annotated[np.ndarray, Image((4, 4, 3), resize=(2, 2))]",
        after="photo: Annotated[np.ndarray, Image((4, 4, 3), resize=(3, 3))]",
        to_do=RETRAIN,
    ),
    BreakingRule(
        id="SG233",
        title="padding value of batches changed",
        purpose="Models that mask padding by its value mask other items.",
        before='words: Annotated[list[int], VarLen("int64")]',
        after='words: Annotated[list[int], VarLen("int64", padding_value=-1)]',
        to_do=RETRAIN,
    ),
    BreakingRule(
        id="SG234",
        title="truncation of long sequences changed",
        purpose="Models get another part of them.",
        one_way=True,
        before='words: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head")]',
        after='words: Annotated[list[int], VarLen("int64", max_length=2, too_long="keep_head")]',
        to_do=RETRAIN,
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
