"""What is wrong with steps: fields that only a SequenceRecord can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..findings import Finding
from ..kinds.steps import Steps
from ..schema.declaration import Declaration
from ..schema.loading import LoadedRecord
from ..schema.record import SequenceRecord


def message_findings(
    fields: Mapping[str, Declaration], record: LoadedRecord
) -> Iterator[Finding]:
    """Yield what a record's message cannot hold, or has to hold and does not."""
    steps = [field for field in fields.values() if isinstance(field.kind, Steps)]
    if not issubclass(record.cls, SequenceRecord):
        for field in steps:
            yield Finding(
                record.fields[field.name],
                "SG120",
                f"{record.name}.{field.label}: steps in a Record",
                found=f"class {record.name}(Record)",
                expected=f"class {record.name}(SequenceRecord)",
                advice="derive the class from SequenceRecord, whose files hold a "
                "tf.train.SequenceExample; in a Record write a VarLen",
            )
    elif fields and not steps:
        yield Finding(
            record.location,
            "SG120",
            f"{record.name}: a SequenceRecord without steps",
            found="no field with Steps(...)",
            expected="one field with Steps(...) or more",
            advice="derive the class from Record, whose files hold a tf.train.Example, "
            "or declare what has a value in each step",
        )
