"""
Value trees: any Python state as an immutable, type-exact, structurally shared tree.

`freeze` makes a tree of a live value, `Tree.thaw` gives the value back, `diff` tells what changed
between two trees and `apply` does it again. Stores keep a tree as a short reference and
content-addressed chunks and give it back by `load`.
"""

from argentum.tree.applying import apply
from argentum.tree.changes import Change, diff, invert, same
from argentum.tree.chunks import Loader, digest_of
from argentum.tree.kinds import Cycle, Member, Opaque, Record
from argentum.tree.paths import Key, Path
from argentum.tree.tree import Tree, freeze, load

__all__ = [
    "Change",
    "Cycle",
    "Key",
    "Loader",
    "Member",
    "Opaque",
    "Path",
    "Record",
    "Tree",
    "apply",
    "diff",
    "digest_of",
    "freeze",
    "invert",
    "load",
    "same",
]
