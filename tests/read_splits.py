"""Serialized records as datasets read them, without parsing."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from schemagen.runtime.datasets.records import read_pieces
from schemagen.runtime.faults.error_report import Parser
from schemagen.runtime.faults.faults import Faults
from schemagen.runtime.sources.files import Files
from schemagen.runtime.sources.sharing import share_of


def records_of(files: Files, shard: Any = None, **options: Any) -> tf.data.Dataset:
    """Return the records of files, or this reader's part of them: string scalars."""
    share = share_of(shard, len(files.paths), files.records)
    return read_pieces(files, share, **options).unbatch()


def compared_records_of(files: Files) -> tf.data.Dataset:
    """Return the records of files, which are compared with their manifest meanwhile."""
    faults = Faults([files], Parser(lambda records, fields: {}, {}, {}, ()))
    return faults.ended(records_of(files, faults=faults))
