"""Changes of schemas, and the rules that each of them comes under.

`backward` has the rules for new code with old data and old programs, `forward` those for
old code with new data.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pictures import encoded
from schemagen.evolution import BREAKING_RULES

HEAD = """\
from typing import Annotated, Any
import numpy as np
from pydantic import BaseModel
from schemagen import *


class Inner(BaseModel):
    x: int


"""


@dataclass(frozen=True)
class Change:
    """A record before and after a change.

    Attributes:
        before: its fields, as they are declared; or the whole class.
        after: the same after the change.
        backward: the ids of the rules, separated by spaces.
        forward: the same of the other direction.
        rows: what is written with both, as far as they accept it.
        rule: of an example of a rule, its id.
    """

    before: str
    after: str
    backward: str
    forward: str
    rows: tuple[dict[str, Any], ...] = ()
    rule: str = ""

    def __str__(self) -> str:
        return self.rule or f"{self.before} to {self.after}"

    def classes(self, name: str) -> tuple[str, str]:
        """Return both classes, under another name."""
        return _class(self.before, name), _class(self.after, name)


def _class(text: str, name: str) -> str:
    if text.startswith("class "):
        return re.sub(r"^class \w+", f"class {name}", text)
    base = "SequenceRecord" if "Steps(" in text else "Record"
    body = textwrap.indent(f"number: int\n{text}", "    ")
    return f"class {name}({base}):\n{body}"


_PIXELS = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
_IDS = np.array([[0, 1, 2], [2, 1, 0]], np.uint8)
_SIX = np.arange(6, dtype=np.float32)
_FILES = [encoded(_PIXELS), encoded(_PIXELS + np.uint8(90)), encoded(_PIXELS, "jpeg")]
_LISTS: list[Any] = [[1, 2, 3], [], [200], np.array([0.5, 1.0], np.float32)]
_SOUNDS = [
    np.array(each, np.int16) for each in ([], [1, -2], [9, 8, 7, 6, 5, 4, 3, 2, 1])
]
_NAMES: list[Any] = ["b", "a", "c", 0, 1, 2]

# A kind, values for it and for what it becomes, and its changes: the parameters that
# change, or another kind (with a "?" where the field becomes optional), and the rules of
# both directions.
_FAMILIES: list[tuple[str, list[Any], list[tuple[str, str, str]]]] = [
    (
        "Image(shape=(4, 4, 3))",
        [_PIXELS, _PIXELS.astype(np.int8), _PIXELS.reshape(4, 3, 4)],
        [
            ("shape=(4, 3, 4)", "SG223", "SG223"),
            ("encoding='png'", "SG207", "SG207"),
            ("encoding='any'", "SG207", "SG207"),
            ("dtype='int8'", "SG224", "SG224"),
            ("dtype='uint16'", "SG206", "SG206"),
            (
                "shape=(None, 4, 3), height_key='h', resize=(4, 4)",
                "SG209 SG232 SG245",
                "SG206 SG232",
            ),
            ("resize=(2, 2)", "SG232 SG245", "SG232"),
            ("height_key='h'", "", ""),
            ("width_key='w'", "", ""),
            ("channels_key='c'", "", ""),
            ("format_key='f'", "", ""),
            ("format_key='f', format_text='raw!'", "", ""),
            ("transfer_encoding='base64'", "SG207", "SG207"),
            ("Tensor((None, None, 3), dtype='uint8', shape_key='s')", "SG225", "SG225"),
        ],
    ),
    (
        "VarLen(dtype='int64', role='info')",
        [[1, 0], [], [3]],
        [
            ("classes=('a', 'b')", "SG208 SG233", "SG233"),
            ("classes=('a', 'b'), offset=1", "SG208 SG222 SG233", "SG222 SG233"),
            ("classes=('a', 'b'), values=(1, 0)", "SG208 SG222 SG233", "SG222 SG233"),
        ],
    ),
    (
        "VarLen(dtype='int64', classes=('a', 'b'))",
        [[1, 0], []],
        [("classes=('a', 'c'), renamed={'b': 'c'}", "", "SG221")],
    ),
    (
        "VarLen(dtype='int64', classes=('a', 'b'), offset=0)",
        [["b", "a"], []],
        [
            ("classes=('b', 'a')", "SG221", "SG221"),
            ("classes=('a', 'b', 'c')", "SG247", "SG208"),
            ("classes=('a',)", "SG208", ""),
            ("offset=1", "SG222", "SG222"),
            ("values=(1, 0)", "SG222", "SG222"),
            ("stored='text'", "SG205", "SG205"),
        ],
    ),
    (
        "VarLen(dtype='float32', item_shape=(4,))",
        [np.array([[0, 0, 1, 1]], np.float32), np.array([[2, 0, 1, 1]], np.float32)],
        [("box=('xmin', 'ymin', 'xmax', 'ymax')", "SG208", "")],
    ),
    (
        "VarLen(dtype='int64', item_shape=(4,), box=('xmin', 'ymin', 'xmax', 'ymax'))",
        [np.array([[0, 0, 1, 1]]), np.array([[2, 0, 3, 1]])],
        [
            ("box=('ymin', 'xmin', 'ymax', 'xmax')", "SG223", "SG223"),
            ("box=('xmin', 'ymin', 'width', 'height')", "SG223", "SG223"),
        ],
    ),
    (
        "Vector(shape=(4,), box=('xmin', 'ymin', 'xmax', 'ymax'))",
        [np.arange(4, dtype=np.float32)],
        [("box=('ymin', 'xmin', 'ymax', 'xmax')", "SG223", "SG223")],
    ),
    (
        "Image(shape=(4, None, 3), width_key='w', resize=(4, 4))",
        [_PIXELS],
        [
            ("width_key='k'", "SG209", "SG209"),
            ("height_key='h'", "", ""),
        ],
    ),
    (
        "Image(shape=(4, 4, 3), encoding='png')",
        _FILES,
        [
            ("shape=(None, 4, 3), resize=(4, 4)", "SG232 SG245", "SG206 SG232"),
            ("shape=(5, 4, 3)", "SG206", "SG206"),
            ("encoding='jpeg'", "SG207", "SG207"),
            ("encoding='any'", "", "SG207"),
            ("transfer_encoding='base64'", "SG207", "SG207"),
            ("resize=(2, 2)", "SG232 SG245", "SG232"),
            ("resize=(2, 2), interpolation='nearest'", "SG232 SG245", "SG232"),
            ("resize=(2, 2), antialias=True", "SG232 SG245", "SG232"),
            ("dtype='uint16'", "SG207", "SG207"),
            ("augment=Augment(flip_left_right=True)", "", ""),
            ("format_key='f', format_text='PNG'", "", ""),
            ("height_key='h'", "", ""),
            ("Scalar('bytes')", "SG225 SG244", "SG225"),
        ],
    ),
    (
        "Image(shape=(4, 4, 3), encoding='jpeg', resize=(2, 2))",
        _FILES,
        [
            ("scaled_decoding=True", "SG232", "SG232"),
            ("orientation='apply'", "SG232", "SG232"),
            ("orientation='refuse'", "SG208", ""),
            ("encoding='any'", "", "SG207"),
        ],
    ),
    (
        "Images(shape=(4, 4, 3), encoding='png', max_count=3)",
        [_FILES[:2], [], _FILES[:1] * 3, _FILES[:1] * 4],
        [
            ("shape=(4, 5, 3)", "SG206", "SG206"),
            ("encoding='any'", "", "SG207"),
            ("encoding='jpeg'", "SG207", "SG207"),
            ("max_count=4", "", "SG208"),
            ("max_count=None", "", "SG208"),
            ("count=3, max_count=None", "SG208", ""),
            ("count=4, max_count=None", "SG208", "SG208"),
            ("resize=(2, 2)", "SG232 SG245", "SG232"),
            ("resize=(2, 2), interpolation='nearest'", "SG232 SG245", "SG232"),
            ("resize=(2, 2), antialias=True", "SG232 SG245", "SG232"),
            ("augment=Augment(crop=1)", "", ""),
            ("VarLen('bytes', max_length=3)", "SG225 SG244", "SG225"),
        ],
    ),
    (
        "Images(shape=(4, 4, 3), encoding='png', keys='f{}', count=3)",
        [_FILES[:1] * 3],
        [
            ("keys='f{:02d}'", "SG204", "SG204"),
            ("keys_from=1", "SG204 SG235", "SG204 SG235"),
            ("keys='f{:02d}', keys_from=10", "SG204", "SG204"),
            ("count=2", "SG208", "SG208"),
            ("count=4", "SG208", "SG208"),
            ("encoding='any'", "", "SG207"),
        ],
    ),
    (
        "Audio(rate=8000)",
        _SOUNDS,
        [
            ("rate=16000", "SG228", "SG228"),
            ("channels=2", "SG223", "SG223"),
            ("encoding='flac'", "SG207", "SG207"),
            ("encoding='raw'", "SG207", "SG207"),
            ("dtype='int16'", "SG232 SG245", "SG232"),
            ("max_length=3", "SG208", ""),
            ("max_length=3, too_long='keep_head'", "SG234", ""),
            ("max_seconds=0.001", "SG208", ""),
            ("ragged=True", "SG245", ""),
            ("crop=2", "", ""),
        ],
    ),
    (
        "Audio(rate=8000, encoding='raw')",
        _SOUNDS,
        [("dtype='int16'", "SG206", "SG206")],
    ),
    (
        "Images(shape=(4, 4, 3), encoding='png', keys='f{}', keys_from=10, count=3)",
        [_FILES[:1] * 3],
        [("keys='f1{}', keys_from=0", "SG209", "SG209")],
    ),
    (
        "Label(num_classes=2)",
        [0, 1, 2],
        [
            ("?", "", "SG203"),
            ("key='k'", "SG204", "SG204"),
            ("classes=('a', 'b'), num_classes=None", "", ""),
            ("num_classes=3", "SG247", "SG208"),
            ("offset=1", "SG222", "SG222"),
            ("role='info'", "SG244 SG251", ""),
            ("Scalar('int64')", "SG225 SG244 SG251", "SG225"),
            ("Scalar('int8')", "SG225 SG244 SG251", "SG225"),
        ],
    ),
    (
        "Label(classes=('a', 'b'), values=(-1, 1))",
        ["a", "b"],
        [
            ("values=(1, -1)", "SG222", "SG222"),
            ("values=()", "SG222", "SG222"),
            ("values=(), offset=3", "SG222", "SG222"),
            ("classes=('a', 'b', 'c'), values=(-1, 1, 0)", "SG247", "SG208"),
        ],
    ),
    (
        "Label(classes=('a', 'b'), offset=1)",
        ["a", "b"],
        [
            ("values=(1, 2), offset=0", "", ""),
            ("values=(2, 1), offset=0", "SG222", "SG222"),
        ],
    ),
    (
        "Label(classes=('a', 'b'))",
        _NAMES,
        [
            ("classes=('a', 'b', 'c')", "SG247", "SG208"),
            ("classes=('b', 'a')", "SG221", "SG221"),
            ("classes=('c', 'a', 'b')", "SG221 SG247", "SG221"),
            ("classes=('a', 'c')", "SG221", "SG221"),
            ("classes=('a',)", "SG208", ""),
            ("offset=1", "SG222", "SG222"),
            ("stored='text'", "SG205", "SG205"),
            ("Text()", "SG205 SG244 SG251", "SG205"),
        ],
    ),
    (
        "Label(classes=('a', 'b'), offset=0)",
        [0, 1],
        [
            ("classes=('a', 'c'), renamed={'b': 'c'}", "", "SG221"),
            ("classes=('b', 'c'), renamed={'a': 'c'}", "SG221", "SG221"),
            ("classes=('c',), renamed={'a': 'c'}", "SG208", "SG221"),
        ],
    ),
    (
        "Label(classes=('a', 'b'), stored='text')",
        ["b", "a", "c"],
        [
            ("classes=('b', 'a')", "", ""),
            ("classes=('c', 'b', 'a')", "SG247", "SG208"),
            ("classes=('a', 'c')", "SG208", "SG208"),
        ],
    ),
    (
        "MultiLabel(classes=('a', 'b'))",
        [["a"], [], ["b", "a"], ["c"], [1]],
        [
            ("num_classes=2, classes=None", "SG248", ""),
            ("classes=('a', 'b', 'c')", "SG247", "SG208"),
            ("classes=('b', 'a')", "SG221", "SG221"),
            ("offset=1", "SG222", "SG222"),
            ("stored='text'", "SG205", "SG205"),
            ("role='target'", "", ""),
            ("VarLen('int64')", "SG225 SG244 SG251", "SG225"),
        ],
    ),
    (
        "Mask(shape=(2, 3), num_classes=3, encoding='png', role='info')",
        [_IDS, _IDS.T],
        [
            ("shape=(None, 3), resize=(2, 3)", "SG232 SG245", "SG206 SG232"),
            ("shape=(3, 2)", "SG206", "SG206"),
            ("encoding='raw'", "SG207", "SG207"),
            ("dtype='uint16'", "SG207", "SG207"),
            ("num_classes=4", "SG247", "SG208"),
            ("num_classes=None", "", "SG208"),
            ("ignore=255", "", "SG230"),
            ("classes=('a', 'b', 'c'), num_classes=None", "", ""),
            ("resize=(4, 6)", "SG232 SG245", "SG232"),
            ("augment=Augment(flip_left_right=True)", "", ""),
            ("format_key='f'", "", ""),
            ("Image((2, 3, 1), encoding='png')", "SG225 SG244", "SG225"),
        ],
    ),
    (
        "Mask(shape=(2, 3), num_classes=3, ignore=255, role='info')",
        [_IDS, np.where(_IDS == 2, 255, _IDS).astype(np.uint8)],
        [
            ("ignore=254", "SG230", "SG230"),
            ("own_size=True", "", ""),
            ("ignore=None", "SG230", ""),
            ("dtype='uint16'", "SG207", "SG207"),
            (
                "shape=(None, 3), height_key='h', resize=(2, 3)",
                "SG232 SG245",
                "SG206 SG232",
            ),
            (
                "shape=(2, None), width_key='w', resize=(2, 3)",
                "SG232 SG245",
                "SG206 SG232",
            ),
        ],
    ),
    (
        "VarLen(dtype='int64', max_length=3)",
        _LISTS,
        [
            ("?", "SG246", "SG203"),
            ("dtype='int32'", "SG208", ""),
            ("dtype='uint64'", "SG205", "SG205"),
            ("dtype='float32'", "SG205", "SG205"),
            ("dtype='string'", "SG205 SG233", "SG205 SG233"),
            ("max_length=4", "", "SG208"),
            ("max_length=None", "", "SG208"),
            ("max_length=2, too_long='keep_head'", "SG234", ""),
            ("too_long='keep_tail'", "", ""),
            ("item_shape=(1,)", "SG223", "SG223"),
            ("pad_on_disk=True", "SG206", "SG227"),
            ("padding_value=-7", "SG233", "SG233"),
            ("ragged=True", "SG245", ""),
            ("exact=True", "SG248", ""),
            ("encoding='raw'", "SG205", "SG205"),
            ("min=0", "SG208", ""),
            ("max=100", "SG208", ""),
            ("Ragged('int64')", "SG225", "SG225"),
            ("Steps(Scalar('int64'), max_length=3)", "SG201", "SG201"),
        ],
    ),
    (
        "VarLen(dtype='int64', max_length=3, too_long='keep_head')",
        [[1, 2, 3], [1, 2, 3, 4]],
        [
            ("max_length=2", "SG234", ""),
            ("too_long='keep_tail'", "SG234", "SG234"),
        ],
    ),
    (
        "VarLen(dtype='int64', max_length=3, pad_on_disk=True)",
        [[1, 2, 3], [4]],
        [
            ("max_length=4", "SG206", "SG206"),
            ("padding_value=-1", "SG227", "SG227"),
            ("max_length=2", "SG206", "SG206"),
        ],
    ),
    (
        "VarLen(dtype='float32', finite=False)",
        [[0.5, float("nan")], [1.0]],
        [
            ("finite=True", "SG229", ""),
            ("dtype='float64'", "SG205", "SG205"),
        ],
    ),
    (
        "Ragged(dtype='int64', row_lengths_key='n')",
        [[[1, 2], [3]], [], [[], [300]]],
        [
            ("dtype='int16'", "SG208", ""),
            ("dtype='float32'", "SG205", "SG205"),
            ("row_lengths_key='m'", "SG209", "SG209"),
            ("max_length=1", "SG208", ""),
            ("padding_value=-1", "SG233", "SG233"),
            ("ragged=False", "SG245", ""),
            ("exact=True", "SG248", ""),
            ("min=0", "SG208", ""),
            ("max=100", "SG208", ""),
        ],
    ),
    (
        "Ragged(dtype='float32', row_lengths_key='n')",
        [[[0.5], []]],
        [
            ("finite=False", "", "SG229"),
        ],
    ),
    (
        "Vector(shape=(2, 3))",
        [
            _SIX.reshape(2, 3),
            np.arange(6).reshape(2, 3),
            _SIX.reshape(3, 2),
            np.full((2, 3), np.nan),
        ],
        [
            ("key='k'", "SG204", "SG204"),
            ("shape=(3, 2)", "SG223", "SG223"),
            ("shape=(2, 2)", "SG206", "SG206"),
            ("dtype='int64'", "SG205", "SG205"),
            ("dtype='float64'", "SG205", "SG205"),
            ("encoding='raw'", "SG205", "SG205"),
            ("finite=False", "", "SG229"),
            ("exact=True", "SG248", ""),
            ("min=0.25", "SG208", ""),
            ("max=1", "SG208", ""),
            ("VarLen('float32', item_shape=(3,))", "SG225", "SG225"),
            ("Tensor((2, None), shape_key='s')", "SG205", "SG205"),
        ],
    ),
    (
        "Vector(shape=(4,), dtype='uint8', dequantize=(0.5, -2.0))",
        [np.arange(4, dtype=np.uint8)],
        [
            ("dequantize=(0.5, -1.0)", "SG228", "SG228"),
            ("dequantize=None", "SG228", "SG228"),
            ("dtype='int8'", "SG208", "SG208"),
        ],
    ),
    (
        "Vector(shape=(2,), dtype='int32', encoding='raw')",
        [np.arange(2, dtype=np.int32), np.ones(2, np.float32)],
        [
            ("dtype='float32'", "SG224", "SG224"),
            ("dtype='int16'", "SG206", "SG206"),
            ("shape=(4,), dtype='int16'", "SG206", "SG206"),
            ("transfer_encoding='base64'", "SG207", "SG207"),
        ],
    ),
    (
        "Tensor(shape=(None, 3), shape_key='s')",
        [_SIX.reshape(2, 3), np.arange(6).reshape(2, 3), np.full((1, 3), np.nan)],
        [
            ("shape=(None, None)", "SG245", "SG206"),
            ("shape=(None, 4)", "SG206", "SG206"),
            ("shape=(2, 3)", "SG206", ""),
            ("dtype='int32'", "SG224", "SG224"),
            ("dtype='float64'", "SG206", "SG206"),
            ("encoding='list'", "SG205", "SG205"),
            ("encoding='proto', shape_key=None", "SG207 SG209", "SG207 SG209"),
            ("shape_key=('rows', None)", "SG209", "SG209"),
            ("shape_key=None", "", "SG209"),
            ("finite=False", "", "SG229"),
            ("padding_value=-1.0", "SG233", "SG233"),
            ("exact=True", "SG248", ""),
            ("min=0.25", "SG208", ""),
            ("max=1", "SG208", ""),
            ("transfer_encoding='base64'", "SG207", "SG207"),
        ],
    ),
    (
        "Scalar(dtype='float32')",
        [0.5, 1.0, 0.1, 3, float("nan")],
        [
            ("?", "", "SG203"),
            ("?presence=True", "SG245 SG246", "SG203"),
            ("role='target'", "SG244 SG251", ""),
            ("role='weight'", "SG244", ""),
            ("dtype='int64'", "SG205", "SG205"),
            ("dtype='float64'", "SG205", "SG205"),
            ("finite=False", "", "SG229"),
            ("exact=True", "SG248", ""),
            ("min=0.25", "SG208", ""),
            ("max=1", "SG208", ""),
            ("Vector((1,))", "SG225", "SG225"),
            ("Text()", "SG205", "SG205"),
        ],
    ),
    (
        "Scalar(dtype='int32')",
        [1, -1, 300],
        [
            ("dtype='int64'", "SG245", "SG208"),
            ("dtype='int8'", "SG208", ""),
            ("dtype='uint32'", "SG208", "SG208"),
            ("Label(num_classes=2)", "SG225 SG244 SG251", "SG225"),
        ],
    ),
    (
        "Scalar(dtype='int64')",
        [0, 300],
        [
            ("unit='s'", "", ""),
            ("unit='s', duration=True", "", ""),
        ],
    ),
    (
        "Scalar(dtype='int64', unit='s')",
        [0, 300],
        [
            ("unit='ms'", "SG228", "SG228"),
            ("duration=True", "SG228", "SG228"),
        ],
    ),
    (
        "Scalar(dtype='int64', min=0, max=300)",
        [0, 200, 300],
        [
            ("max=200", "SG208", ""),
            ("max=301", "", "SG208"),
            ("max=None", "", "SG208"),
            ("min=1", "SG208", ""),
            ("min=-1, max=200", "SG208", "SG208"),
        ],
    ),
    (
        "Scalar(dtype='bytes')",
        [b"a", b""],
        [
            ("transfer_encoding='base64'", "SG207", "SG207"),
            ("Text()", "SG225 SG244", "SG225"),
            ("Image((4, 4, 3), encoding='png')", "SG225 SG244", "SG225"),
        ],
    ),
    (
        "Text()",
        ["a", "grün", ""],
        [
            ("?", "SG246", "SG203"),
            ("role='info'", "SG244", ""),
            ("Label(classes=('a', 'b'), stored='text')", "SG225 SG244 SG251", "SG225"),
        ],
    ),
    (
        "Sparse(shape=(4, 4), index_key=('r', 'c'))",
        [{(0, 1): 1.0, (2, 3): 2.0}, {}, {(0, 4): 1.0}, {(0, 0): float("nan")}],
        [
            ("shape=(5, 4)", "SG223", "SG223"),
            ("shape=(4, 3)", "SG223", "SG223"),
            ("index_key=('c', 'r')", "SG231", "SG231"),
            ("index_key=('r', 'd')", "SG209", "SG209"),
            ("dtype='int64'", "SG205", "SG205"),
            ("finite=False", "", "SG229"),
            ("dense=True", "SG245", ""),
            ("exact=True", "SG248", ""),
            ("min=0.25", "SG208", ""),
            ("max=1", "SG208", ""),
        ],
    ),
    (
        "Steps(step=Vector((4,), dtype='uint8'), max_length=3)",
        [np.arange(8, dtype=np.uint8).reshape(2, 4), np.zeros((0, 4), np.uint8)],
        [
            ("max_length=4", "", "SG208"),
            ("max_length=1, too_long='keep_head'", "SG234", ""),
            ("padding_value=1", "SG233", "SG233"),
            ("ragged=True", "SG245", ""),
            ("step=Vector((4,), dtype='int8')", "SG208", "SG208"),
            ("step=Vector((2, 2), dtype='uint8')", "SG223", "SG223"),
            ("step=Vector((4,), dtype='uint8', exact=True)", "", ""),
            ("step=Vector((4,), dtype='uint8', max=6)", "SG208", ""),
            ("step=Scalar('uint8')", "SG225", "SG225"),
        ],
    ),
]

# Changes of several fields, or of a record.
_RECORDS = [
    Change(
        "photo: Annotated[Any, Image((4, 4, 3))]\n"
        "box: Annotated[Any, Vector((4,), box=('xmin', 'ymin', 'xmax', 'ymax'))]",
        "photo: Annotated[Any, Image((4, 4, 3))]\n"
        "box: Annotated[Any, Vector((4,), box=('xmin', 'ymin', 'xmax', 'ymax'), "
        "box_image='photo')]",
        "",
        "",
        ({"photo": _PIXELS, "box": [0, 0, 4, 4]},),
    ),
    Change("", "age: int", "SG202 SG243", ""),
    Change("", "age: int | None = None", "SG246", ""),
    Change(
        "", "age: Annotated[int | None, Scalar('int64', role='info')] = None", "", ""
    ),
    Change("", "breed: Annotated[int, Label(num_classes=3)] = 0", "SG251", ""),
    Change("age: int", 'age: int\n"""A text."""', "", "", ({"age": 3},)),
    Change("age: int", "age: int | None = 3", "", "SG203", ({"age": 4}, {})),
    Change(
        "age: int | None = None",
        "age: int | None = 3",
        "SG226",
        "SG226",
        ({"age": 4}, {}),
    ),
    Change("age: int | None = 1", "age: int", "SG203", "", ({"age": 4}, {})),
    Change(
        "age: int",
        "years: Annotated[int, Scalar('int64', key='age')]",
        "SG241",
        "",
        ({"age": 3},),
    ),
    Change("age: int", "years: int", "SG202 SG242 SG243", "SG202"),
    Change(
        "age: int | None = None", "years: int | None = None", "SG204 SG242", "SG204"
    ),
    Change("age: int", "inner: Inner", "SG202 SG242 SG243", "SG202"),
    Change(
        "inner: Inner", "inner: Annotated[Inner, Nested(key='other')]", "SG204", "SG204"
    ),
    Change("a: int\nb: int", "b: int\na: int", "", "", ({"a": 1, "b": 2},)),
    Change(
        "a: int\nb: int",
        "a: Annotated[int, Scalar('int64', key='b')]\nb: Annotated[int, Scalar('int64', key='a')]",
        "SG204 SG241",
        "SG204",
    ),
    Change(
        "a: int\nb: int",
        "a: Annotated[int, Scalar('int64', key='b')]",
        "SG204 SG241",
        "SG204",
    ),
    Change(
        "breed: Annotated[int, Label(num_classes=2)]",
        "breed: Annotated[int, Label(num_classes=2)]\nage: Annotated[int, Scalar('int64', role='target')] = 0",
        "SG251",
        "",
    ),
    Change(
        "breed: Annotated[int, Label(num_classes=2)]",
        "breed: Annotated[int, Label(num_classes=2)]\nw: Annotated[float, Scalar('float32', role='weight')] = 1.0",
        "SG251",
        "",
    ),
    Change(
        "xs: Annotated[list[int], VarLen('int64')]\nys: Annotated[list[int], VarLen('int64')]",
        "xs: Annotated[list[int], VarLen('int64', group='g')]\nys: Annotated[list[int], VarLen('int64', group='g')]",
        "SG210",
        "",
        ({"xs": [1, 2], "ys": [1]}, {"xs": [1], "ys": [1]}),
    ),
    Change(
        "class Pet(Record):\n    age: int",
        "class Pet(SequenceRecord):\n    age: int\n    s: Annotated[list[int], Steps(Scalar('int64'))]",
        "SG201 SG243",
        "SG201",
    ),
    Change(
        "class Pet(Record):\n    number: int\n    age: int",
        "class Pet(Record, reserved=('age',)):\n    number: int",
        "SG252",
        "SG202",
    ),
    Change(
        "class Pet(Record):\n    number: int\n    age: int",
        "class Pet(Record, reserved=('age',)):\n    number: int\n    years: int | None = None",
        "SG246 SG252",
        "SG202",
    ),
    Change(
        "class Pet(Record, reserved=('a', 'b')):\n    number: int",
        "class Pet(Record, reserved=('b', 'c')):\n    number: int",
        "SG250",
        "",
    ),
    Change(
        "class Pet(Record):\n    number: int",
        "class Pet(Record, draft=True):\n    number: int",
        "SG253",
        "",
    ),
    Change(
        "class Pet(Record, draft=True):\n    number: int\n    age: int",
        "class Pet(Record):\n    number: int\n    age: float",
        "SG205",
        "SG205",
    ),
    Change(
        "files: Annotated[Any, Images((4, 4, 3), encoding='png')]\nrows: Annotated[list[list[int]], Ragged('int64', row_lengths_key='n')]",
        "files: Annotated[Any, Images((4, 4, 3), encoding='png', group='g')]\nrows: Annotated[list[list[int]], Ragged('int64', row_lengths_key='n', group='g')]",
        "SG210",
        "",
        ({"files": _FILES[:2], "rows": [[1], []]}, {"files": _FILES[:1], "rows": []}),
    ),
    Change(
        "x: Annotated[int, Scalar('int64', key='inner/x')]", "inner: Inner", "SG241", ""
    ),
]

# Kinds that have the key "k", for their value or for something else, and a value.
_OWNERS: dict[str, tuple[str, Any]] = {
    "height": ("Image((None, 4, 3), height_key='k', resize=(4, 4))", _PIXELS),
    "height of a mask": (
        "Mask((None, 3), num_classes=3, height_key='k', resize=(2, 2))",
        _IDS,
    ),
    "row lengths": ("Ragged('int64', row_lengths_key='k')", [[1], [2, 3]]),
    "indices": ("Sparse((9,), 'k')", {1: 1.0}),
    "sizes": (
        "Tensor((None, None), dtype='uint8', encoding='list', shape_key='k')",
        np.ones((2, 2), np.uint8),
    ),
    "a number": ("Scalar('int64')", 4),
}

# Whose key "k" was, whose it becomes, and the rules.
_OWNED = [
    ("height", "a number", "SG235 SG242", "SG202"),
    ("a number", "height", "SG242", "SG235"),
    ("height of a mask", "a number", "SG235 SG242", "SG202"),
    ("a number", "height of a mask", "SG242", "SG235"),
    ("row lengths", "a number", "SG235 SG242", "SG202 SG235"),
    ("a number", "row lengths", "SG235 SG242", "SG235"),
    ("indices", "a number", "SG235 SG242", "SG202 SG235"),
    ("a number", "indices", "SG235 SG242", "SG235"),
    ("sizes", "a number", "SG235 SG242", "SG202 SG235"),
    ("a number", "sizes", "SG235 SG242", "SG235"),
]

# Rows for the examples of the rules.
_EXAMPLE_ROWS: dict[str, tuple[dict[str, Any], ...]] = {
    "SG203": ({}, {"age": 3}),
    "SG204": ({"age": 3},),
    "SG205": ({"age": 3}, {"age": 3.0}),
    "SG206": ({"size": [1.0, 2.0, 3.0]}, {"size": [1.0, 2.0]}),
    "SG207": ({"photo": _FILES[0]}, {"photo": _FILES[2]}),
    "SG208": ({"words": [1, 2, 3]}, {"words": [1, 2]}),
    "SG209": ({"lists": [[1], [2, 3]]},),
    "SG210": ({"xs": [1, 2], "ys": [1]}, {"xs": [1, 2], "ys": [3, 4]}),
    "SG221": ({"breed": "pug"},),
    "SG222": ({"breed": 1},),
    "SG223": ({"size": _SIX.reshape(2, 3)}, {"size": _SIX.reshape(3, 2)}),
    "SG224": ({"size": [1.0, 2.0]}, {"size": [1, 2]}),
    "SG225": ({"breed": 1},),
    "SG226": ({},),
    "SG227": ({"words": [1, 2]},),
    "SG228": ({"size": [2, 4]},),
    "SG229": ({"size": [np.nan, 1.0]}, {"size": [0.0, 1.0]}),
    "SG230": ({"mask": _IDS[:, :2]},),
    "SG231": ({"grid": {(0, 1): 1.0, (2, 2): 2.0}},),
    "SG232": ({"photo": _PIXELS},),
    "SG233": ({"words": [1]}, {"words": [1, 2]}),
    "SG234": ({"words": [1, 2, 3]}, {"words": [1, 2]}),
    "SG235": ({"photo": _PIXELS}, {"photo": _PIXELS, "height": 180}),
}

# No two schemas of one record show these.
_NOT_SHOWN = ("SG211", "SG220", "SG249")


def _examples() -> Iterator[Change]:
    """Yield the examples of the rules, which `schemagen explain` prints."""
    for rule in BREAKING_RULES.values():
        if rule.id not in _NOT_SHOWN:
            backward = rule.id
            forward = rule.id if rule.direction == "both" else ""
            rows = _EXAMPLE_ROWS.get(rule.id, ())
            yield Change(rule.before, rule.after, backward, forward, rows, rule.id)


def _of_families() -> Iterator[Change]:
    for kind, values, changes in _FAMILIES:
        rows = tuple({"x": value} for value in [*values, None])
        for change, backward, forward in changes:
            after = _changed(kind, change)
            yield Change(_field(kind), _field(after), backward, forward, rows)


def _changed(kind: str, change: str) -> str:
    """Return a kind with other parameters, or another kind."""
    optional, change = "?" * change.startswith("?"), change.removeprefix("?")
    if change[:1].isupper():
        return optional + change
    name = kind.partition("(")[0]
    given = {**_parameters(kind), **_parameters(f"{name}({change})")}
    return f"{optional}{name}({', '.join(f'{n}={v}' for n, v in given.items())})"


def _parameters(call: str) -> dict[str | None, str]:
    (found,) = (n for n in ast.parse(call).body if isinstance(n, ast.Expr))
    assert isinstance(found.value, ast.Call)
    return {each.arg: ast.unparse(each.value) for each in found.value.keywords}


def _of_owners() -> Iterator[Change]:
    for one, other, backward, forward in _OWNED:
        (before, was), (after, now) = _OWNERS[one], _OWNERS[other]
        old, new = ("a" if "'k'" in before else "k", "b" if "'k'" in after else "k")
        yield Change(
            _field(f"{before[:-1]}, role='info')", old),
            _field(f"?{after[:-1]}, role='info')", new),
            backward,
            forward,
            ({old: was}, {new: now}),
        )


def _field(kind: str, name: str = "x") -> str:
    python_type = "Any"
    if "Ragged(" in kind:
        item = re.findall(r"bool|int|float", kind)[0]
        python_type = f"list[list[{item}]]"
    elif "VarLen(" in kind and ("'string'" in kind or "'bytes'" in kind):
        python_type = f"list[{'str' if 'string' in kind else 'bytes'}]"
    if kind.startswith("?"):
        return f"{name}: Annotated[{python_type} | None, {kind[1:]}] = None"
    return f"{name}: Annotated[{python_type}, {kind}]"


CHANGES = [*_of_families(), *_RECORDS, *_of_owners()]
EXAMPLES = [*_examples()]
