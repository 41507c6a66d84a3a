"""Schemas with mistakes: each is a finding at its place, and nothing is written."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from command_line import make_project, place, refusals, run

HEAD = """\
from enum import Enum
from typing import Annotated, Any, Literal
import numpy as np
from pydantic import AliasChoices, Field
from schemagen import *

"""
FIELD_LINE = HEAD.count("\n") + 2


def of_field(tmp_path: Path, declaration: str) -> list[dict[str, Any]]:
    """Return the findings of a record `Pet` with one wrong field, indented by four."""
    base = "SequenceRecord" if "Steps(" in declaration else "Record"
    text = f"{HEAD}class Pet({base}):\n    {declaration}\n"
    found = refusals(make_project(tmp_path, {"pets.py": text}))
    for finding in found:
        assert place(finding) == f"schemas/pets.py:{FIELD_LINE}:5"
        assert finding["location"]["source"] == f"    {declaration}"
    return found


# kind and parameters, found, expected (how it begins), advice (what it has in it)
PARAMETERS = [
    # dtype
    ("Scalar(dtype='flaot32')", "dtype='flaot32'", "one of bool, int8", "'float32'?"),
    ("Scalar(dtype='str')", "dtype='str'", "a number", "use Text()"),
    ("Scalar(dtype='string')", "dtype='string'", "a number", "use Text()"),
    ("Scalar(dtype=32)", "dtype=32", "one of bool", ""),
    ("Scalar(dtype=None)", "dtype=None", "one of bool", ""),
    (
        "Scalar(dtype=np.float32)",
        "dtype=<class 'numpy.float32'>",
        "one of bool",
        "'float32'?",
    ),
    (
        "Scalar(dtype=np.dtype('int8'))",
        "dtype=dtype('int8')",
        "one of bool",
        "'int8'?",
    ),
    ("Vector(shape=(2,), dtype='double')", "dtype='double'", "one of bool", ""),
    ("Vector(shape=(2,), dtype='bytes')", "dtype='bytes'", "one of bool", ""),
    ("Vector(shape=(2,), dtype=float)", "dtype=<class 'float'>", "one of bool", ""),
    ("VarLen(dtype='int46')", "dtype='int46'", "one of bool", "'int64'?"),
    ("VarLen(dtype=('int64',))", "dtype=('int64',)", "one of bool", ""),
    ("Image(shape=(2, 2, 3), dtype='u8')", "dtype='u8'", "one of int8", ""),
    ("Image(shape=(2, 2, 3), dtype='bool')", "dtype='bool'", "one of int8", ""),
    (
        "Image(shape=(2, 2, 3), encoding='png', dtype='int16')",
        "dtype='int16'",
        "one of uint8, uint16",
        "did you mean 'uint16'?",
    ),
    (
        "Image(shape=(2, 2, 3), encoding='jpeg', dtype='uint16')",
        "dtype='uint16' with encoding='jpeg'",
        "uint8",
        "PNG has uint16 too",
    ),
    # shape
    ("Vector(shape=())", "shape=()", "a tuple of positive ints", ""),
    ("Vector(shape=5)", "shape=5", "a tuple of positive ints", ""),
    ("Vector(shape=(0,))", "shape=(0,)", "a tuple of positive ints", ""),
    ("Vector(shape=(-1,))", "shape=(-1,)", "a tuple of positive ints", ""),
    ("Vector(shape=(None,))", "shape=(None,)", "a tuple of positive ints", "Tensor"),
    ("Vector(shape=(True,))", "shape=(True,)", "a tuple of positive ints", ""),
    ("Vector(shape=(2.0,))", "shape=(2.0,)", "a tuple of positive ints", ""),
    ("Vector(shape='ab')", "shape='ab'", "a tuple of positive ints", ""),
    ("Image(shape=(8, 8))", "shape=(8, 8)", "(height, width, channels)", ""),
    ("Image(shape=(8, 8, 0))", "shape=(8, 8, 0)", "(height, width, channels)", ""),
    (
        "Image(shape=(8, 8, None), encoding='png')",
        "shape=(8, 8, None)",
        "(height, width, channels)",
        "",
    ),
    ("Image(shape=None)", "shape=None", "(height, width, channels)", ""),
    (
        "Image(shape=(None, 8, 3))",
        "shape=(None, 8, 3) with raw pixels",
        "a fixed size",
        "encoding='png'",
    ),
    (
        "Image(shape=(8, 8, 4), encoding='jpeg')",
        "4 channels in a jpeg",
        "1 or 3",
        "",
    ),
    (
        "Image(shape=(8, 8, 2), encoding='png')",
        "2 channels in a png",
        "1 or 3 or 4",
        "",
    ),
    # encoding and resize
    (
        "Image(shape=(8, 8, 3), encoding='jpg')",
        "encoding='jpg'",
        "one of raw, jpeg, png",
        "'jpeg'?",
    ),
    (
        "Image(shape=(8, 8, 3), encoding=None)",
        "encoding=None",
        "one of raw, jpeg, png",
        "",
    ),
    (
        "Image(shape=(8, 8, 3), dtype='int64', resize=(4, 4))",
        "resize of int64 pixels with interpolation='bilinear'",
        "interpolation='nearest'",
        "calculates in float32",
    ),
    (
        "Image(shape=(8, 8, 3), encoding='png', interpolation='nearest')",
        "interpolation='nearest' without resize",
        "resize=(height, width)",
        "",
    ),
    (
        "Image(shape=(8, 8, 3), encoding='png', resize=(4, 4), interpolation='linear')",
        "interpolation='linear'",
        "one of bilinear, nearest",
        "'bilinear'?",
    ),
    (
        "Image(shape=(8, None, 3), height_key='h')",
        "shape=(8, None, 3) with raw pixels and no width_key",
        "a fixed size, or width_key=",
        "declare width_key",
    ),
    (
        "Image(shape=(8, 8, None), dtype='float32')",
        "shape=(8, 8, None) with raw pixels and no channels_key",
        "a fixed size, or channels_key=",
        "declare channels_key",
    ),
    (
        "Image(shape=(8, 8, None), encoding='any', channels_key='c')",
        "shape=(8, 8, None)",
        "(height, width, channels)",
        "",
    ),
    ("Image(shape=(8, 8, 4), encoding='gif')", "4 channels in a gif", "3", ""),
    ("Image(shape=(8, 8, 1), encoding='webp')", "1 channels in a webp", "3 or 4", ""),
    ("Image(shape=(8, 8, 2), encoding='bmp')", "2 channels in a bmp", "1 or 3 or", ""),
    (
        "Image(shape=(8, 8, 2), encoding='any')",
        "2 channels in an encoded image",
        "1 or 3 or 4",
        "",
    ),
    ("Image(shape=(8, 8, 3), height_key='')", "height_key=''", "a non-empty str", ""),
    ("Image(shape=(8, 8, 3), width_key=3)", "width_key=3", "a non-empty str", ""),
    ("Image(shape=(8, 8, 3), channels_key={})", "channels_key={}", "a non-empty", ""),
    (
        r"Image(shape=(8, 8, 3), format_key='\ud800')",
        r"format_key='\ud800'",
        "text that UTF-8",
        "",
    ),
    (
        "Image(shape=(8, 8, 3), height_key='s', width_key='s')",
        "width_key='s', as height_key",
        "a key of its own for each",
        "",
    ),
    (
        "Image(shape=(8, 8, 3), format_key='f', format_text=b'JPEG')",
        "format_text=b'JPEG'",
        "a non-empty str",
        "",
    ),
    (
        "Image(shape=(8, 8, 3), format_text='RAW')",
        "format_text='RAW' without format_key",
        "the key it is written under",
        "",
    ),
    (
        "Image(shape=(8, 8, 3), encoding='any', format_key='f', format_text='JPEG')",
        "format_text='JPEG' with encoding='any'",
        "no text: each image has",
        "",
    ),
    # lists of images
    ("Images((8, 8))", "shape=(8, 8)", "(height, width, channels)", ""),
    ("Images((8, 8, 4))", "4 channels in a jpeg", "1 or 3", ""),
    (
        "Images((None, 8, 3))",
        "shape=(None, 8, 3) without resize",
        "a fixed size, or resize=",
        "brought to one size",
    ),
    ("Images((8, 8, 3), encoding='raw')", "encoding='raw'", "one of jpeg, png", ""),
    ("Images((8, 8, 3), count=0)", "count=0", "a positive int or None", ""),
    ("Images((8, 8, 3), max_count=True)", "max_count=True", "a positive int", ""),
    (
        "Images((8, 8, 3), count=2, max_count=3)",
        "max_count=3 and a count",
        "one of them",
        "",
    ),
    ("Images((8, 8, 3), resize=8)", "resize=8", "(height, width) in pixels", ""),
    (
        "Images((8, 8, 3), resize=(4, 4), interpolation=1)",
        "interpolation=1",
        "one of bilinear, nearest",
        "",
    ),
    ("Images((8, 8, 3), group=3)", "group=3", "a non-empty str", ""),
    (
        "Image(shape=(8, 8, 3), encoding='png', resize=(4,))",
        "resize=(4,)",
        "(height, width) in pixels",
        "",
    ),
    (
        "Image(shape=(8, 8, 3), encoding='png', resize=4)",
        "resize=4",
        "(height, width) in pixels",
        "",
    ),
    (
        "Vector(shape=(2,), encoding='rwa')",
        "encoding='rwa'",
        "one of list, raw",
        "'raw'?",
    ),
    # labels
    (
        "Label()",
        "num_classes=None and no classes",
        "classes=('name', ...), num_classes=n or vocabulary=",
        "",
    ),
    ("Label(num_classes=0)", "num_classes=0 and no classes", "classes=('name'", ""),
    (
        "Label(num_classes='3')",
        "num_classes='3' and no classes",
        "classes=('name'",
        "",
    ),
    ("Label(num_classes=True)", "num_classes=True and no", "classes=('name'", ""),
    ("Label(classes=())", "classes=()", "a tuple of names", ""),
    ("Label(classes='ab')", "classes='ab'", "a tuple of names", ""),
    ("Label(classes={'a'})", "classes={'a'}", "a tuple of names", ""),
    ("Label(classes=('a', 'b', 'a'))", "the class 'a' twice", "each name once", ""),
    ("Label(classes=('a', ''))", "the class ''", "a non-empty str", ""),
    ("Label(classes=('a', 1, 1))", "the class 1", "a non-empty str", ""),
    ("Label(classes=('a', ['b'], ['b']))", "the class ['b']", "a non-empty str", ""),
    (r"Label(classes=('\ud800',))", r"the class '\ud800'", "text that UTF-8", ""),
    (
        "Label(classes=('a', 'b'), num_classes=3)",
        "num_classes=3 and 2 classes",
        "one or the other",
        "",
    ),
    # masks
    ("Mask((8, 8, 1))", "shape=(8, 8, 1)", "(height, width) in pixels", ""),
    ("Mask(8)", "shape=8", "(height, width) in pixels", ""),
    ("Mask((8, 0))", "shape=(8, 0)", "(height, width) in pixels", ""),
    (
        "Mask((8, None), encoding='raw', height_key='h')",
        "shape=(8, None) with raw ids",
        "a fixed size, or height_key and width_key",
        "encoding='png'",
    ),
    ("Mask((8, 8), encoding='jpeg')", "encoding='jpeg'", "one of png, raw", ""),
    ("Mask((8, 8), dtype='int32')", "dtype='int32'", "one of uint8, uint16", ""),
    (
        "Mask((8, 8), encoding='raw', dtype='int64')",
        "dtype='int64'",
        "one of uint8, uint16, int32",
        "",
    ),
    (
        "Mask((8, 8), num_classes=0)",
        "num_classes=0",
        "a positive int, or None for any id",
        "",
    ),
    ("Mask((8, 8), num_classes='2')", "num_classes='2'", "a positive int, or None", ""),
    (
        "Mask((8, 8), num_classes=257)",
        "num_classes=257",
        "at most 256, with ids of dtype uint8",
        "",
    ),
    ("Mask((8, 8), classes='ab')", "classes='ab'", "a tuple of names", ""),
    ("Mask((8, 8), classes=('a', 'a'))", "the class 'a' twice", "each name once", ""),
    (
        "Mask((8, 8), num_classes=2, ignore=256)",
        "ignore=256",
        "an id that uint8 holds, 0 to 255, or None",
        "",
    ),
    ("Mask((8, 8), num_classes=2, ignore=True)", "ignore=True", "an id that", ""),
    ("Mask((8, 8), resize=(4,))", "resize=(4,)", "(height, width) in pixels", ""),
    ("Mask((8, 8), height_key='')", "height_key=''", "a non-empty str", ""),
    ("Mask((8, 8), width_key=3)", "width_key=3", "a non-empty str", ""),
    (
        "Mask((8, 8), height_key='s', width_key='s')",
        "width_key='s', as height_key",
        "a key of its own for each",
        "",
    ),
    ("Mask((8, 8), format_key=())", "format_key=()", "a non-empty str", ""),
    (
        "Label(num_classes=3, offset=-1)",
        "offset=-1",
        "0 or a positive int, such as 1 for ids from 1 on",
        "",
    ),
    ("Label(num_classes=3, offset=True)", "offset=True", "0 or a positive int", ""),
    ("Label(num_classes=3, offset='1')", "offset='1'", "0 or a positive int", ""),
    (
        "Label(num_classes=3, offset=2**63 - 2)",
        f"offset={2**63 - 2}",
        "ids that int64 can hold",
        "",
    ),
    (
        "Label(classes=('a',), stored='txet')",
        "stored='txet'",
        "one of id, text",
        "'text'?",
    ),
    ("Label(classes=('a',), stored=None)", "stored=None", "one of id, text", ""),
    (
        "Label(num_classes=3, stored='text')",
        "stored='text' and no classes",
        "classes=('name', ...) or vocabulary='names.txt'",
        "the names",
    ),
    (
        "Label(classes=('a',), stored='text', offset=1)",
        "offset=1 with stored='text'",
        "offset=0",
        "",
    ),
    (
        "Label(vocabulary='none.txt')",
        "vocabulary='none.txt': ",
        "a file of names, one a line",
        "the directory of the schema file",
    ),
    (
        "Label(vocabulary='/none.txt')",
        "vocabulary='/none.txt'",
        "a path from the schema file's directory",
        "",
    ),
    ("Label(vocabulary='')", "vocabulary=''", "a path such as 'names.txt'", ""),
    ("Label(vocabulary=3)", "vocabulary=3", "a path such as 'names.txt'", ""),
    (
        "Label(classes=('a',), vocabulary='names.txt')",
        "classes and vocabulary='names.txt'",
        "one or the other",
        "",
    ),
    ("MultiLabel()", "num_classes=None and no classes", "classes=('name'", ""),
    ("MultiLabel(num_classes=-1)", "num_classes=-1 and no", "classes=('name'", ""),
    ("MultiLabel(classes=('a', 'a'))", "the class 'a' twice", "each name once", ""),
    ("MultiLabel(classes='ab')", "classes='ab'", "a tuple of names", ""),
    ("MultiLabel(num_classes=3, offset=1.0)", "offset=1.0", "0 or a positive", ""),
    ("MultiLabel(num_classes=3, stored=1)", "stored=1", "one of id, text", ""),
    ("MultiLabel(vocabulary=1)", "vocabulary=1", "a path such as 'names.txt'", ""),
    # sparse tensors
    ("Sparse(4, 'ix')", "shape=4", "a tuple of positive ints", ""),
    ("Sparse((0,), 'ix')", "shape=(0,)", "a tuple of positive ints", ""),
    ("Sparse((None,), 'ix')", "shape=(None,)", "a tuple of positive ints", ""),
    (
        "Sparse((2**40, 2**40), ('r', 'c'))",
        f"shape=({2**40}, {2**40})",
        "fewer than 2**63 places",
        "",
    ),
    ("Sparse((4,), None)", "index_key=None", "a key, or a tuple of one", ""),
    ("Sparse((4,), '')", "index_key=''", "a non-empty str", ""),
    ("Sparse((4,), ())", "index_key=()", "a key, or a tuple of one", ""),
    ("Sparse((4, 4), ('a', None))", "index_key=None", "a non-empty str", ""),
    (
        "Sparse((4, 4), 'ix')",
        "index_key='ix' for 2 dimensions",
        "a key for each dimension",
        "",
    ),
    (
        "Sparse((4, 4), ('a', 'a'))",
        "index_key=('a', 'a')",
        "another key for each dimension",
        "",
    ),
    ("Sparse((4,), 'ix', dtype='float64')", "dtype='float64'", "one of bool", ""),
    ("Sparse((4,), 'ix', dtype='uint64')", "dtype='uint64'", "one of bool", ""),
    ("Sparse((4,), 'ix', dense=1)", "dense=1", "True or False", ""),
    ("Sparse((4,), 'ix', exact='no')", "exact='no'", "True or False", ""),
    ("Sparse((4,), 'ix', finite=None)", "finite=None", "True or False", ""),
    # sequences
    ("VarLen('int64', max_length=0)", "max_length=0", "a positive int or None", ""),
    ("VarLen('int64', max_length=2.5)", "max_length=2.5", "a positive int", ""),
    ("VarLen('int64', max_length='9')", "max_length='9'", "a positive int", ""),
    ("VarLen('int64', item_shape=(0,))", "item_shape=(0,)", "a tuple of positive", ""),
    ("VarLen('int64', item_shape=2)", "item_shape=2", "a tuple of positive ints", ""),
    (
        "VarLen('string', item_shape=(2,))",
        "item_shape with dtype 'string'",
        "single strings",
        "",
    ),
    ("VarLen('int8', padding_value=300)", "padding_value=300", "", ""),
    ("VarLen('int64', padding_value=0.5)", "padding_value=0.5", "", ""),
    ("VarLen('int64', padding_value='x')", "padding_value='x'", "", ""),
    ("VarLen('int64', padding_value=None)", "padding_value=None", "", ""),
    (
        "VarLen('int64', padding_value=np.zeros(2, int))",
        "padding_value=array([0, 0])",
        "one number",
        "",
    ),
    ("VarLen('string', padding_value=1)", "padding_value=1", "a str", ""),
    (
        r"VarLen('string', padding_value='\ud800')",
        r"padding_value='\ud800'",
        "text that UTF-8",
        "",
    ),
    (
        "VarLen('int64', max_length=3, too_long='cut')",
        "too_long='cut'",
        "one of error, keep_head, keep_tail",
        "",
    ),
    (
        "VarLen('int64', too_long='keep_head')",
        "too_long='keep_head' without a limit",
        "max_length=n",
        "",
    ),
    (
        "VarLen('int64', pad_on_disk=True)",
        "pad_on_disk=True without a limit",
        "max_length=n",
        "",
    ),
    (
        "VarLen('int64', max_length=3, pad_on_disk=True, ragged=True)",
        "ragged=True with pad_on_disk=True",
        "one or the other",
        "one length",
    ),
    ("VarLen('int64', max_length=3, pad_on_disk=1)", "pad_on_disk=1", "True or", ""),
    ("VarLen('int64', group='')", "group=''", "a non-empty str", ""),
    ("VarLen('int64', group=3)", "group=3", "a non-empty str", ""),
    (
        "VarLen('int64', fill_value=1)",
        "fill_value=1",
        "a field with group='...'",
        "",
    ),
    # lists of lists
    ("Ragged('int46')", "dtype='int46'", "one of bool", "'int64'?"),
    ("Ragged(dtype=None)", "dtype=None", "one of bool", ""),
    ("Ragged('int64', row_lengths_key='')", "row_lengths_key=''", "a non-empty", ""),
    ("Ragged('int64', row_lengths_key=3)", "row_lengths_key=3", "a non-empty", ""),
    ("Ragged('int64', ragged=0)", "ragged=0", "True or False", ""),
    ("Ragged('int8', padding_value=300)", "padding_value=300", "", ""),
    ("Ragged('string', padding_value=1)", "padding_value=1", "a str", ""),
    ("Ragged('int64', max_length=-1)", "max_length=-1", "a positive int or None", ""),
    ("Ragged('int64', group=())", "group=()", "a non-empty str", ""),
    ("Ragged('float32', exact=1)", "exact=1", "True or False", ""),
    ("Ragged('float32', finite=None)", "finite=None", "True or False", ""),
    # flags
    ("VarLen('int64', ragged=1)", "ragged=1", "True or False", ""),
    ("VarLen('float32', exact='no')", "exact='no'", "True or False", ""),
    ("VarLen('float32', finite=0)", "finite=0", "True or False", ""),
    ("Vector(shape=(2,), exact=None)", "exact=None", "True or False", ""),
    ("Vector(shape=(2,), finite=0)", "finite=0", "True or False", ""),
    ("Scalar('float32', exact=0)", "exact=0", "True or False", ""),
    ("Scalar('float32', finite=())", "finite=()", "True or False", ""),
    # quantized vectors
    (
        "Vector((2,), 'uint8', dequantize=0.5)",
        "dequantize=0.5",
        "(scale, offset): two finite numbers, the first not 0",
        "",
    ),
    ("Vector((2,), 'uint8', dequantize=(1,))", "dequantize=(1,)", "(scale, off", ""),
    ("Vector((2,), 'uint8', dequantize=(0, 1))", "dequantize=(0, 1)", "(scale,", ""),
    ("Vector((2,), 'uint8', dequantize=(True, 1))", "dequantize=(True, 1)", "(s", ""),
    (
        "Vector((2,), 'uint8', dequantize=(1.0, float('inf')))",
        "dequantize=(1.0, inf)",
        "(scale, offset): two finite numbers",
        "",
    ),
    (
        "Vector((2,), dequantize=(0.5, 1))",
        "dequantize with dtype 'float32'",
        "the integers that are stored, such as dtype='uint8'",
        "",
    ),
    # tensors of any shape
    ("Tensor(3)", "shape=3", "a tuple of positive ints and None", ""),
    ("Tensor((0, None))", "shape=(0, None)", "a tuple of positive ints and None", ""),
    ("Tensor((True,))", "shape=(True,)", "a tuple of positive ints and None", ""),
    ("Tensor(())", "shape=()", "at least one size", "use Scalar for one number"),
    (
        "Tensor((None,), dtype='float', shape_key='s')",
        "dtype='float'",
        "one of bool, int8",
        "",
    ),
    (
        "Tensor((None,), encoding='prto')",
        "encoding='prto'",
        "one of raw, proto, list",
        "'proto'?",
    ),
    (
        "Tensor((None,), dtype='float64', encoding='list', shape_key='s')",
        "encoding='list' with dtype 'float64'",
        "'raw' or 'proto'",
        "cannot hold it",
    ),
    (
        "Tensor((None, 3))",
        "shape=(None, 3) and no shape_key",
        "where the sizes are stored",
        "shape_key='shape'",
    ),
    (
        "Tensor((2, 3), encoding='list')",
        "shape=(2, 3) and no shape_key",
        "a size that may vary, or one that is stored",
        "use Vector",
    ),
    (
        "Tensor((None,), encoding='proto', shape_key='s')",
        "shape_key='s' with encoding 'proto'",
        "None",
        "the bytes say the shape",
    ),
    ("Tensor((None,), shape_key='')", "shape_key=''", "a non-empty str", ""),
    ("Tensor((None,), shape_key=3)", "shape_key=3", "a non-empty str", ""),
    (
        "Tensor((None, 3), shape_key=('a',))",
        "shape_key=('a',)",
        "2 keys, one for each dimension",
        "",
    ),
    (
        "Tensor((None, 3), shape_key=(None, 'b'))",
        "shape_key=(None, 'b')",
        "a key for each size that may vary",
        "",
    ),
    (
        "Tensor((2, 3), shape_key=(None, None))",
        "shape_key=(None, None)",
        "at least one key",
        "",
    ),
    (
        "Tensor((None, None), shape_key=('a', 'a'))",
        "shape_key=('a', 'a')",
        "each key once",
        "",
    ),
    (
        "Tensor((None, 3), shape_key=('a', 3))",
        "a key of shape_key=3",
        "a non-empty str",
        "",
    ),
    (
        "Tensor((None,), 'uint8', shape_key='s', padding_value=-1)",
        "padding_value=-1",
        "uint8",
        "",
    ),
    (
        "Tensor((None,), shape_key='s', padding_value='x')",
        "padding_value='x'",
        "float32 numbers",
        "",
    ),
    ("Tensor((None,), shape_key='s', exact=1)", "exact=1", "True or False", ""),
    ("Tensor((None,), shape_key='s', finite='no')", "finite='no'", "True or False", ""),
    # steps
    ("Steps(step=Scalar('int46'))", "dtype='int46'", "one of bool", "'int64'?"),
    ("Steps(Vector)", "Vector without parentheses", "Vector(...)", ""),
    ("Steps('int64')", "the step 'int64'", "one of Image, Label, Scalar", ""),
    ("Steps(Steps(Text()))", "Steps in Steps", "one of Image", "has one value"),
    ("Steps(VarLen('int64'))", "VarLen in each step", "one of Image", "in one VarLen"),
    (
        "Steps(Text(key='k'))",
        "key='k' in the kind of one step",
        "Steps(..., key='k')",
        "whatever the number of its steps",
    ),
    (
        "Steps(Text(role='info'))",
        "role='info' in the kind of one step",
        "Steps(..., role='info')",
        "",
    ),
    (
        "Steps(Text(presence=True))",
        "presence=True in the kind of one step",
        "Steps(..., presence=True)",
        "",
    ),
    (
        "Steps(Image((None, None, 3), encoding='png'))",
        "shape=(None, None, 3) in each step without resize",
        "a fixed size, or resize=(height, width)",
        "to one size",
    ),
    (
        "Steps(Image((2, 2, 3), encoding='png', height_key='h'))",
        "further keys in each step: h",
        "one value in each step",
        "fields of their own",
    ),
    (
        "Steps(Vector((2,), dtype='complex64'))",
        "complex64 in each step",
        "real numbers",
        "a dimension of two",
    ),
    ("Steps(Text(), max_length=0)", "max_length=0", "a positive int or None", ""),
    ("Steps(Text(), too_long='cut')", "too_long='cut'", "one of error, keep_head", ""),
    (
        "Steps(Text(), too_long='keep_tail')",
        "too_long='keep_tail' without a limit",
        "max_length=n",
        "",
    ),
    ("Steps(Text(), padding_value=1)", "padding_value=1", "a str", ""),
    ("Steps(Label(num_classes=2), padding_value='')", "padding_value=''", "int64", ""),
    ("Steps(Text(), ragged='no')", "ragged='no'", "True or False", ""),
    ("Steps(Text(), group='')", "group=''", "a non-empty str", ""),
    ("Steps(Text(), key='')", "key=''", "a non-empty str", ""),
    # augmentation
    ("Image((8, 8, 3), augment=True)", "augment=True", "Augment(flip", ""),
    (
        "Image((8, 8, 3), augment=Augment)",
        "augment=Augment without parentheses",
        "Augment(flip_left_right=True) or None",
        "",
    ),
    (
        "Image((8, 8, 3), augment=Augment())",
        "augment=Augment(), which changes nothing",
        "one of flip_left_right, flip_up_down, crop, brightness, contrast",
        "",
    ),
    (
        "Image((8, 8, 3), augment=Augment(flip_left_right=1))",
        "flip_left_right=1",
        "True or False",
        "",
    ),
    (
        "Images((8, 8, 3), augment=Augment(flip_up_down='yes'))",
        "flip_up_down='yes'",
        "True or False",
        "",
    ),
    *(
        (f"Image((8, 8, 3), augment=Augment(crop={crop}))", f"crop={crop}", "a num", "")
        for crop in ("-1", "True", "2.0", "(8, 8)", "None")
    ),
    (
        "Image((32, 8, 3), augment=Augment(crop=8))",
        "crop=8 of pictures that are 8 pixels high or wide",
        "fewer pixels than that",
        "not the size of what is left",
    ),
    (
        "Image((1, 1, 3), augment=Augment(crop=1))",
        "crop=1 of pictures that are 1 pixels",
        "fewer pixels",
        "",
    ),
    (
        "Image((None, None, 3), encoding='png', resize=(9, 7), augment=Augment(crop=7))",
        "crop=7 of pictures that are 7 pixels",
        "fewer pixels",
        "",
    ),
    (
        "Images((None, 5, 3), resize=(6, 6), augment=Augment(crop=6))",
        "crop=6 of pictures that are 6 pixels",
        "fewer pixels",
        "",
    ),
    (
        "Mask((4, 4), augment=Augment(crop=4))",
        "crop=4 of pictures that are 4 pixels",
        "fewer pixels",
        "",
    ),
    *(
        (
            f"Image((8, 8, 3), augment=Augment(brightness={share}))",
            f"brightness={share}",
            "a share from 0 to 1",
            "",
        )
        for share in ("1.5", "-0.1", "True", "'0.1'", "(0.1, 0.2)")
    ),
    (
        "Image((8, 8, 3), augment=Augment(brightness=float('nan')))",
        "brightness=nan",
        "a share",
        "",
    ),
    (
        "Images((8, 8, 3), augment=Augment(contrast=2))",
        "contrast=2",
        "a share from 0 to 1",
        "",
    ),
    *(
        (
            f"Image((8, 8, 3), dtype='{dtype}', augment=Augment({colour}=0.1))",
            f"brightness or contrast of {dtype} pixels",
            "flips and crop",
            f"float32, which does not hold every {dtype}",
        )
        for dtype in ("int32", "uint32", "int64", "uint64", "float64")
        for colour in ("brightness", "contrast")
    ),
    *(
        (
            "Image((8, 8, 3), dtype='uint16', "
            f"augment=Augment(contrast=0.1, value_range={given}))",
            f"value_range={given}",
            "(black, white), two numbers with black below white",
            "",
        )
        for given in ("4095", "(0,)", "(5, 5)", "(9, 0)", "(False, True)")
    ),
    (
        "Image((8, 8, 3), augment=Augment(contrast=0.1, value_range=(0, 1e999)))",
        "value_range=(0, inf)",
        "(black, white), two numbers",
        "",
    ),
    (
        "Image((8, 8, 3), augment=Augment(contrast=0.1, value_range=(0, 256)))",
        "value_range=(0, 256)",
        "values that uint8 holds, 0 to 255",
        "",
    ),
    (
        "Image((8, 8, 3), augment=Augment(crop=1, value_range=(0, 99)))",
        "value_range=(0, 99) without brightness and contrast",
        "one of them",
        "",
    ),
    *(
        (
            f"Mask((8, 8), augment=Augment(crop=1, {colour}))",
            colour,
            "flips and crop",
            "class ids have no colour",
        )
        for colour in ("brightness=0.1", "contrast=0.1")
    ),
    (
        "Steps(Image((8, 8, 3), augment=Augment(crop=1)))",
        "augment= in the kind of one step",
        "none",
        "give make_dataset a function",
    ),
    # key and role
    ("Text(key='')", "key=''", "a non-empty str", ""),
    ("Text(key={})", "key={}", "a non-empty str", ""),
    ("Text(key=b'note')", "key=b'note'", "a non-empty str", ""),
    (r"Text(key='\udfff')", r"key='\udfff'", "text that UTF-8 can hold", ""),
    ("Text(role='inputs')", "role='inputs'", "one of input, target", "'input'?"),
    ("Text(presence=1)", "presence=1", "True or False", ""),
    ("Text(role=1)", "role=1", "one of input, target, weight, info", ""),
]


@pytest.mark.quick_cases(47)
@pytest.mark.parametrize(("kind", "found", "expected", "advice"), PARAMETERS)
def test_a_wrong_parameter_is_named_at_its_field(
    tmp_path: Path, kind: str, found: str, expected: str, advice: str
) -> None:
    """Each parameter of each kind is checked, whatever it was given."""
    [finding] = of_field(tmp_path, f"x: Annotated[Any, {kind}]")
    name = kind.split("(")[0]
    assert finding["rule"] == "SG113"
    assert finding["message"].startswith(f"Pet.x: {name} cannot have {found}")
    assert finding["found"].startswith(found)
    assert finding["expected"].startswith(expected)
    assert finding["expected"]
    assert advice in finding["advice"]


def test_every_parameter_of_every_kind_is_in_the_table() -> None:
    """A parameter that is added to a kind needs a row above."""
    from dataclasses import fields

    import schemagen
    from schemagen.kinds.kind import Kind

    shared = {field.name for field in fields(Kind)}
    given = " ".join(f"{kind} {found}" for kind, found, *_ in PARAMETERS)
    kinds = [getattr(schemagen, name) for name in schemagen.__all__]
    kinds = [k for k in kinds if isinstance(k, type) and issubclass(k, Kind)]
    for kind in kinds:
        of_kind = [row for row in PARAMETERS if row[0].startswith(f"{kind.__name__}(")]
        rows = " ".join(f"{row[0]} {row[1]}" for row in of_kind)
        for field in fields(kind):
            said = given if field.name in shared else rows
            assert field.name in said, (kind.__name__, field.name)


def test_an_unknown_parameter_is_named_at_its_line(tmp_path: Path) -> None:
    """With those that the kind has, and the one that was probably meant."""
    kind = "VarLen('int64', max_lenght=3)"
    text = f"{HEAD}class Pet(Record):\n    x: Annotated[Any, {kind}]\n"
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG101"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE}:23"
    assert finding["message"].endswith("VarLen has no parameter 'max_lenght'")
    assert finding["expected"].startswith("parameters out of dtype, max_length, ")
    assert finding["advice"] == "did you mean 'max_length'?"


# declaration, found
UNSUPPORTED = [
    ("x: dict[str, int]", "dict[str, int]"),
    ("x: np.ndarray", "ndarray"),
    ("x: Any", "Any"),
    ("x: set[int]", "set[int]"),
    ("x: complex", "complex"),
    ("x: list", "list"),
    ("x: list[list[complex]]", "list[list[complex]]"),
    ("x: int | str", "int | str"),
    ("x: tuple[int, int]", "tuple[int, int]"),
    ("x: object | None = None", "object"),
    ("x: None = None", "None"),
]


@pytest.mark.parametrize(("declaration", "found"), UNSUPPORTED)
def test_a_type_without_a_kind_is_refused(
    tmp_path: Path, declaration: str, found: str
) -> None:
    """A type that does not say how it is stored is told what to write instead."""
    [finding] = of_field(tmp_path, declaration)
    assert finding["rule"] == "SG111"
    assert finding["found"] == found
    assert "Annotated[type, kind]" in finding["expected"]
    assert "Annotated[np.ndarray, Vector(shape=(5,))]" in finding["advice"]


# declaration, found, expected
MISFITS = [
    ("x: Annotated[str, Scalar('int64')]", "str", "int, float, bool or bytes"),
    ("x: Annotated[int, Scalar('bool')]", "int", "int, float, bool or bytes"),
    ("x: Annotated[float, Scalar('int64')]", "float", "int, float, bool or bytes"),
    ("x: Annotated[str, Scalar('bytes')]", "str", "int, float, bool or bytes"),
    ("x: Annotated[bytes, Text()]", "bytes", "str"),
    ("x: Annotated[float, Label(num_classes=2)]", "float", "int, str, a Literal"),
    (
        "x: Annotated[Literal[1, 2], Label(num_classes=2)]",
        "Literal[1, 2]",
        "int, str, a Literal of names",
    ),
    (
        "x: Annotated[int, MultiLabel(num_classes=2)]",
        "int",
        "a list of int or str, or np.ndarray",
    ),
    (
        "x: Annotated[list[float], MultiLabel(num_classes=2)]",
        "list[float]",
        "a list of int or str, or np.ndarray",
    ),
    (
        "x: Annotated[list[int], Sparse((2,), 'ix')]",
        "list[int]",
        "tuple of indices and values, or dict",
    ),
    ("x: Annotated[int, VarLen('int64')]", "int", "a list or np.ndarray"),
    ("x: Annotated[list[str], VarLen('int64')]", "list[str]", "a list or np.ndarray"),
    ("x: Annotated[list[int], VarLen('string')]", "list[int]", "a list or np.ndarray"),
    ("x: Annotated[list[int], Ragged('int64')]", "list[int]", "a list of lists"),
    (
        "x: Annotated[list[list[str]], Ragged('int64')]",
        "list[list[str]]",
        "a list of lists",
    ),
    ("x: Annotated[int, Vector(shape=(2,))]", "int", "np.ndarray or a list"),
    (
        "x: Annotated[list[float], Vector(shape=(2,), dtype='int8')]",
        "list[float]",
        "np.ndarray or a list",
    ),
    ("x: Annotated[bytes, Image(shape=(2, 2, 3))]", "bytes", "np.ndarray, or bytes"),
    (
        "x: Annotated[str, Image(shape=(2, 2, 3), encoding='png')]",
        "str",
        "np.ndarray, or bytes",
    ),
]


@pytest.mark.parametrize(("declaration", "found", "expected"), MISFITS)
def test_an_annotation_has_to_fit_its_kind(
    tmp_path: Path, declaration: str, found: str, expected: str
) -> None:
    """Type checkers believe the annotation, so it has to say what the kind holds."""
    [finding] = of_field(tmp_path, declaration)
    assert finding["rule"] == "SG112"
    assert finding["found"] == found
    assert finding["expected"].startswith(expected)
    assert finding["message"].startswith(f"Pet.x: declared as {found}")


# declaration, found
FOREIGN = [
    ("x: Annotated[int, Field(ge=0)]", "Ge(ge=0)"),
    ("x: int = Field(ge=0)", "Ge(ge=0)"),
    ("x: Annotated[int, Scalar('int64'), Field(le=9)]", "Le(le=9)"),
    ("x: Annotated[str, Field(max_length=3)]", "MaxLen(max_length=3)"),
    ("x: int = Field(alias='y')", "alias='y'"),
    ("x: int = Field(serialization_alias='y')", "serialization_alias='y'"),
    ("x: int = Field(validation_alias='y')", "validation_alias='y'"),
    ("x: Annotated[int, 'a remark']", "'a remark'"),
    ("x: Annotated[str, Text(), Text(key='b')]", "Text(key='b'"),
    ("x: Annotated[str, Text]", "Text without parentheses"),
]


@pytest.mark.parametrize(("declaration", "found"), FOREIGN)
def test_metadata_that_would_be_dropped_is_refused(
    tmp_path: Path, declaration: str, found: str
) -> None:
    """What the generated writer could not enforce is not silently ignored."""
    findings = of_field(tmp_path, declaration)
    assert {finding["rule"] for finding in findings} == {"SG117"}
    assert any(finding["found"].startswith(found) for finding in findings)
    assert all("key=" in finding["advice"] for finding in findings)


@pytest.mark.parametrize(
    ("lines", "at", "found"),
    [
        ("    x: int\n    _y: str\n", 6, "a private name"),
        ("    x: float\n    y: int\n    x: int\n", 5, "another 'x' further down"),
    ],
)
def test_fields_that_python_would_lose_are_found(
    tmp_path: Path, lines: str, at: int, found: str
) -> None:
    """A private field, or the first of two of one name, does not vanish in silence."""
    head = "from typing import ClassVar\nfrom schemagen import Record\n\nclass R(Record):\n"
    body = lines + "    _shared: ClassVar[int] = 3\n"
    root = make_project(tmp_path, {"r.py": head + body})
    (finding,) = refusals(root)
    assert finding["rule"] == "SG119"
    assert place(finding) == f"schemas/r.py:{at}:5"
    assert finding["found"] == found


# declaration, found, expected
DEFAULTS = [
    ("x: int = 'one'", "str 'one'", "int64 numbers"),
    ("x: int = 2.5", "2.5: float64 values", "int64 values"),
    ("x: bool = 1", "1: int64 values", "bool values"),
    ("x: int = None", "None", "a type that allows None"),
    ("x: str = 5", "int 5", "a str"),
    ("x: Annotated[int, Scalar('int8')] = 300", "300", "int8"),
    ("x: Annotated[float, Scalar('float32')] = 1e39", "1e+39", "float32"),
    ("x: Annotated[float, Scalar('float16')] = 0.1", "0.1", "float16"),
    ("x: float = float('nan')", "nan", "finite"),
    ("x: Literal['a', 'b'] = 'c'", "'c'", "a"),
    ("x: Annotated[int, Label(num_classes=3)] = 3", "3", "0 to 2"),
    ("x: list[int] = [1]", "[1]", "[] or None"),
    (
        "x: Annotated[list[int], MultiLabel(num_classes=2)] = [1]",
        "[1]",
        "[] or None",
    ),
    ("x: Annotated[dict[int, float], Sparse((2,), 'ix')] = {}", "{}", "None"),
    ("x: Annotated[list[int], VarLen('int64')] = 3", "3", "[] or None"),
    ("x: list[str] = ''", "''", "[] or None"),
    ("x: list[list[int]] = [[]]", "[[]]", "[] or None"),
    (
        "x: Annotated[np.ndarray, Vector(shape=(2,))] = np.zeros(3, np.float32)",
        "[3]",
        "[2]",
    ),
    (
        "x: Annotated[np.ndarray, Image(shape=(1, 1, 1))] = np.zeros((1, 1, 1))",
        "array",
        "None",
    ),
    ("x: Annotated[bytes, Image(shape=(2, 2, 3), encoding='png')] = b''", "b''", ""),
]


@pytest.mark.parametrize(("declaration", "found", "expected"), DEFAULTS)
def test_a_default_has_to_be_a_value_of_the_field(
    tmp_path: Path, declaration: str, found: str, expected: str
) -> None:
    """Readers deliver the default, so it has to be one that a writer could write."""
    [finding] = of_field(tmp_path, declaration)
    assert finding["rule"] == "SG116"
    assert "cannot have this default" in finding["message"]
    assert found in finding["found"]
    assert expected in finding["expected"]


def test_none_without_a_default_is_refused(tmp_path: Path) -> None:
    """A type that allows None, with no default, says two things at once."""
    [finding] = of_field(tmp_path, "x: int | None")
    assert finding["rule"] == "SG116"
    assert "add `= None`" in finding["advice"]


# declaration, expected
ROLES = [
    (
        "x: Annotated[str, Text(role='target')]",
        "a Label, Mask, MultiLabel, Scalar or Vector",
    ),
    ("x: Annotated[list[int], VarLen('int64', role='target')]", "a Label, Mask, Mul"),
    ("x: Annotated[Any, Image(shape=(2, 2, 3), role='target')]", "a Label, Mask, Mul"),
    ("x: Annotated[int, Scalar('int64', role='weight')]", "a Scalar of dtype float"),
    ("x: Annotated[str, Text(role='weight')]", "a Scalar of dtype float32"),
    ("x: Annotated[bytes, Scalar('bytes', role='input')]", "role='info' for opaque"),
    (
        "x: Annotated[float | None, Scalar('float32', role='target')] = None",
        "a default that is a number",
    ),
    (
        "x: Annotated[float | None, Scalar('float32', role='weight')] = None",
        "a default that is a number",
    ),
]


@pytest.mark.parametrize(("declaration", "expected"), ROLES)
def test_a_role_has_to_be_one_that_the_kind_can_play(
    tmp_path: Path, declaration: str, expected: str
) -> None:
    """A field that the model could not use as asked is refused, not ignored."""
    [finding] = of_field(tmp_path, declaration)
    assert finding["rule"] == "SG118"
    assert finding["expected"].startswith(expected)
    assert "'info' is carried along" in finding["advice"]


def test_a_record_has_one_weight(tmp_path: Path) -> None:
    """Keras takes one weight a sample; the second field is the finding's place."""
    text = HEAD + textwrap.dedent("""\
        class Pet(Record):
            a: Annotated[float, Scalar("float32", role="weight")]
            b: Annotated[float, Scalar("float32", role="weight")]
        """)
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG118"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 1}:5"
    assert (finding["found"], finding["expected"]) == ("a, b", "one sample weight")


