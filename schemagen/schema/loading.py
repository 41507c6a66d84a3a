"""Importing schema files, with every failure as a finding at its place."""

from __future__ import annotations

import importlib
import linecache
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, fields
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal, NoReturn

from pydantic import BaseModel

from ..findings import Finding, Location
from ..progress import track
from ..runtime.kinds.kind import Kind
from ..runtime.kinds.parameters import Parameters
from ..runtime.shared.errors import Problem, did_you_mean
from . import NAMES
from .declaration import Declaration, Nested, unwrapped
from .nesting import declaring_class, file_of, is_model
from .parameters import below
from .record import Record
from .source_map import SourceMap


@contextmanager
def literals_in_order() -> Iterator[None]:
    """Make Literals equal only if their values are in the same order.

    To typing, Literal["a", "b"] equals Literal["b", "a"], and what it makes of one,
    such as `Literal["a", "b"] | None`, it hands out for the other from a cache. To us
    the order is that of the class ids, so that this would exchange classes.
    """
    alias: Any = type(Literal["a"])
    equal, hashed = alias.__eq__, alias.__hash__
    alias.__eq__ = lambda self, other: (
        _values(self) == _values(other) if isinstance(other, alias) else NotImplemented
    )
    alias.__hash__ = lambda self: hash(_values(self))
    try:
        yield
    finally:
        alias.__eq__, alias.__hash__ = equal, hashed


def _values(literal: Any) -> tuple[tuple[Any, type], ...]:
    return tuple((value, type(value)) for value in literal.__args__)


# What Python says about names, and of parameters, that do not exist.
_UNKNOWN = re.compile(r"(?:name|attribute|keyword argument) '(\w+)'")


class GeneratedImportError(Exception):
    """A schema tried to import what is generated from it.

    It is not an ImportError, so code which does without a module that is missing
    does not hide it.
    """


def load_failure(
    error: BaseException,
    schemas: Path,
    places: SourceMap,
    output: str,
    path: Path | None = None,
) -> Finding | None:
    """Return the finding for an error that the code of a schema has raised.

    Args:
        error: what was raised, when a file was imported or when a record was read: that
            calls such code too, as the `__repr__` of a default.
        schemas: the directory of schema files.
        places: shows paths.
        output: the directory of generated code, for messages.
        path: the file that was imported, if it was.

    Returns:
        None if the error was raised elsewhere.
    """
    unknown = Location(places.shown(path)) if path else None
    location = _place_of(error, schemas, places) or unknown
    if location is None:
        return None
    if isinstance(error, GeneratedImportError):
        return Finding(
            location,
            "SG102",
            "a schema imports generated code",
            found=str(error),
            expected=f"schemas that do not need {output}/",
            advice="move what they share into a separate module",
        )
    if isinstance(error, SystemExit):
        return Finding(
            location,
            "SG101",
            "the schema file ends the interpreter",
            found=_text_of(error).removesuffix(": None"),
            advice='remove the call, or put it below `if __name__ == "__main__":`',
        )
    text = _text_of(error)
    name = _UNKNOWN.search(text)
    return Finding(
        location,
        "SG101",
        f"the schema file does not load: {text}",
        advice=_advice(name[1] if name else "")
        or "correct the file; importing it with python shows the whole traceback",
    )


def _advice(unknown: str) -> str:
    """Return what to do about a name that does not exist; "" if that is not known."""
    if unknown in NAMES:
        return f"add `from schemagen import {unknown}`"
    parameters = {each.name for cls in below(Parameters) for each in fields(cls)}
    if unknown in parameters:
        return f"leave it out: other kinds have {unknown}, this one does not"
    return unknown and did_you_mean(unknown, {*NAMES, *parameters})


def _text_of(error: BaseException) -> str:
    """Return an error's class and text in one line, without pydantic's link."""
    lines = traceback.format_exception_only(error)
    text = lines[-1] if isinstance(error, SyntaxError) else lines[0]
    return " ".join(text.split("\n\nFor further information")[0].split())


def _place_of(
    error: BaseException, schemas: Path, places: SourceMap
) -> Location | None:
    """Return the innermost place of an error that lies in the project's schemas."""
    if isinstance(error, SyntaxError) and Path(error.filename or "?").is_file():
        return Location(
            places.shown(Path(error.filename or "?")),
            error.lineno or 1,
            error.offset or 1,
            (error.text or "").rstrip("\n"),
        )
    frames = traceback.extract_tb(error.__traceback__)
    inside = [each for each in frames if Path(each.filename).is_relative_to(schemas)]
    if not inside:
        return None
    path, line = Path(inside[-1].filename), inside[-1].lineno or 1
    source = linecache.getline(str(path), line).rstrip("\n")
    before = source.encode()[: inside[-1].colno or 0]  # Python counts bytes
    return Location(places.shown(path), line, len(before.decode()) + 1, source)


