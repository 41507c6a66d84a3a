"""`schemagen check` on this repository, after every small change of its schemas."""

from __future__ import annotations

import ast
import dataclasses
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import schemagen
from command_line import run

ROOT = Path(__file__).resolve().parents[2]

# For each field of schemas/ with a kind, another value for all that its kind can be
# told. Key, role and classes are not listed: what to change them to is the same
# everywhere. What a kind cannot be told in this place is in CANNOT_CHANGE.
OTHER_VALUES: dict[tuple[str, str], dict[str, str]] = {
    ("digit", "image"): {
        "shape": "(8, 4, 1)",
        "encoding": "'png'",
        "dtype": "'uint16'",
        "resize": "(4, 4)",
        "height_key": "'height'",
        "width_key": "'width'",
        "channels_key": "'channels'",
        "format_key": "'format'",
        "transfer_encoding": "'base64'",
        "augment": "__import__('schemagen').Augment(crop=1)",
    },
    ("digit", "ink_runs"): {
        "dtype": "'int32'",
        "max_length": "33",
        "item_shape": "(2,)",
        "padding_value": "-1",
        "ragged": "True",
        "exact": "True",
        "finite": "False",
        "too_long": "'keep_tail'",
        "pad_on_disk": "True",
        "encoding": "'raw'",
        "min": "0",
        "max": "40",
    },
    ("digit", "moments"): {
        "shape": "(2, 4)",
        "dtype": "'float64'",
        "encoding": "'raw'",
        "exact": "True",
        "finite": "False",
        "min": "-1e9",
        "max": "1e9",
    },
    ("digit", "digit"): {"offset": "1", "stored": "'text'"},
    ("digit", "scan"): {
        "dtype": "'int16'",
        "exact": "True",
        "finite": "False",
        "min": "0",
        "max": "99",
        "unit": "'s'",
    },
    ("penguin", "species"): {"offset": "1", "stored": "'text'"},
    ("penguin", "island"): {"offset": "1", "stored": "'text'"},
    ("penguin", "individual"): {},
    ("penguin", "sex"): {"offset": "1", "stored": "'text'"},
    ("penguin", "comment_words"): {
        "max_length": "None",
        "too_long": "'keep_head'",
        "pad_on_disk": "True",
        "padding_value": "'-'",
        "ragged": "True",
        "exact": "True",
        "finite": "False",
    },
    ("photo", "crop"): {
        "shape": "(None, None, 1)",
        "encoding": "'png'",
        "resize": "(48, 40)",
        "interpolation": "'nearest'",
        "antialias": "True",
        "scaled_decoding": "True",
        "orientation": "'apply'",
        "dtype": "'float32'",
        "height_key": "'height'",
        "width_key": "'width'",
        "channels_key": "'channels'",
        "format_key": "'format'",
        "transfer_encoding": "'base64'",
        "augment": "None",
    },
    ("photo", "photograph"): {"offset": "1", "stored": "'text'"},
    ("photo", "box"): {
        "shape": "(2, 2)",
        "dtype": "'int64'",
        "encoding": "'raw'",
        "exact": "True",
        "finite": "False",
        "dequantize": "(0.5, 1.0)",
        "box": "('ymin', 'xmin', 'ymax', 'xmax')",
        "min": "-1",
        "max": "2",
    },
}

CANNOT_CHANGE = {
    # How to resize is said next to a size, and a format's text next to its key.
    ("digit", "image"): {
        "interpolation",
        "antialias",
        "scaled_decoding",
        "orientation",
        "format_text",
    },
    # A group has two fields, and only in it something can be filled in.
    ("digit", "ink_runs"): {"group", "box", "box_image"},
    # Floats are not quantized, and lists of numbers have no text.
    ("digit", "moments"): {"dequantize", "transfer_encoding", "box", "box_image"},
    ("digit", "scan"): {"transfer_encoding", "duration"},
    ("photo", "box"): {"transfer_encoding", "box_image"},
    ("digit", "digit"): {
        "num_classes",
        "renamed",
        "vocabulary",
    },  # the names say how many
    ("penguin", "species"): {"num_classes", "renamed", "vocabulary"},
    ("penguin", "island"): {"num_classes", "renamed", "vocabulary"},
    ("penguin", "sex"): {"num_classes", "renamed", "vocabulary"},
    # list[str] says the first two; see ink_runs for the others.
    ("penguin", "comment_words"): {
        *("dtype", "item_shape", "group"),
        *("box", "box_image", "encoding", "min", "max"),
    },
    ("photo", "crop"): {"format_text"},
    ("photo", "photograph"): {"num_classes", "renamed", "vocabulary"},
}

