"""Importing schema files, with every failure as a finding at its place."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NoReturn

from pydantic import BaseModel

from ..findings import Finding, Location
from ..progress import track
from ..runtime.shared.errors import Problem
from .declaration import Declaration, unwrapped
from .failures import GeneratedImportError, load_failure
from .literal_order import literals_in_order
from .models import unused_models
from .nesting import declaring_class, file_of, is_model
from .record import Record
from .source_map import SourceMap


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
