"""
Keep runs: the `Store` protocol, and `open_store` which finds the right one.

Every event is committed when the call that adds it returns.
"""

from argentum.store.locate import open_store
from argentum.store.protocol import Store

__all__ = ["Store", "open_store"]