# Fields without a kind: another type.
OTHER_TYPES = {
    "float | None": "int | None",
    "str | None": "bytes | None",
    "bool": "int",
}

# A default for fields that have none, and another one for those that do. None is the
# only default that an image can have.
OTHER_DEFAULTS = {
    "image": "None",
    "ink_runs": "np.array([], np.int64)",
    "moments": "np.zeros(8, np.float32)",
    "digit": "0",
    "scan": "0",
    "species": "'Gentoo'",
    "island": "'Dream'",
    "individual": "'N0A0'",
    "sex": "'male'",
    "full_clutch": "True",
    "comment": "'no comment'",
    "comment_words": "[]",
    "crop": "None",
    "photograph": "0",
    "box": "np.zeros(4, np.int32)",
}


@dataclass
class FieldNode:
    """A field of a schema file as syntax, to be changed in place.

    Attributes:
        node: the annotated name.
        doc: its docstring.
    """

    node: ast.AnnAssign
    doc: ast.Constant

    @property
    def name(self) -> str:
        """The field's name."""
        assert isinstance(self.node.target, ast.Name)
        return self.node.target.id

    @property
    def kind(self) -> ast.Call | None:
        """The call that makes its kind, if it has one."""
        calls = [n for n in ast.walk(self.node.annotation) if isinstance(n, ast.Call)]
        return calls[0] if calls else None

    @property
    def classes(self) -> ast.Tuple | None:
        """The names of its classes, in a Literal or in the kind."""
        for found in ast.walk(self.node.annotation):
            if (
                isinstance(found, ast.Subscript)
                and ast.unparse(found.value) == "Literal"
            ):
                assert isinstance(found.slice, ast.Tuple)
                return found.slice
            if isinstance(found, ast.keyword) and found.arg == "classes":
                assert isinstance(found.value, ast.Tuple)
                return found.value
        return None

    def set_parameter(self, parameter: str, value: str) -> None:
        """Give the kind a parameter, in place of the one that it has."""
        assert self.kind is not None
        others = [k for k in self.kind.keywords if k.arg != parameter]
        self.kind.keywords = [*others, ast.keyword(parameter, expression(value))]

    def parameter(self, parameter: str) -> str | None:
        """Return what the kind is told, as source text."""
        keywords = self.kind.keywords if self.kind else []
        found = [k.value for k in keywords if k.arg == parameter]
        return ast.unparse(found[0]) if found else None


def expression(text: str) -> ast.expr:
    """Parse an expression."""
    return ast.parse(text, mode="eval").body


def parse(record: str) -> tuple[ast.Module, list[FieldNode]]:
    """Parse a schema file of this repository and find its fields."""
    path = ROOT / "schemas" / f"{record}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    fields = [
        FieldNode(node, doc.value)
        for node, doc in zip(cls.body, cls.body[1:], strict=False)
        if isinstance(node, ast.AnnAssign)
        and isinstance(doc, ast.Expr)
        and isinstance(doc.value, ast.Constant)
    ]
    assert len(fields) == sum(isinstance(node, ast.AnnAssign) for node in cls.body)
    return tree, fields


RECORDS = tuple(sorted(path.stem for path in (ROOT / "schemas").glob("*.py")))


@dataclass(frozen=True)
class Change:
    """One thing to change in one field.

    Attributes:
        record: the schema file's name without .py.
        place: which of its fields.
        what: what is changed, for people.
        make: makes the change.
    """

    record: str
    place: int
    what: str
    make: Callable[[FieldNode], None]

    def text(self) -> str:
        """Return the schema file with the change."""
        tree, fields = parse(self.record)
        self.make(fields[self.place])
        return ast.unparse(ast.fix_missing_locations(tree))


