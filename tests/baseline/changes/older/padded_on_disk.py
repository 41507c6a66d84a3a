from typing import Annotated

from schemagen import Record, VarLen


class PaddedWords(Record):
    words: Annotated[
        list[int],
        VarLen("int64", max_length=3, pad_on_disk=True, padding_value=0),
    ]