TAKEN = [
    "json",
    "copy",
    "dict",
    "schema",
    "validate",
    "construct",
    "self",
    "serialize",
    "columns_by_key",
    "check_lengths",
    "check_column_lengths",
    "encode_example",
    "encode_examples",
    "schemagen_fields",
    "model_dump",
    "model_fields",
]


@pytest.mark.parametrize("name", TAKEN)
def test_a_name_that_is_taken_is_refused(tmp_path: Path, name: str) -> None:
    """Names of pydantic's and of the generated writer's own are no field names."""
    [finding] = of_field(tmp_path, f"{name}: int")
    assert finding["rule"] == "SG115"
    assert f"{name!r} is taken" in finding["message"]
    assert f"key={name!r}" in finding["advice"]


def test_the_name_of_a_mask_is_refused(tmp_path: Path) -> None:
    """`note_present` is what readers call the mask of an optional `note`."""
    text = HEAD + "class Pet(Record):\n    note: str | None = None\n"
    text += "    note_present: bool\n"
    [finding] = refusals(make_project(tmp_path / "p", {"pets.py": text}))
    assert finding["rule"] == "SG115"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 1}:5"


def test_a_field_that_needs_no_mask_leaves_its_name_free(tmp_path: Path) -> None:
    """A required `note` has no mask, and `note_present` is a name like others."""
    text = HEAD + "class Pet(Record):\n    note: str\n    note_present: bool\n"
    project = make_project(tmp_path, {"pets.py": text})
    assert run("generate", "--project", project).exit_code == 0


