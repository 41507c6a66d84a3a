"""What `infer`, `adopt` and `export` print as JSON: docs/steps.schema.json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..documents import Document
from ..interop.exports.writing import Exported
from .adopt import Checked, FirstRecords, Generated
from .infer import Inferred
from .seal import Sealing


@dataclass(frozen=True)
class Steps(Document):
    """What infer, adopt and export have done. They print it with --format json, unless they exit with 2.

    Entries may be added to any part at any time. A step that a command does not have is
    null.

    Attributes:
        version: of this shape. It grows when an entry goes or changes its meaning.
        inferred: of infer and adopt, the schema file.
        generated: of adopt, the generated code.
        checked: of adopt, what is wrong with the records.
        sealing: of adopt with --seal, what came of sealing the files.
        read: of adopt, the first records as the generated code delivers them.
        exported: of export, the files.
    """

    version: Literal[1] = 1
    inferred: Inferred | None = None
    generated: Generated | None = None
    checked: Checked | None = None
    sealing: Sealing | None = None
    read: FirstRecords | None = None
    exported: Exported | None = None
