"""Names that schemagen does not have: what programs and schema files are told."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import schemagen
from command_line import make_project, place, refusals
from schemagen.unknown_names import UnknownAttributeError, UnknownNameError, advice

NEAR = [
    ("Imge", "did you mean 'Image'?"),
    ("label", "did you mean 'Label'?"),
    ("Multi_Label", "did you mean 'MultiLabel'?"),
    ("VARLEN", "did you mean 'VarLen'?"),
    ("genrate", "did you mean 'generate'?"),
]
OTHERS = [
    ("FixedLenFeature", "use Scalar for one value, and Vector or Tensor for more"),
    ("VarLenFeature", "use VarLen"),
    ("ClassLabel", "use Label"),
    ("Sequence", "use VarLen for values, or a SequenceRecord with Steps"),
    ("Float", "annotate the field with float, or use Scalar"),
    ("Int", "annotate the field with int, or use Scalar"),
    ("String", "annotate the field with str, or use Text"),
    ("Bbox", "use Vector(shape=(4,)), or Ragged for several boxes"),
    ("BBoxFeature", "use Vector(shape=(4,)), or Ragged for several boxes"),
]


@pytest.mark.parametrize(("name", "hint"), [*NEAR, *OTHERS])
def test_an_import_says_what_to_use(name: str, hint: str) -> None:
    """The nearest name, or the counterpart of a name of another library."""
    with pytest.raises(ImportError) as caught:
        exec(f"from schemagen import {name}")
    assert isinstance(caught.value, UnknownNameError)
    assert str(caught.value) == f"schemagen has no {name!r}; {hint}"


@pytest.mark.parametrize(("name", "hint"), [*NEAR, *OTHERS])
def test_an_attribute_says_what_to_use(name: str, hint: str) -> None:
    """As an AttributeError, so that hasattr and getattr work as usual."""
    with pytest.raises(UnknownAttributeError) as caught:
        getattr(schemagen, name)
    assert str(caught.value) == f"schemagen has no {name!r}; {hint}"
    assert not hasattr(schemagen, name)
    assert getattr(schemagen, name, None) is None


def test_a_name_like_no_other_has_no_hint() -> None:
    """A wrong guess would mislead."""
    assert advice("Zygote", schemagen.__all__) == ""
    with pytest.raises(ImportError, match=r"^schemagen has no 'Zygote'$"):
        exec("from schemagen import Zygote")


def test_every_name_in_a_hint_exists() -> None:
    """A hint names kinds and base classes that schemagen has, and Python's types."""
    from schemagen.unknown_names import _INSTEAD

    python = {"BaseModel", "SequenceRecord"}
    for hint in _INSTEAD.values():
        words = [word.strip("(),.=0123456789") for word in hint.split()]
        named = {word.split("(")[0] for word in words if word[:1].isupper()}
        assert named <= {*schemagen.__all__, *python}, hint
    assert not {name.lower() for name in schemagen.__all__} & {*_INSTEAD}


def test_modules_are_imported_as_before() -> None:
    """`from schemagen import testing` asks the package for the name first."""
    program = "from schemagen import testing, config, Image; print(testing.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "schemagen.testing\n"
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("schemagen.testng")


def test_python_adds_no_second_suggestion() -> None:
    """Later versions of Python make suggestions of their own."""
    for program in ("from schemagen import Imge", "import schemagen; schemagen.Imge"):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        assert done.stderr.lower().count("did you mean") == 1


@pytest.mark.parametrize(
    ("text", "where", "advice"),
    [
        (
            "from schemagen import Imge, Record\n",
            "schemas/x.py:1:23",
            "did you mean 'Image'?",
        ),
        (
            "from schemagen import (\n    Record,\n    VarLenFeature,\n)\n",
            "schemas/x.py:3:5",
            "use VarLen",
        ),
        (
            "import schemagen\n\n\nclass Pet(schemagen.Record):\n"
            "    age: schemagen.Float\n",
            "schemas/x.py:5:20",
            "annotate the field with float, or use Scalar",
        ),
        ("from schemagen import Zygote\n", "schemas/x.py:1:23", "use one of these"),
    ],
)
def test_a_schema_file_gets_a_finding(
    tmp_path: Path, text: str, where: str, advice: str
) -> None:
    """At the name, with the names that there are."""
    root = make_project(tmp_path, {"x.py": text})
    [finding] = refusals(root)
    assert finding["rule"] == "SG101"
    assert place(finding) == where
    assert "schemagen has no " in finding["message"]
    assert "Image, Images, Label" in finding["expected"]
    assert finding["advice"] == advice
