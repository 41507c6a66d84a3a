"""What the keys of a file say next to those of others."""

from __future__ import annotations

# Records of one kind have so large a share of the keys of either in common.
_COMMON = 0.5

# A file lacks a key by chance if that is likelier than this.
_CHANCE = 0.001


def are_of_one_kind(shared: int, one: int, other: int) -> bool:
    """Return whether records are of one kind, by how many keys they share and have."""
    return shared >= _COMMON * min(one, other)


def lacked_by_chance(share: float, records: int) -> bool:
    """Return whether so many records may lack a key that a share of others have."""
    return (1 - share) ** records > _CHANCE