def unused_models(
    modules: Iterable[ModuleType], places: SourceMap
) -> Iterator[Finding]:
    """Yield a warning for each model that is not used and may be meant as a record.

    That is a model with kinds, and each model of a file that declares no record.

    Args:
        modules: the schema files.
        places: finds classes in files.
    """
    files = [_models_of(module) for module in modules]
    models = [model for file in files for model in file]
    infos = [info for model in models for info in model.model_fields.values()]
    used = {inner for info in infos for inner in unwrapped(info.annotation)[0]}
    for file in files:
        no_record = not any(issubclass(model, Record) for model in file)
        for model in file:
            meant = model.model_fields and (no_record or _has_kinds(model))
            base = issubclass(model, Record) or bool(model.__subclasses__())
            name = model.__name__
            if meant and not (base or name.startswith("_") or model in used):
                yield Finding(
                    places.place_of_class(file_of(model), model.__qualname__).location,
                    "SG107",
                    f"no code is generated from {name!r}: it does not derive from Record, "
                    "and no record uses it",
                    advice=f"derive {name!r} from schemagen.Record, or use it in a record; "
                    "the name of a model that other code uses begins with '_'",
                    severity="warning",
                )


def _models_of(module: ModuleType) -> dict[type[BaseModel], None]:
    """Return the models that a schema file declares, in order."""
    return {
        value: None
        for value in vars(module).values()
        if is_model(value) and value.__module__ == module.__name__
    }


def _has_kinds(model: type[BaseModel]) -> bool:
    metadata = [i for info in model.model_fields.values() for i in info.metadata]
    return any(isinstance(item, (Kind, Nested)) for item in metadata)


@dataclass(frozen=True)
class LoadedRecord:
    """A record class and where it stands.

    Attributes:
        cls: the class.
        name: the class's name; of a class that a function has made, the name of the
            variable that holds it.
        source: its file, relative to the project, with forward slashes.
        location: where the class begins.
        fields: where each of its fields is declared, inherited ones included.
        declared: its fields, nested ones in place, with what files next to it say.
    """

    cls: type[Record]
    name: str
    source: str
    location: Location
    fields: dict[str, Location]
    declared: tuple[Declaration, ...]

    def wrong(
        self,
        rule: str,
        message: str,
        field: Declaration | None = None,
        problem: Problem | None = None,
        **parts: Any,
    ) -> Finding:
        """Return a finding at a field, or at the class itself.

        What is found and expected, and what to do, is in a problem or in `parts`.
        """
        place, where = self.location, self.name
        if field is not None:
            place, where = self.fields[field.name], f"{self.name}.{field.label}"
        if problem is not None:
            parts = {n: getattr(problem, n) for n in ("found", "expected", "advice")}
        return Finding(place, rule, f"{where}: {message}", **parts)


@dataclass(frozen=True)
class LoadResult:
    """What the schema files of a project declare, and what is wrong with them."""

    records: tuple[LoadedRecord, ...]
    findings: tuple[Finding, ...]
    warnings: tuple[Finding, ...] = ()


