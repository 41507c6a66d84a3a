"""Texts that would be code, or would break it, if they were not taken as data."""

from __future__ import annotations

FLAG = "contract_text_became_code"
_SETS_FLAG = f"import builtins; builtins.{FLAG} = True"
_CALL = f"__import__('builtins').__setattr__('{FLAG}', True)"

# Each closes what it could stand in, sets the flag, and opens it again.
INJECTIONS = (
    f'"""\n{_SETS_FLAG}\n"""',
    f"'''\n{_SETS_FLAG}\n'''",
    f'"; {_SETS_FLAG}; "',
    f"'; {_SETS_FLAG}; '",
    f'" + str({_CALL}) + "',
    f"' + str({_CALL}) + '",
    f'\\" + str({_CALL}) + "',
    f'\\"""\n{_SETS_FLAG}\n\\"""',
    f'"): {_CALL}, ("',
    f"\n{_SETS_FLAG}\n",
    f"\r{_SETS_FLAG}\r",
    f"\u2028{_SETS_FLAG}\u2028",
    f"\x0c{_SETS_FLAG}\x0c",
    f'x"\\\n""" + str({_CALL}) + """',
    f"{{{{ {_CALL} }}}}",
    f"{{% set x = {_CALL} %}}",
    f"{{{{ cycler.__init__.__globals__.os.environ.update({FLAG}='1') }}}}",
    f"{{{_CALL}}}",
    f"# {_SETS_FLAG}",
    f"*/ {_SETS_FLAG}",
)

TEXTS = (
    '"',
    "'",
    '""',
    '"""',
    "'''",
    "\\",
    "end\\",
    '\\"',
    '\\"""',
    'a"""b',
    'ends with """',
    'ends with \\"',
    "it's",
    "both ' and \"",
    "{",
    "{{",
    "{{ x }}",
    "{% if x %}",
    "{# comment #}",
    "{0!r} %s %(name)d",
    "two\nlines",
    "blank\n\nline",
    "\n\nframed\n\n",
    "tab\there",
    "  indented\n      more\n  less",
    "nul\x00byte",
    "\x1b[31mred",
    "\u202eoverride\u202c",
    "\u2028separator\u2029",
    "\ufeffmark",
    "e\u0301 combining",
    "🦊🦊🦊",
    "漢字" * 40,
    "\U0010ffff",
    "\\N{BULLET} \\x41 \\u0041 \\101",
    "</script>",
    "# noqa",
    "# ruff: noqa",
    "Args:\n    x: y",
    ">>> 1 + 1",
    "-" * 100,
    "word " * 40,
    "x" * 5000,
    "one for all in that",
    *INJECTIONS,
)

_IMPORTS = """\
from typing import Annotated

import numpy as np
from pydantic import Field

from schemagen import Image, Label, Record, Scalar, Text, VarLen, Vector
"""

_RECORD = """

class Hard{number:03}(Record):
    __doc__ = {text}

    label: Annotated[int, Label(classes=({text}, "other"), key={text})]
    words: Annotated[list[str], VarLen("string", padding_value={text}, key={text} + "w")]
    note: Annotated[str, Text(key={text} + "n"), Field(description={text})] = {text}
    blob: Annotated[bytes, Scalar("bytes", key={text} + "b")] = {text}.encode()
    mask: Annotated[np.ndarray | None, Vector(shape=(2,), dtype="int8", key={text} + "m")] = None
    small: Annotated[int, Scalar("int8", key={text} + "s"), Field(description={text})]
    exact: Annotated[float, Scalar("float64", key={text} + "e")]
    items: Annotated[list[int], VarLen("int8", item_shape=(2,), key={text} + "i")]
    bits: Annotated[list[bool], Vector(shape=(1,), dtype="bool", key={text} + "t")]
    photo: Annotated[bytes | None, Image(shape=(2, None, 3), encoding="png", resize=(2, 2), key={text} + "p")] = None
    scan: Annotated[np.ndarray | None, Image((None, 2, 1), resize=(2, 2), key={text} + "x", height_key={text} + "h", format_key={text} + "f", format_text={text})] = None
"""


def schema_of_texts() -> str:
    """Return a schema file with a record for each text, in every place for text."""
    records = [
        _RECORD.format(number=number, text=ascii(text))
        for number, text in enumerate(TEXTS)
    ]
    return _IMPORTS + "".join(records)
