"""Random schemas with random rows, the same for a seed whatever reads them.

Nothing of schemagen is imported here: two versions of it are compared.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np
from PIL import Image

Row = dict[str, Any]

_INTEGERS = (
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_NUMBERS = ("bool", *_INTEGERS, *_FLOATS)
_RAW_ONLY = ("uint64", "float16", "bfloat16", "float64")
_PYTHON = {"bool": "bool", "string": "str", "bytes": "bytes"}
_TEXTS = ("", "plain", "łoś 🦊", "a\x00b\n", "'\"\\ {{ x }}", "\u202eright")
_BLOBS = (b"", b"\x00\xff", b"\n", b"plain")
_NAMES = ("red fox", "hare", "łoś", "{{ elk }}", 'the "wolf"')
_KEYS = ("image/encoded", "two words", "鍵", "{{ key }}", "it's", "line\nbreak")

_HEAD = """\
from enum import Enum
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel
from schemagen import *


class Weather(Enum):
    SUN = 0
    RAIN = 1


"""


@dataclass(frozen=True)
class Field:
    """A field of a random schema.

    Attributes:
        name: of the attribute.
        kind: the name of the kind; "" for a plain type.
        python_type: the annotation, without `| None`.
        parameters: source texts by name; those with digits as names are positional.
        default: source text; "" if the field is required.
        model: the name of the nested model that the field is in; "" for none.
        facts: what draws its values, known to this module.
    """

    name: str
    kind: str
    python_type: str
    parameters: dict[str, str] = field(default_factory=dict)
    default: str = ""
    model: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The declaration in its class."""
        some = self.python_type + (" | None" if self.default == "None" else "")
        if self.kind:
            given = [
                text if name.isdigit() else f"{name}={text}"
                for name, text in self.parameters.items()
            ]
            made = f"{self.kind}({', '.join(given)})"
            step = self.facts.get("step")
            made = made if step is None else f"Steps({', '.join([step, *given])})"
            some = f"Annotated[{some}, {made}]"
        default = f" = {self.default}" if self.default else ""
        return f"    {self.name}: {some}{default}\n"


@dataclass(frozen=True)
class Schema:
    """A schema file with one record."""

    name: str
    fields: tuple[Field, ...]
    base: str = "Record"
    options: str = ""

    @property
    def text(self) -> str:
        """The schema file."""
        models = dict.fromkeys(each.model for each in self.fields if each.model)
        parts = [_HEAD]
        for model in models:
            inside = [each.line for each in self.fields if each.model == model]
            parts.append(f"class _{model.title()}(BaseModel):\n{''.join(inside)}\n\n")
        lines = [each.line for each in self.fields if not each.model]
        lines += [f"    {model}: _{model.title()}\n" for model in models]
        doc = f'    """A record of {len(lines)} lines."""\n\n'
        return f"{''.join(parts)}class {self.name}({self.base}{self.options}):\n{doc}{''.join(lines)}"

    @property
    def record(self) -> str:
        """The name of its generated package."""
        return self.name.lower()


