from typing import Annotated

from schemagen import Record, VarLen


class PaddedOnDisk(Record):
    """Sequences that are padded in the file."""

    tokens: Annotated[
        list[int], VarLen("int64", max_length=4, pad_on_disk=True, padding_value=-1)
    ]
    words: Annotated[
        list[str],
        VarLen("string", max_length=3, pad_on_disk=True, too_long="keep_head"),
    ]