def test_what_pydantic_refuses_is_placed_at_its_line(tmp_path: Path) -> None:
    """Errors of a whole class are brought to the statement that they name."""
    for statement, message in (
        ("model_config: int", "`model_config` cannot be used as a model field name"),
        ("age = 5", "A non-annotated attribute was detected: `age = 5`"),
        ("age: 'Unknown'", "name 'Unknown' is not defined"),
    ):
        text = f"{HEAD}class Pet(Record):\n    x: int\n    {statement}\n"
        [finding] = refusals(make_project(tmp_path / statement[:5], {"pets.py": text}))
        assert finding["rule"] == "SG101"
        assert message in finding["message"]
        assert "\n" not in finding["message"]
        assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 1}:5"


def test_a_record_without_fields_is_refused(tmp_path: Path) -> None:
    """There would be nothing to write; a base class begins with an underscore."""
    text = HEAD + "class Pet(Record):\n    pass\n"
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG106"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE - 1}:1"
    assert "begin the name of a base class with '_'" in finding["advice"]


@pytest.mark.parametrize(
    "schemas",
    [
        {},
        {"empty.py": ""},
        {"base.py": f"{HEAD}class _Base(Record):\n    x: int\n"},
        {"_hidden.py": f"{HEAD}class Pet(Record):\n    x: int\n"},
    ],
    ids=["no file", "no class", "only a base", "only a private file"],
)
def test_a_project_without_records_is_refused(
    tmp_path: Path, schemas: dict[str, str]
) -> None:
    """No record at all is a mistake and deletes nothing."""
    [finding] = refusals(make_project(tmp_path, schemas))
    assert finding["rule"] == "SG103"
    assert finding["location"]["path"] == "schemas"
    assert "schemagen init" in finding["advice"]


