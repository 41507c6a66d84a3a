"""What the template of `init --train` sees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from ..kinds.literals import Code
from .imports import import_line
from .record_view import RecordView


def record_package(output: str, record: str) -> str:
    """Return the package of a record's generated code, as `train.py` imports it.

    Args:
        output: the directory of generated code, relative to the project.
        record: the record's name.
    """
    return ".".join([*PurePosixPath(output).parts, record])


@dataclass(frozen=True)
class TrainingView:
    """A record whose model is trained.

    Attributes:
        record: one that has a target.
        output: the directory of generated code, relative to the project.
    """

    record: RecordView
    output: str

    @property
    def package(self) -> str:
        """The record's generated package."""
        return record_package(self.output, self.record.spec.record)

    @property
    def serializer(self) -> Code:
        """The module that writes data."""
        return Code(f"{self.package}.serializer")

    @property
    def imports(self) -> Code:
        """The imports from the record's generated package."""
        package = self.package
        lines = [
            import_line(f"{package}.model", ["adapt", "build_model", "export_serving"]),
            import_line(f"{package}.pipeline", ["make_dataset"]),
        ]
        return Code("\n".join(lines))

    @property
    def description(self) -> str:
        """What the program does, in words."""
        return f"Train a model of {self.record.spec.record} records."

    @property
    def run(self) -> str:
        """Where it writes, if it is not told."""
        return f"runs/{self.record.spec.record}"
