"""Rules: data parses and says something else."""

from __future__ import annotations

from ..runtime.shared.compatibility import DATA_CHECKS
from .rule import LATER, BreakingRule

RULES = (
    BreakingRule(
        id="SG220",
        title="data of another record",
        purpose="Fields that happen to agree do not make it the same thing.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG220"],
        before=("class Pet(Record):\n    number: int"),
        after=("class Animal(Record):\n    number: int"),
        to_do="read it with that record's code, or keep the name of the class",
    ),
    BreakingRule(
        id="SG221",
        title="class ids stand for other names",
        purpose="Stored are ids: with another order of the names, each record silently "
        "gets another class.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG221"],
        before='breed: Annotated[str, Label(classes=("pug", "tabby"))]',
        after='breed: Annotated[str, Label(classes=("tabby", "pug"))]',
        to_do="add new classes at the end and keep the places of the others; a class "
        "that is no more keeps its place",
    ),
    BreakingRule(
        id="SG222",
        title="class ids are counted from another number",
        purpose="Each record gets its neighbour's class.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG222"],
        before="breed: Annotated[int, Label(num_classes=3)]",
        after="breed: Annotated[int, Label(num_classes=3, offset=1)]",
        to_do="keep the offset with which the data was written",
    ),
    BreakingRule(
        id="SG223",
        title="as many values in another shape",
        purpose="They parse, and each stands in another place.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG223"],
        before="size: Annotated[np.ndarray, Vector(shape=(2, 3))]",
        after="size: Annotated[np.ndarray, Vector(shape=(3, 2))]",
        to_do="keep the shape, and reshape or transpose what is read; or " + LATER,
    ),
    BreakingRule(
        id="SG224",
        title="the same bytes as another dtype",
        purpose="They parse, and are other numbers.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG224"],
        before='size: Annotated[np.ndarray, Vector(shape=(2,), encoding="raw")]',
        after='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="int32", encoding="raw")]',
        to_do="keep the dtype, and cast what is read; or " + LATER,
    ),
    BreakingRule(
        id="SG225",
        title="a field of another kind",
        purpose="Its values stand in the same list and mean something else there.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG225"],
        before="breed: Annotated[int, Label(num_classes=3)]",
        after='breed: Annotated[int, Scalar("int64", role="target")]',
        to_do=LATER,
    ),
    BreakingRule(
        id="SG226",
        title="another default for what is missing",
        purpose="Records that lack the field read as something else than before.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG226"],
        before="age: int | None = 1",
        after="age: int | None = 2",
        to_do="keep the default; what a program wants instead, it can put in place of it",
    ),
    BreakingRule(
        id="SG227",
        title="padding that stands in the data",
        purpose="It is told from values by the padding value that it was written with.",
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
        to_do="keep the padding of the data",
    ),
    BreakingRule(
        id="SG228",
        title="quantized values have another scale",
        purpose="The stored integers are turned into other floats.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG228"],
        before='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint8", dequantize=(0.5, 0.0))]',
        after='size: Annotated[np.ndarray, Vector(shape=(2,), dtype="uint8", dequantize=(0.25, 0.0))]',
        to_do="keep the scale with which the data was quantized",
    ),
    BreakingRule(
        id="SG229",
        title="numbers are promised to be finite",
        purpose="The data was written without that promise, and readers do not look at "
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
        title="another id for pixels that do not count",
        purpose="Losses and metrics leave out other pixels than those that were meant.",
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
        title="indices of a sparse tensor have changed places",
        purpose="Rows are taken for columns.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG231"],
        before='grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("row", "column"))]',
        after='grid: Annotated[Any, Sparse(shape=(3, 3), index_key=("column", "row"))]',
        to_do="keep the order of the keys, and transpose what is read",
    ),
    BreakingRule(
        id="SG232",
        title="pictures are brought to size otherwise",
        purpose="Models see other pixels than those that they were trained on.",
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
        title="batches are filled up with another value",
        purpose="What masks padding by its value, as embeddings do, masks other items.",
        axis="meaning",
        direction="both",
        check=DATA_CHECKS["SG233"],
        before='words: Annotated[list[int], VarLen("int64")]',
        after='words: Annotated[list[int], VarLen("int64", padding_value=-1)]',
        to_do="train models again and accept the break; the data may stay",
    ),
    BreakingRule(
        id="SG234",
        title="long sequences are cut otherwise",
        purpose="Models see another part of them.",
        axis="meaning",
        direction="backward",
        check=DATA_CHECKS["SG234"],
        before='words: Annotated[list[int], VarLen("int64", max_length=3, too_long="keep_head")]',
        after='words: Annotated[list[int], VarLen("int64", max_length=2, too_long="keep_head")]',
        to_do="train models again and accept the break; the data may stay",
    ),
    BreakingRule(
        id="SG235",
        title="a key held something of another field",
        purpose="Sizes, formats, row lengths and indices are stored under keys too. A "
        "field that takes up such a key reads them as its values, in place of its "
        "default; and one that has its sizes under the key of another field reads that "
        "one's values.",
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
        to_do="give the field a key that no field has had: key= of its kind",
    ),
)