class _SourceLoader(SourceFileLoader):
    """Loads a module from its source, whatever bytecode there is.

    Bytecode knows the second of its source's last change and its length: what is saved
    twice in a second would be taken for the same.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _ProjectFinder(MetaPathFinder):
    """Finds the project's schemas first, and refuses to import the output package.

    Without it, an installed package with the name of the schemas' directory would
    hide that directory, which needs no `__init__.py`.
    """

    def __init__(self, root: Path, schemas: str, output: str) -> None:
        self._root = root
        self._schemas = schemas
        self._output = output

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if _is_inside(fullname, self._output):
            raise GeneratedImportError(f"import of {fullname}")
        top = self._schemas.split(".")[0]
        if not _is_inside(fullname, top):
            return None
        places = [str(self._root)] if fullname == top else path
        spec = PathFinder.find_spec(fullname, places)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _SourceLoader(spec.loader.name, spec.loader.path)
        return spec


def schema_files(schemas: Path) -> list[Path]:
    """Return the schema files below a directory, sorted; not those with `_` first."""
    return sorted(
        path
        for path in schemas.rglob("*.py")
        if not any(
            part.startswith(("_", ".")) for part in path.relative_to(schemas).parts
        )
    )


def load_schemas(root: Path, schemas: str, output: str) -> LoadResult:
    """Import all schema files and collect the records that they declare.

    A class whose name begins with `_` is a base for others and no record itself.

    Args:
        root: the project's directory, from which schemas may import.
        schemas: the directory of schema files, relative to it.
        output: the directory of generated code, relative to it.
    """
    places = SourceMap(root)
    records: list[LoadedRecord] = []
    findings: list[Finding] = []
    modules: list[ModuleType] = []
    files = track(schema_files(root / schemas), "reading schemas", "file")
    with _isolated(root, _package(schemas), _package(output)), literals_in_order():
        for path in files:
            try:
                module = importlib.import_module(_module_name(root, path))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # a schema may raise even SystemExit
                found = load_failure(error, root / schemas, places, output, path)
                findings += [found] if found else []
                continue
            records += _records_of(module, places.shown(path), places)
            modules.append(module)
        unused = tuple(unused_models(modules, places))
    return LoadResult(tuple(records), tuple(dict.fromkeys(findings)), unused)


def _module_name(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts)


def _package(directory: str) -> str:
    return ".".join(Path(directory).parts)


def _is_inside(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


@contextmanager
def _isolated(root: Path, schemas: str, output: str) -> Iterator[None]:
    """Import from the project as if the process were new, and leave no trace.

    Nothing is written (no bytecode), what schemas print goes to stderr, `os._exit`
    raises SystemExit, and the project's modules are forgotten afterwards, so that a
    later load sees the files of then.
    """
    packages = {package.split(".")[0] for package in (schemas, output)}
    process, end = os.getpid(), os._exit

    def raise_exit(status: int) -> NoReturn:
        if os.getpid() != process:  # a child that a schema has forked
            end(status)
        raise SystemExit(status)

    hidden = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        if any(_is_inside(name, package) for package in packages)
    }
    before = set(sys.modules)
    finder = _ProjectFinder(root, schemas, output)
    path, bytecode = list(sys.path), sys.dont_write_bytecode
    sys.path.insert(0, str(root))
    sys.meta_path.insert(0, finder)
    sys.dont_write_bytecode = True
    os._exit = raise_exit
    importlib.invalidate_caches()
    try:
        with warnings.catch_warnings(), redirect_stdout(sys.stderr):
            # Names that shadow pydantic's own are findings of their own.
            warnings.filterwarnings("ignore", message=r"Field name .* shadows")
            yield
    finally:
        # All are looked at before any goes: a folder asks for the one that it is in.
        new = set(sys.modules) - before
        for name in [name for name in new if _is_below(root, sys.modules[name])]:
            del sys.modules[name]
        sys.modules.update(hidden)
        sys.meta_path.remove(finder)
        sys.path[:] = path
        os._exit = end
        sys.dont_write_bytecode = bytecode


def _is_below(root: Path, module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    places = list(getattr(spec, "submodule_search_locations", None) or [])
    places += [getattr(module, "__file__", None) or ""]
    return any(
        place and "site-packages" not in place and Path(place).is_relative_to(root)
        for place in places
    )


def _records_of(
    module: ModuleType, source: str, places: SourceMap
) -> Iterator[LoadedRecord]:
    names: dict[type[Record], str] = {}
    for variable, cls in vars(module).items():
        if is_model(cls) and issubclass(cls, Record):
            made = "<locals>" in cls.__qualname__
            names.setdefault(cls, variable if made else cls.__name__)
    for cls, name in names.items():
        if name.startswith("_") or cls.__module__ != module.__name__:
            continue
        own = places.place_of_class(file_of(cls), cls.__qualname__)
        declared = cls.schemagen_fields()
        paths = {field.name: field.path or (field.name,) for field in declared}
        paths |= {private: (private,) for private in cls.__private_attributes__}
        fields = {n: _place_of_field(cls, path, places) for n, path in paths.items()}
        yield LoadedRecord(cls, name, source, own.location, fields, declared)


def record_of_class(cls: type[Record]) -> LoadedRecord:
    """Return a class of any origin, such as a cell of a notebook, as a loaded record.

    The places of its fields are not looked up.
    """
    path = file_of(cls)
    source = path.name or cls.__module__
    declared = cls.schemagen_fields()
    places = {field.name: Location(source) for field in declared}
    return LoadedRecord(cls, cls.__name__, source, Location(source), places, declared)


def _place_of_field(
    model: type[BaseModel], path: tuple[str, ...], places: SourceMap
) -> Location:
    """Return where a field is declared: in its model or one of that model's bases."""
    for name in path[:-1]:
        model = unwrapped(model.model_fields[name].annotation)[0][0]
    owner = declaring_class(model, path[-1])
    found = places.place_of_class(file_of(owner), owner.__qualname__)
    own = places.place_of_class(file_of(model), model.__qualname__)
    return found.fields.get(path[-1], own.location)