_MODELS = """\
from pydantic import BaseModel


class Inner(BaseModel):
    point: Annotated[list[float], Vector((2,))]


class Settings(BaseModel):
    length: int = 3


class _Private(BaseModel):
    kind: Annotated[int, Label(num_classes=2)]


class Base(BaseModel):
    number: Annotated[int, Scalar("int64")]


class Outer(Base):
    inner: Inner


"""


def test_a_model_in_place_of_a_record_is_named(tmp_path: Path) -> None:
    """Where there is no record, each model may be meant; at the first one's line."""
    text = (
        HEAD + "from pydantic import BaseModel\n\n\nclass Pet(BaseModel):\n    x: int\n"
    )
    text += "\n\nclass Owner(BaseModel):\n    y: str\n"
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    line = text.splitlines().index("class Pet(BaseModel):") + 1
    assert finding["rule"] == "SG103"
    assert place(finding) == f"schemas/pets.py:{line}:1"
    assert finding["found"] == "'Pet' and 'Owner', derived from pydantic.BaseModel"
    assert finding["advice"] == "derive 'Pet' from schemagen.Record"


def test_a_model_with_kinds_beside_records_is_a_warning(tmp_path: Path) -> None:
    """Models that records nest, bases, private ones and settings are meant as they are."""
    text = HEAD + _MODELS
    bird = f"{HEAD}from pydantic import BaseModel\n\n\nclass Bird(BaseModel):\n"
    bird += "    wing: Annotated[float | None, Scalar('float32')]\n"
    pet = f"{text}class Pet(Record):\n    outer: Outer\n"
    root = make_project(tmp_path, {"pets.py": pet, "birds.py": bird})
    result = run("generate", "--project", root)
    assert result.exit_code == 0
    assert result.output.count("SG107") == 1
    line = bird.splitlines().index("class Bird(BaseModel):") + 1
    said = f"schemas/birds.py:{line}:1: SG107 warning: nothing is generated from 'Bird'"
    assert said in result.output
    assert run("check", "--project", root).exit_code == 0


