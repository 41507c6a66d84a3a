"""Which data a schema can be inferred of: records of one kind, with keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .. import findings
from ..data.foreign import EXPECTED, NO_KEY, WITHOUT_FEATURE
from ..data.infer import (
    Drafted,
    Evidence,
    FileKeys,
    Reading,
    groups_of,
    keys_by_split,
    shown_group,
)
from ..data.infer.draft import listed
from ..data.sources import Data
from ..runtime.reading.columns import WRITE_EXAMPLES

MOST_KEYS = 2_000
"""More keys than this hold data that belongs in values."""

_MOST_MALFORMED = 0.5


refused = partial(findings.refused, rule="SG442")


def foreign_files(data: Data, files: Sequence[FileKeys]) -> dict[str, str]:
    """Return what the files hold whose records are no Examples.

    Raises:
        SchemagenError: no record of any file has a key.
    """
    read = [file for file in files if file.records]
    keyed = {str(file.path): file.scanned.tally.keyed for file in read}
    # Examples without a feature have no wrong values for a schema.
    wrong = {
        file: found.other
        for file, found in keyed.items()
        if found.other and not found.records
    }
    if keyed and not any(found.records for found in keyed.values()):
        first = next(iter(wrong.values()), WITHOUT_FEATURE)
        raise refused(
            data.where,
            NO_KEY,
            found=first,
            expected=EXPECTED,
            advice=WRITE_EXAMPLES,
        )
    return wrong


def check_evidence(data: Data, reading: Reading, evidence: Evidence) -> None:
    """Refuse data without records, and records that no schema declares."""
    where = data.where
    if not reading.records:
        seen = "nothing but empty files"
        if reading.damages:
            damage = reading.damages[0]
            cause = f" ({damage.cause})" if damage.cause else ""
            seen = f"{damage.found}{cause} in {findings.printable(damage.file)}"
        raise refused(
            where,
            "no record can be read",
            found=seen,
            expected="a file with at least one record",
            advice="`schemagen verify` reports what is wrong with each file",
        )
    if evidence.malformed > _MOST_MALFORMED * reading.records:
        raise refused(
            where,
            f"{evidence.malformed:,} of {reading.records:,} records are not a "
            "tf.train.Example: they hold another message, or nothing",
            found=evidence.reason,
            expected="a tf.train.Example or SequenceExample",
            advice="schemagen reads no other protobufs; write their contents as Examples",
        )
    if len(evidence.keys) + len(evidence.steps) > MOST_KEYS:
        raise refused(
            where,
            f"more than {MOST_KEYS:,} keys",
            found=f"keys such as {', '.join(map(ascii, list(evidence.keys)[:3]))}",
            expected="keys that are the same in all records",
            advice="keys that hold data cannot be declared: write the data as values",
        )
    if 0 < evidence.sequences < evidence.records:
        raise refused(
            where,
            "the files hold messages of two types",
            found=f"{evidence.sequences:,} tf.train.SequenceExamples and "
            f"{evidence.records - evidence.sequences:,} tf.train.Examples",
            expected="one of them",
            advice="infer a schema of the files of each type",
        )


def check_groups(data: Data, files: Sequence[FileKeys]) -> None:
    """Refuse files of several kinds of records, or of one kind under several keys."""
    groups = groups_of(files)
    same = [" is ".join(map(repr, keys)) for keys in keys_by_split(files).values()]
    if same:
        raise refused(
            data.where,
            "the keys begin with the name of the split, so one field has several",
            found=listed(same),
            expected="one key for each field",
            advice="name the files of one split, and write the other splits again with "
            "its keys",
        )
    if len(groups) < 2:
        return
    raise refused(
        data.where,
        f"the files hold {len(groups)} kinds of records, which share few keys",
        found="; ".join(map(shown_group, groups)),
        expected="records of one kind",
        advice="name the files of one kind, or declare one record of all keys with "
        "--merge",
    )


def check_drafted(data: Data, drafted: Drafted) -> None:
    """Refuse records without a field that can be declared."""
    spec = drafted.spec
    lists = any(field.codec.in_list for field in spec.fields)
    if spec.fields and (lists or spec.message == "Example"):
        return
    reasons = [f"{key!a}: {reason}" for key, reason in drafted.left_out.items()]
    raise refused(
        data.where,
        "no field can be inferred from "
        + ("the feature lists" if spec.fields else "any of the keys"),
        found="; ".join(reasons[:3]) or "SequenceExamples without feature lists",
        expected="a key with values of one kind",
        advice="`schemagen inspect` shows what each key holds",
    )