class _WithoutNone(ast.NodeTransformer):
    """Takes `| None` out of a type."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return node.left if ast.unparse(node.right) == "None" else node


def all_changes() -> Iterator[Change]:
    """Yield every change of one attribute of one field in schemas/."""
    for record in RECORDS:
        for place, field in enumerate(parse(record)[1]):
            for what, make in changes_of(record, field):
                yield Change(record, place, f"{record}.{field.name}.{what}", make)


def changes_of(
    record: str, field: FieldNode
) -> Iterator[tuple[str, Callable[[FieldNode], None]]]:
    """Yield what can be changed of a field and how."""

    def rename(found: FieldNode) -> None:
        assert isinstance(found.node.target, ast.Name)
        found.node.target.id += "_anew"

    def document(found: FieldNode) -> None:
        found.doc.value = f"{found.doc.value} Or so."

    def retype(found: FieldNode) -> None:
        written = ast.unparse(found.node.annotation)
        found.node.annotation = expression(OTHER_TYPES[written])

    def default(found: FieldNode) -> None:
        measured = ast.unparse(found.node.annotation) == "float | None"
        text = "0.0" if measured else OTHER_DEFAULTS[found.name]
        found.node.value = expression(text)
        if text == "None":
            written = ast.unparse(found.node.annotation)
            found.node.annotation = expression(f"{written} | None")

    def require(found: FieldNode) -> None:
        found.node.annotation = _WithoutNone().visit(found.node.annotation)
        found.node.value = None

    def reorder(found: FieldNode) -> None:
        assert found.classes is not None
        found.classes.elts.reverse()

    yield "name", rename
    yield "doc", document
    yield "default", default
    if field.node.value is not None:
        yield "required", require
    if field.kind is None:
        yield "type", retype
        return
    if field.classes is not None:
        yield "classes", reorder
    role = "'input'" if field.parameter("role") == "'info'" else "'info'"
    values = {"key": f"'other/{field.name}'", "role": role}
    if field.node.value is not None:
        values["presence"] = "True"
    values |= OTHER_VALUES[record, field.name]
    for parameter, value in values.items():
        yield (
            parameter,
            lambda found, p=parameter, v=value: found.set_parameter(p, v),  # type: ignore[misc]
        )


CHANGES = list(all_changes())


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with this repository's schemas and their code."""
    root = tmp_path_factory.mktemp("repository")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "schemas", root / "schemas", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", root)
    schemagen.generate(root)
    return root


@pytest.fixture
def repository(generated: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(generated, tmp_path / "repository"))


def test_the_generated_code_of_this_repository_is_up_to_date() -> None:
    """`schemagen check` finds nothing here."""
    assert schemagen.check(ROOT).findings == ()


def test_a_schema_in_other_words_is_the_same_schema(repository: Path) -> None:
    """Comments and layout of schema files do not count, so that changes below do."""
    for record in RECORDS:
        text = ast.unparse(parse(record)[0])
        (repository / "schemas" / f"{record}.py").write_text(text, encoding="utf-8")
    assert schemagen.check(repository).findings == ()


@pytest.mark.parametrize("record", RECORDS)
def test_all_that_a_kind_can_be_told_is_changed_below(record: str) -> None:
    """No parameter of a kind in schemas/ is forgotten here, now or later."""
    for field in parse(record)[1]:
        if field.kind is not None:
            kind = getattr(schemagen, ast.unparse(field.kind.func))
            parameters = {parameter.name for parameter in dataclasses.fields(kind)}
            tried = {
                what.rpartition(".")[2]
                for what in (c.what for c in CHANGES)
                if what.startswith(f"{record}.{field.name}.")
            }
            skipped = CANNOT_CHANGE.get((record, field.name), set())
            if field.node.value is None:  # what is always there needs no mask
                skipped = skipped | {"presence"}
            assert parameters - tried == skipped


@pytest.mark.quick_cases(18)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_any_change_of_a_field_makes_check_name_schema_and_code(
    repository: Path, change: Change
) -> None:
    """Exit code 1, with findings about this record's files and no other's."""
    path = repository / "schemas" / f"{change.record}.py"
    path.write_text(change.text(), encoding="utf-8")
    result = run("check", "--project", repository)
    assert result.exit_code == 1, result.output
    places = [line for line in result.output.splitlines() if line[:1].strip()]
    assert places
    for line in places:
        assert line.startswith(f"generated/{change.record}/")
        assert f"schemas/{change.record}.py changed" in line