def test_a_duplicate_key_is_found_beside_other_mistakes(tmp_path: Path) -> None:
    """A field that is wrong by itself still takes its key."""
    text = HEAD + textwrap.dedent("""\
        class Pet(Record):
            note: Annotated[str, Text(role="inptu")]
            remark: Annotated[str, Text(key="note")]
        """)
    found = refusals(make_project(tmp_path, {"pets.py": text}))
    assert [finding["rule"] for finding in found] == ["SG113", "SG114"]


def test_a_duplicate_wire_key_is_found_at_the_second_field(tmp_path: Path) -> None:
    """Two fields under one key would overwrite each other."""
    text = HEAD + textwrap.dedent("""\
        class Pet(Record):
            note: str
            remark: Annotated[str, Text(key="note")]
        """)
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG114"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 1}:5"
    assert finding["message"].startswith("Pet.remark: the wire key 'note' is that of")
    assert finding["found"] == "'note'"


CLASS = "class {}(Record):\n    x: int\n\n\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [("PetPhoto", "PetPhoto"), ("Pet_Photo", "PetPhoto"), ("PETS", "Pets")],
)
def test_two_records_with_one_package_in_two_files(
    tmp_path: Path, first: str, second: str
) -> None:
    """Names that become the same package are found, with the place of the other."""
    schemas = {"a.py": HEAD + CLASS.format(first), "b.py": HEAD + CLASS.format(second)}
    [finding] = refusals(make_project(tmp_path, schemas))
    assert finding["rule"] == "SG104"
    assert place(finding) == f"schemas/b.py:{FIELD_LINE - 1}:1"
    assert f"{first} at schemas/a.py:{FIELD_LINE - 1}:1" in finding["found"]
    assert "rename one" in finding["advice"]


