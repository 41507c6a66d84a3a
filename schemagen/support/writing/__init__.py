"""Writing a split: from rows to durable shards, published all at once or not."""

from .options import DEFAULT_SHARD_BYTES
from .progress import Progress
from .split import RowSource, write_split
from .writer import ShardedWriter

__all__ = [
    "DEFAULT_SHARD_BYTES",
    "Progress",
    "RowSource",
    "ShardedWriter",
    "write_split",
]
