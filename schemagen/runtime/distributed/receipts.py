"""The public home of `Receipt`."""

from ..writing.receipts import Receipt

__all__ = ["Receipt"]