class Drawing:
    """Draws one schema, its rows, and what may go wrong with them."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)
        self.pixels = np.random.default_rng(self.chance.getrandbits(32))

    def _maybe(self, share: float = 0.3) -> bool:
        return self.chance.random() < share

    # Schemas.

    def schema(self) -> Schema:
        """Draw a schema, which may be wrong."""
        steps = self._maybe(0.2)
        fields = [self._field(number) for number in range(self.chance.randint(2, 8))]
        given = {"0": '"int64"', "exact": "False"}
        fields.insert(0, Field("number", "Scalar", "int", given))
        if steps:
            fields += [
                self._steps(number) for number in range(self.chance.randint(1, 3))
            ]
        grouped = [each for each in fields if each.facts.get("group")]
        if len(grouped) == 1:
            fields.append(self._group("another"))
        options = ', reserved=("gone", "gone/key")' if self._maybe(0.1) else ""
        options += ", draft=True" if self._maybe(0.1) else ""
        base = "SequenceRecord" if steps else "Record"
        return Schema("Subject", tuple(fields), base, options)

    def changed(self, schema: Schema) -> Schema:
        """Change a schema a little, as a later version of it."""
        for _ in range(self.chance.randint(1, 3)):
            schema = self._changed_once(schema)
        return schema

    def _changed_once(self, schema: Schema) -> Schema:
        fields = list(schema.fields)
        at = self.chance.randrange(len(fields))
        old = fields[at]
        way = self.chance.randrange(10)
        if way == 0:
            fields[at] = replace(old, name=f"{old.name}_new")
        elif way == 1 and len(fields) > 1:
            del fields[at]
        elif way == 2:
            fields.append(self._field(len(fields)))
        elif way == 3 and not old.facts.get("step"):
            fields[at] = replace(old, default="" if old.default else "None")
        elif way == 4 and old.kind:
            role = self.chance.choice(("input", "target", "weight", "info"))
            fields[at] = replace(
                old, parameters={**old.parameters, "role": f'"{role}"'}
            )
        elif way == 5 and old.kind:
            given = {**old.parameters, "key": f'"{self.chance.choice(_KEYS)}"'}
            fields[at] = replace(old, parameters=given)
        elif way == 6:
            self.chance.shuffle(fields)
        elif way == 7 and not old.facts.get("step"):
            fields[at] = replace(self._field(at), name=old.name, model=old.model)
        elif old.kind and not old.facts.get("step"):
            for _ in range(30):  # the same kind with other parameters
                drawn = self._field(at)
                if drawn.kind == old.kind:
                    fields[at] = replace(drawn, name=old.name, model=old.model)
                    break
        options = schema.options
        if self._maybe(0.1):
            options = "" if options else ', reserved=("number",)'
        return replace(schema, fields=tuple(fields), options=options)

    def _field(self, number: int) -> Field:
        draw = self.chance.choice(
            (
                *(self._scalar, self._scalar, self._text, self._plain, self._vector),
                *(self._vector, self._tensor, self._ragged),
                *(self._varlen, self._varlen, self._varlen, self._varlen),
                *(self._sparse, self._label, self._label, self._multilabel),
                *(self._image, self._image, self._images, self._mask, self._group),
            )
        )
        drawn: Field = draw(f"field_{number}")
        given = dict(drawn.parameters)
        if drawn.kind and self._maybe(0.15):
            given["key"] = repr(f"{self.chance.choice(_KEYS)} {number}")
        if drawn.kind and "role" not in given and self._maybe(0.15):
            given["role"] = '"info"' if self._maybe(0.9) else '"target"'
        if self._maybe(0.25) and not drawn.default:
            drawn = replace(drawn, default="None")
            if drawn.kind and self._maybe(0.2):
                given["presence"] = "True"
        alone = not drawn.facts.get("group")  # groups are of one model
        model = "inner" if alone and self._maybe(0.15) else ""
        return replace(drawn, parameters=given, model=model)

    def _strictness(self, dtype: str) -> dict[str, str]:
        found = {"exact": str(self._maybe(0.5))}
        if dtype in _FLOATS and self._maybe(0.2):
            found["finite"] = "False"
        return found

    def _plain(self, name: str) -> Field:
        plain = ("float", "str", "list[float]", "list[list[float]]", "Weather")
        python_type = self.chance.choice(plain)
        default = '"none"' if python_type == "str" and self._maybe(0.2) else ""
        return Field(name, "", python_type, {}, default)

    def _text(self, name: str) -> Field:
        return Field(name, "Text", "str")

    def _scalar(self, name: str) -> Field:
        dtype = self.chance.choice((*_NUMBERS, "bytes"))
        given = {"0": f'"{dtype}"', **self._strictness(dtype)}
        if dtype in ("bytes", *_RAW_ONLY) and self._maybe(0.15):
            given["transfer_encoding"] = '"base64"'
        python_type = _PYTHON.get(dtype, "float" if dtype in _FLOATS else "int")
        return Field(name, "Scalar", python_type, given, "", "", {"dtype": dtype})

    def _vector(self, name: str) -> Field:
        shape = self.chance.choice(((1,), (3,), (2, 3), (2, 1, 2)))
        dtype = self.chance.choice(_NUMBERS)
        raw = dtype in _RAW_ONLY or self._maybe()
        given = {"0": str(shape), "dtype": f'"{dtype}"', **self._strictness(dtype)}
        if raw and (dtype not in _RAW_ONLY or self._maybe(0.5)):
            given["encoding"] = '"raw"'
            if self._maybe(0.15):
                given["transfer_encoding"] = '"base64"'
        if dtype in _INTEGERS and "64" not in dtype and self._maybe(0.4):
            given["dequantize"] = self.chance.choice(("(0.5, 1.0)", "(0.25, -2.0)"))
        facts = {"dtype": dtype, "shape": shape}
        return Field(name, "Vector", "np.ndarray", given, "", "", facts)

    def _tensor(self, name: str) -> Field:
        shape = self.chance.choice(((None,), (None, 2), (None, None, 1), (2, None)))
        dtype = self.chance.choice(_NUMBERS)
        encoding = "raw" if dtype in _RAW_ONLY else self.chance.choice(("raw", "list"))
        given = {"0": str(shape), "dtype": f'"{dtype}"', **self._strictness(dtype)}
        if self._maybe(0.3):
            encoding = "proto"
        else:
            one = f'"{name}/shape"'
            each = [
                f'"{name}/{at}"' if s is None else "None" for at, s in enumerate(shape)
            ]
            given["shape_key"] = one if self._maybe(0.5) else f"({', '.join(each)},)"
        given["encoding"] = f'"{encoding}"'
        if encoding != "list" and self._maybe(0.15):
            given["transfer_encoding"] = '"base64"'
        facts = {"dtype": dtype, "shape": shape}
        return Field(name, "Tensor", "np.ndarray", given, "", "", facts)

    def _varlen(self, name: str, group: str = "") -> Field:
        dtype = self.chance.choice((*_NUMBERS, "string", "bytes"))
        given = {"0": f'"{dtype}"', **self._strictness(dtype)}
        shape: tuple[int, ...] = ()
        longest = None
        if not group and self._maybe(0.5):
            longest = self.chance.randint(1, 3)
            given["max_length"] = str(longest)
            if self._maybe(0.5):
                given["too_long"] = self.chance.choice(('"keep_head"', '"keep_tail"'))
            if dtype not in _RAW_ONLY and self._maybe(0.4):
                given["pad_on_disk"] = "True"
        elif dtype not in ("string", "bytes") and self._maybe():
            shape = self.chance.choice(((2,), (2, 2)))
            given["item_shape"] = str(shape)
        if self._maybe(0.2):
            padding = {"string": '"-"', "bytes": 'b"-"', "bool": "True"}
            given["padding_value"] = padding.get(dtype, "9")
        elif self._maybe(0.1):
            given["ragged"] = "True"
        if group:
            given["group"] = f'"{group}"'
        inner = _PYTHON.get(dtype, "float" if dtype in _FLOATS else "int")
        python_type = "np.ndarray" if shape or self._maybe(0.5) else f"list[{inner}]"
        if dtype in ("string", "bytes"):
            python_type = f"list[{inner}]"
        facts = {
            "dtype": dtype,
            "item_shape": shape,
            "longest": longest,
            "group": group,
        }
        facts["cut"] = "too_long" in given
        return Field(name, "VarLen", python_type, given, "", "", facts)

    def _group(self, name: str) -> Field:
        return self._varlen(name, "group")

    def _ragged(self, name: str) -> Field:
        dtype = self.chance.choice((*_NUMBERS, "string", "bytes"))
        given = {"0": f'"{dtype}"', **self._strictness(dtype)}
        if self._maybe():
            given["row_lengths_key"] = f'"{name}/ragged_row_lengths_0"'
        if self._maybe(0.2):
            given["max_length"] = "2"
        if self._maybe(0.2):
            given["ragged"] = "False"
        inner = _PYTHON.get(dtype, "float" if dtype in _FLOATS else "int")
        facts = {"dtype": dtype}
        return Field(name, "Ragged", f"list[list[{inner}]]", given, "", "", facts)

    def _sparse(self, name: str) -> Field:
        dtype = self.chance.choice(("bool", "float32", "int8", "int64", "uint16"))
        if self._maybe(0.5):
            given = {"0": "(9,)", "1": f'"{name}/index"', "dtype": f'"{dtype}"'}
            shape: tuple[int, ...] = (9,)
        else:
            given = {"0": "(3, 4)", "1": f'("{name}/row", "{name}/column")'}
            given["dtype"], shape = f'"{dtype}"', (3, 4)
        given |= {
            **self._strictness(dtype),
            **({"dense": "True"} if self._maybe() else {}),
        }
        facts = {"dtype": dtype, "shape": shape}
        return Field(name, "Sparse", "Any", given, "", "", facts)

    def _classes(self) -> tuple[dict[str, str], dict[str, Any]]:
        count = self.chance.randint(2, 5)
        names = _NAMES[:count] if self._maybe(0.6) else ()
        given = {"classes": repr(names)} if names else {"num_classes": str(count)}
        if self._maybe(0.3):
            given["offset"] = self.chance.choice(("1", "7"))
        elif names and self._maybe():
            given["stored"] = '"text"'
        return given, {"count": count, "names": names}

    def _label(self, name: str) -> Field:
        given, facts = self._classes()
        python_type = "str" if facts["names"] and self._maybe(0.5) else "int"
        if facts["names"] and self._maybe(0.2):
            del given["classes"]
            quoted = ", ".join(repr(each) for each in facts["names"])
            python_type = f"Literal[{quoted}]"
        return Field(name, "Label", python_type, given, "", "", facts)

    def _multilabel(self, name: str) -> Field:
        given, facts = self._classes()
        python_type = "list[str]" if facts["names"] else "list[int]"
        return Field(name, "MultiLabel", python_type, given, "", "", facts)

    def _size(self) -> tuple[int | None, int | None]:
        return self.chance.choice(((2, 3), (4, 4), (None, None), (None, 3)))

    def _further_keys(self, name: str, *further: str) -> dict[str, str]:
        return {f"{each}_key": f'"{name}/{each}"' for each in further if self._maybe()}

    def _image(self, name: str) -> Field:
        size = self._size()
        encoding = self.chance.choice(
            ("raw", "raw", "jpeg", "png", "png", "bmp", "gif", "webp", "any")
        )
        channels = {"jpeg": (1, 3), "png": (1, 3, 4), "webp": (3,), "gif": (3,)}
        depth = self.chance.choice(channels.get(encoding, (1, 3)))
        given = {"0": str((*size, depth)), "encoding": f'"{encoding}"'}
        given |= self._further_keys(name, "channels")
        dtype = "uint8"
        if encoding == "raw":
            dtype = self.chance.choice(("uint8", "uint8", "uint16", "int32", "float32"))
            given |= {"dtype": f'"{dtype}"'}
            given |= {k: f'"{name}/{k}"' for k in ("height_key", "width_key")}
        else:
            given |= self._further_keys(name, "height", "width", "format")
        if "format_key" in given and self._maybe():
            given["format_text"] = '"Some"'
        if None in size or self._maybe(0.2):
            given["resize"] = "(2, 2)"
            if self._maybe():
                given["interpolation"] = '"nearest"'
            elif self._maybe():
                given["antialias"] = "True"
            if encoding == "jpeg" and self._maybe(0.15):
                given["scaled_decoding"] = "True"
        if self._maybe(0.1):
            given["transfer_encoding"] = '"base64"'
        if self._maybe(0.05):
            given["augment"] = "Augment(flip_left_right=True, crop=1)"
        facts = {"size": size, "encoding": encoding, "depth": depth, "dtype": dtype}
        python_type = "np.ndarray" if encoding == "raw" else "bytes"
        return Field(name, "Image", python_type, given, "", "", facts)

    def _images(self, name: str) -> Field:
        encoding = self.chance.choice(("png", "jpeg", "any"))
        given = {"0": "(2, 3, 3)", "encoding": f'"{encoding}"'}
        count = None
        if self._maybe():
            count = self.chance.randint(1, 3)
            given["count"] = str(count)
        facts = {"size": (2, 3), "encoding": encoding, "depth": 3, "count": count}
        facts |= {"dtype": "uint8", "group": ""}
        return Field(name, "Images", "list[bytes] | np.ndarray", given, "", "", facts)

    def _mask(self, name: str) -> Field:
        size = self._size()
        encoding = self.chance.choice(("png", "raw"))
        dtype = self.chance.choice(("uint8", "uint8", "uint16"))
        given = {"0": str(size), "encoding": f'"{encoding}"', "dtype": f'"{dtype}"'}
        count = None
        if self._maybe(0.6):
            count = self.chance.randint(2, 5)
            given["num_classes"] = str(count)
        if self._maybe(0.5):
            given["ignore"] = "255"
        if encoding == "raw" or self._maybe(0.2):
            given |= {k: f'"{name}/{k}"' for k in ("height_key", "width_key")}
        if None in size:
            given["resize"] = "(2, 2)"
        given["role"] = '"info"'
        facts = {"size": size, "encoding": encoding, "dtype": dtype, "count": count}
        allowed = encoding == "png" and dtype == "uint8"
        facts["palette"] = allowed and self._maybe(0.15)
        python_type = "bytes" if facts["palette"] else "np.ndarray"
        return Field(name, "Mask", python_type, given, "", "", facts)

    def _steps(self, number: int) -> Field:
        name = f"steps_{number}"
        draw = self.chance.choice((self._scalar, self._vector, self._label, self._text))
        step = draw(name)
        text = step.line.partition(f"[{step.python_type}, ")[2].rpartition("]")[0]
        given: dict[str, str] = {}
        longest = None
        if self._maybe():
            longest = self.chance.randint(1, 4)
            given["max_length"] = str(longest)
            if self._maybe(0.5):
                given["too_long"] = self.chance.choice(('"keep_head"', '"keep_tail"'))
        if self._maybe(0.2):
            given["ragged"] = "True"
        facts = {"step": text, "of": step, "longest": longest}
        facts["cut"] = "too_long" in given
        return Field(name, "Steps", "Any", given, "", "", facts)

    # Rows.

    def rows(self, schema: Schema, count: int) -> list[Row]:
        """Draw rows that the writer should take."""
        return [self._row(schema, number) for number in range(count)]

    def _row(self, schema: Schema, number: int) -> Row:
        row: Row = {}
        length = self.chance.randint(0, 4)
        for each in schema.fields:
            place = row.setdefault(each.model, {}) if each.model else row
            if each.default and self._maybe():
                continue
            place[each.name] = self.value(each, length)
        return row | {"number": number}

    def value(self, each: Field, length: int) -> Any:
        """Draw a value of a field; sequences of a group have this length."""
        facts = each.facts
        if facts.get("group") != "group":
            length = self.chance.randint(0, 5)
        if not facts.get("cut") and facts.get("longest") is not None:
            length = min(length, facts["longest"])
        if each.kind == "":
            return self._plain_value(each.python_type, length)
        if each.kind == "Steps":
            return [self.value(facts["of"], 0) for _ in range(length)]
        if each.kind == "Text":
            return self.chance.choice(_TEXTS)
        if each.kind in ("Label", "MultiLabel"):
            return self._class_value(each)
        if each.kind in ("Image", "Mask"):
            return self._picture(facts)
        if each.kind == "Images":
            count = length if facts["count"] is None else facts["count"]
            return [self._picture(facts) for _ in range(count)]
        dtype = facts.get("dtype", "int64")
        finite = "finite" not in each.parameters
        exact = each.parameters.get("exact") == "True"
        if each.kind == "Ragged":
            return [
                [
                    self.number(dtype, finite, exact)
                    for _ in range(self.chance.randint(0, 3))
                ]
                for _ in range(min(length, 2))
            ]
        if each.kind == "Sparse":
            size = int(np.prod(facts["shape"]))
            flat = self.chance.sample(range(size), min(length, size))
            values = [self.number(dtype, finite, exact) for _ in flat]
            if len(facts["shape"]) == 1:
                return dict(zip(flat, values, strict=True))
            return ([divmod(at, facts["shape"][1]) for at in flat], values)
        shape: tuple[int, ...] = ()
        if each.kind == "VarLen":
            shape = (length, *facts["item_shape"])
        elif each.kind != "Scalar":
            shape = tuple(
                self.chance.randint(0, 3) if s is None else s
                for s in facts.get("shape", ())
            )
        if not shape:
            return self.number(dtype, finite, exact)
        return self._array(shape, dtype, finite, exact)

    def _array(
        self, shape: tuple[int, ...], dtype: str, finite: bool, exact: bool
    ) -> Any:
        some = [self.number(dtype, finite, exact) for _ in range(int(np.prod(shape)))]
        if dtype in ("string", "bytes"):
            return some
        numpy_type = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
        if dtype in _FLOATS and not exact:
            numpy_type = np.dtype("float64")  # which the writer rounds
        found = np.array(some, numpy_type).reshape(shape)
        return found.tolist() if found.size and self._maybe() else found

    def number(self, dtype: str, finite: bool = True, exact: bool = True) -> Any:
        """Draw a number, a text or bytes; the bounds of a dtype often."""
        if dtype == "string":
            return self.chance.choice(_TEXTS)
        if dtype == "bytes":
            return self.chance.choice(_BLOBS)
        if dtype == "bool":
            return self._maybe(0.5)
        if dtype in _INTEGERS:
            bounds = np.iinfo(dtype)
            some = (0, 1, 2, 100, int(bounds.max), int(bounds.min))
            return self.chance.choice(
                (*some, self.chance.randint(bounds.min, bounds.max))
            )
        wide = [1 / 3, 0.1] if dtype == "float64" else []
        if not exact:  # also what lies between two numbers of 8 and of 11 bits
            wide = [1 / 3, 0.1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, 1 + 3 * 2**-11]
        rare = [] if finite else [float("nan"), float("inf")]
        return self.chance.choice([0.0, -0.0, 0.5, -2.0, 3.0, 1024.0, *wide, *rare])

    def _plain_value(self, python_type: str, length: int) -> Any:
        if python_type.startswith("list["):
            inner = python_type[5:-1]
            return [self._plain_value(inner, 2) for _ in range(length)]
        dtypes = {"int": "int64", "float": "float32", "str": "string"}
        if python_type == "Weather":
            return self.chance.choice((0, 1))
        return self.number(dtypes.get(python_type, python_type))

    def _class_value(self, each: Field) -> Any:
        count, names = each.facts["count"], each.facts["names"]
        some = [*range(count), *names]
        if each.kind == "Label":
            return self.chance.choice(some)
        ids = self.chance.sample(range(count), self.chance.randint(0, count))
        return [names[at] if names else at for at in ids]

    def _picture(self, facts: dict[str, Any]) -> Any:
        height, width = (s or self.chance.randint(1, 5) for s in facts["size"])
        encoding, dtype = facts["encoding"], facts["dtype"]
        if "depth" not in facts:
            most = facts["count"] or 3
            ids = self.pixels.integers(0, most, (height, width)).astype(dtype)
            if not facts["palette"]:
                return ids
            palette = Image.fromarray(ids, "P")
            palette.putpalette([9, 8, 7] * 256)
            return _encoded(palette, "png", bits=8)
        shape = (height, width, facts["depth"])
        pixels = self.pixels.integers(0, 4, shape).astype(dtype) * 60
        if encoding == "raw" or (encoding == "png" and self._maybe()):
            return pixels
        if encoding == "any":
            encoding = self.chance.choice(("png", "jpeg"))
        flat = pixels[:, :, 0] if facts["depth"] == 1 else pixels
        image = Image.fromarray(flat.astype(np.uint8))
        if encoding == "gif":
            return _encoded(image.quantize(16), "gif")
        return _encoded(image, encoding)

    def spoiled(self, schema: Schema, rows: list[Row]) -> Iterator[Row]:
        """Yield rows with one value that is mostly wrong."""
        for row in rows:
            each = self.chance.choice(schema.fields)
            changed = {k: dict(v) if k == each.model else v for k, v in row.items()}
            place = changed[each.model] if each.model else changed
            place[each.name] = self._wild(place.get(each.name))
            if self._maybe(0.05):
                del place[each.name]
            if self._maybe(0.05):
                changed["unknown_field"] = 1
            yield changed

    def _wild(self, good: Any) -> Any:
        wild: list[Any] = [None, True, -1, 3.7, 2**40, 2**64, "x", "hare", b"x", [], {}]
        wild += [
            float("nan"),
            float("inf"),
            1e300,
            0.1,
            "\ud800",
            [1, "a"],
            [[1], [2, 3]],
        ]
        wild += [np.float64(0.1), np.uint64(2**64 - 1), np.int64(-1), {1: 2}, 1j]
        wild += [np.ones((2, 3)), np.zeros(0), np.ones((2, 2), bool), np.array("x")]
        wild += [np.full((2, 3), np.nan), np.ones((2, 3, 3), np.uint8), [-1, 300]]
        if isinstance(good, (str, bytes, list, tuple)) and len(good):
            wild += [good[:-1], good[:1], [good, good]] * 4
        if isinstance(good, bytes):
            wild += [good[: len(good) // 2], good + b"x"] * 6
        if isinstance(good, np.ndarray):
            wild += (
                [good[..., :-1], good.astype("O"), good[None]] * 4 if good.ndim else []
            )
        return self.chance.choice(wild)


def _encoded(image: Image.Image, encoding: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, format=encoding.upper(), **options)
    return out.getvalue()
