"""Serialized records as datasets read them, without parsing."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from schemagen.runtime.datasets.records import read_records
from schemagen.runtime.faults.error_report import Parser
from schemagen.runtime.faults.faults import Faults
from schemagen.runtime.sources.shards import Shards
from schemagen.runtime.sources.shares import share_of


def records_of(shards: Shards, shard: Any = None, **options: Any) -> tf.data.Dataset:
    """Return the records of files, or this reader's part of them: string scalars."""
    share = share_of(shard, len(shards.paths), shards.records)
    return read_records(shards, share, **options)


def compared_records_of(shards: Shards) -> tf.data.Dataset:
    """Return the records of files, which are compared with their manifest meanwhile."""
    faults = Faults([shards], Parser(lambda records, fields: {}, {}, {}, ()))
    return faults.ended(records_of(shards, faults=faults))
