"""Rules: data parses and says something else."""

from __future__ import annotations

from ..runtime.codecs.compatibility import DATA_CHECKS
from .rule import LATER, BreakingRule

RULES = (
    BreakingRule(
        id="SG220",
        title="record name changed",
        purpose="Fields that agree do not make two records equal.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG220"],
        before=("class Pet(Record):\n    number: int"),
        after=("class Animal(Record):\n    number: int"),
        to_do="read the data with that record's code, or keep the name of the class",
    ),
    BreakingRule(
        id="SG221",
        title="class ids have new names",
        purpose="Data stores ids: with another order of the names, each record "
        "silently gets another class.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG221"],
        before='breed: Annotated[str, Label(classes=("pug", "tabby"))]',
        after='breed: Annotated[str, Label(classes=("tabby", "pug"))]',
        to_do="add new classes at the end, and keep the names of removed ones in the "
        "list; for another name of the same class declare renamed={'old': 'new'}",
    ),
    BreakingRule(
        id="SG222",
        title="offset of class ids changed",
        purpose="Each record gets the class next to its own.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG222"],
        before="breed: Annotated[int, Label(num_classes=3)]",
        after="breed: Annotated[int, Label(num_classes=3, offset=1)]",
        to_do="keep the offset with which the data was written",
    ),
    BreakingRule(
        id="SG223",
        title="shape changed, with the same number of values",
        purpose="The values parse, in other positions.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG223"],
        before="size: Annotated[np.ndarray, Vector(shape=(2, 3))]",
        after="size: Annotated[np.ndarray, Vector(shape=(3, 2))]",
        to_do="keep the shape, and reshape or transpose what is read; or " + LATER,
    ),
    BreakingRule(
        id="SG224",
        title="dtype changed, with the same number of bytes",
        purpose="The bytes parse as other numbers.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG224"],
        before='size: Annotated[np.ndarray, Vector(shape=(2,), encoding="raw")]',
        after='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="int32", encoding="raw")]',
        to_do="keep the dtype, and cast what is read; or " + LATER,
    ),
    BreakingRule(
        id="SG225",
        title="kind changed",
        purpose="Its values are in the same list with another meaning.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG225"],
        before="breed: Annotated[int, Label(num_classes=3)]",
        after='breed: Annotated[int, Scalar("int64", role="target")]',
        to_do=LATER,
    ),
    BreakingRule(
        id="SG226",
        title="default changed",
        purpose="Records without the field read as another value.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG226"],
        before="age: int | None = 1",
        after="age: int | None = 2",
        to_do="keep the default; a program that wants another value can replace it",
    ),
    BreakingRule(
        id="SG227",
        title="padding value on disk changed",
        purpose="Readers recognize padding by the value that it was written with.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG227"],
        before=(
            "words: Annotated[\n"
            "    list[int],\n"
            '    VarLen("int64", max_length=3, pad_on_disk=True, padding_value=0),\n'
            "]"
        ),
        after=(
            "words: Annotated[\n"
            "    list[int],\n"
            '    VarLen("int64", max_length=3, pad_on_disk=True, padding_value=-1),\n'
            "]"
        ),
        to_do="keep the padding value of the data",
    ),
    BreakingRule(
        id="SG228",
        title="scale of quantized values changed",
        purpose="The stored integers become other floats.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG228"],
        before='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint8", dequantize=(0.5, 0.0))]',
        after='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint8", dequantize=(0.25, 0.0))]',
        to_do="keep the scale with which the data was quantized",
    ),
    BreakingRule(
        id="SG229",
        title="finite became True",
        purpose="The data was written without this check, and readers do not check "
        "every number.",
        axis="meaning",
        direction="backward",
        check=DATA_CHECKS["SG229"],
        before="size: Annotated[np.ndarray, Vector(shape=(2,), finite=False)]",
        after="size: Annotated[np.ndarray, Vector(shape=(2,))]",
        to_do="keep finite=False, or write the data again",
    ),
    BreakingRule(
        id="SG230",
        title="ignored id changed",
        purpose="Losses and metrics leave out other pixels.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG230"],
        before=(
            "mask: Annotated[np.ndarray, "
            'Mask(shape=(2, 2), num_classes=3, ignore=255, role="info")]'
        ),
        after=(
            "mask: Annotated[np.ndarray, "
            'Mask(shape=(2, 2), num_classes=3, ignore=2, role="info")]'
        ),
        to_do="keep the id with which the data was written",
    ),
    BreakingRule(
        id="SG231",
        title="order of the indices of a sparse tensor changed",
        purpose="Rows become columns.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG231"],
        before='grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("row", "column"))]',
        after='grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("column", "row"))]',
        to_do="keep the order of the keys, and transpose what is read",
    ),
    BreakingRule(
        id="SG232",
        title="resizing of images changed",
        purpose="Models get other pixels than in training.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG232"],
        before="photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), resize=(2, 2))]",
        after=(
            "photo: Annotated[\n"
            '    np.ndarray, Image(shape=(4, 4, 3), resize=(2, 2), interpolation="nearest")\n'
            "]"
        ),
        to_do="train models again and accept the break; the data may stay",
    ),
    BreakingRule(
        id="SG233",
        title="padding value of batches changed",
        purpose="Models that mask padding by its value, as embeddings do, mask other "
        "items.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG233"],
        before='words: Annotated[list[int], VarLen("int64")]',
        after='words: Annotated[list[int], VarLen("int64", padding_value=-1)]',
        to_do="train models again and accept the break; the data may stay",
    ),
    BreakingRule(
        id="SG234",
        title="truncation of long sequences changed",
        purpose="Models get another part of them.",
        axis="meaning",
        direction="backward",
        check=DATA_CHECKS["SG234"],
        before='words: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head")]',
        after='words: Annotated[list[int], VarLen("int64", max_length=2, too_long="keep_head")]',
        to_do="train models again and accept the break; the data may stay",
    ),
    BreakingRule(
        id="SG235",
        title="key was used by another field",
        purpose="Sizes, formats, row lengths and indices have keys too. A new field "
        "under such a key would read them instead of its default, and a field whose "
        "sizes are under the key of another field would read that field's values.",
        axis="meaning",
        direction="backward",
        check=DATA_CHECKS["SG235"],
        before=(
            "photo: Annotated[\n"
            "    np.ndarray,\n"
            '    Image(shape=(4, 4, 3), encoding="png", height_key="height"),\n'
            "]"
        ),
        after=(
            'photo: Annotated[np.ndarray, Image(shape=(4, 4, 3), encoding="png")]\n'
            "height: int | None = 170"
        ),
        to_do="give the field a key that was never used: key= of its kind",
    ),
)