def test_two_records_with_one_package_in_one_file(tmp_path: Path) -> None:
    """PetPhoto and Pet_Photo would both be generated as pet_photo."""
    text = HEAD + CLASS.format("PetPhoto") + CLASS.format("Pet_Photo")
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG104"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 3}:1"


def test_a_class_that_a_later_one_replaces_is_found(tmp_path: Path) -> None:
    """Python keeps the second of two classes of one name; the first is not lost."""
    text = HEAD + CLASS.format("Pet") + CLASS.format("Pet").replace("x", "y")
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG104"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 3}:1"
    assert f"schemas/pets.py:{FIELD_LINE - 1}:1" in finding["found"]


@pytest.mark.parametrize("name", ["Class", "Import", "Größe", "猫"])
def test_a_record_name_has_to_be_a_package_name(tmp_path: Path, name: str) -> None:
    """Keywords and letters that not every file system keeps are refused."""
    project = make_project(tmp_path, {"pets.py": HEAD + CLASS.format(name)})
    [finding] = refusals(project)
    assert finding["rule"] == "SG105"
    assert finding["found"] == repr(name.lower())
    assert finding["advice"] == "rename the class"


def test_inherited_fields_are_placed_where_they_are_declared(tmp_path: Path) -> None:
    """A mistake in a shared base class in another file is a finding in that file."""
    base = HEAD + "class _Base(Record):\n    x: dict[str, int]\n"
    cat = "from ._base import _Base\n\nclass Cat(_Base):\n    y: set[int]\n"
    found = refusals(make_project(tmp_path, {"_base.py": base, "cats.py": cat}))
    assert [(place(f), f["found"]) for f in found] == [
        (f"schemas/_base.py:{FIELD_LINE}:5", "dict[str, int]"),
        ("schemas/cats.py:4:5", "set[int]"),
    ]


