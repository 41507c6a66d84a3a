"""What the template of `init --train` sees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from .imports import import_line
from .literals import Code
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
    def package(self) -> Code:
        """The record's generated package."""
        return Code(record_package(self.output, self.record.spec.record))

    @property
    def imports(self) -> Code:
        """The imports from the record's generated package."""
        package = self.package
        lines = [
            import_line(f"{package}.model", ["adapt", "build_model", "export_serving"]),
            import_line(f"{package}.pipeline", ["make_dataset"]),
        ]
        return Code("\n".join(lines))