def test_all_mistakes_of_all_files_are_reported_in_one_run(tmp_path: Path) -> None:
    """Ten mistakes in three files and a broken fourth: one run names them all."""
    one = """\
class One(Record):
    a: dict[str, int]
    b: Annotated[int, Scalar('int65')]
    c: Annotated[str, Scalar('int64')]
    d: int = "none"
"""
    two = """\
class Two(Record):
    a: str
    b: Annotated[str, Text(key="a")]
    json: int
    c: Annotated[int, Field(ge=0)]


class Class(Record):
    x: int
"""
    three = """\
class Three(Record):
    a: Annotated[str, Text(role="target")]


class One(Record):
    a: Annotated[Any, VarLen("int8", max_length=0, ragged=3, role="?")]
"""
    schemas = {"1.py": HEAD + one, "2.py": HEAD + two, "3.py": HEAD + three}
    schemas["4.py"] = "class (:"
    found = refusals(make_project(tmp_path, schemas))
    line = FIELD_LINE
    assert [(place(finding), finding["rule"]) for finding in found] == [
        (f"schemas/1.py:{line}:5", "SG111"),
        (f"schemas/1.py:{line + 1}:5", "SG113"),
        (f"schemas/1.py:{line + 2}:5", "SG112"),
        (f"schemas/1.py:{line + 3}:5", "SG116"),
        (f"schemas/2.py:{line + 1}:5", "SG114"),
        (f"schemas/2.py:{line + 2}:5", "SG115"),
        (f"schemas/2.py:{line + 3}:5", "SG117"),
        (f"schemas/2.py:{line + 6}:1", "SG105"),
        (f"schemas/3.py:{line}:5", "SG118"),
        (f"schemas/3.py:{line + 3}:1", "SG104"),
        *[(f"schemas/3.py:{line + 4}:5", "SG113")] * 3,
        ("schemas/4.py:1:7", "SG101"),
    ]


@pytest.mark.parametrize(
    ("declaration", "advice"),
    [
        ('x: Annotated[list[int], VarLen("int")]', "did you mean 'int64'?"),
        ("x: Annotated[np.ndarray, Vector(5)]", "a comma: (5,)"),
        ('x: list[Literal["a", "b"]]', "MultiLabel"),
    ],
)
def test_the_advice_is_what_the_author_meant(
    tmp_path: Path, declaration: str, advice: str
) -> None:
    """Not the nearest word, nor the same example for every type."""
    (finding,) = of_field(tmp_path, declaration)
    assert advice in finding["advice"]
