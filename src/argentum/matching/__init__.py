"""
When two values say the same: typed, and whatever the spelling.

`Sought` is a value to look for, `Content` is where to look: any value, such as the body of an
event. `says_same` compares two values. Numbers are the same as `1500`, `"1,500"` or `"1.5k"`; texts
whatever their case, space and punctuation, and as a part of a longer text; dates in several
spellings; booleans and None only under the same name, because they are everywhere.
"""

from argentum.matching.contents import Content, Match, says_same
from argentum.matching.leaves import Leaf, leaves, name_in
from argentum.matching.sought import (
    COMMON,
    ORDINARY,
    RARE,
    Sought,
    distinctness,
    is_everywhere,
)

__all__ = [
    "COMMON",
    "ORDINARY",
    "RARE",
    "Content",
    "Leaf",
    "Match",
    "Sought",
    "distinctness",
    "is_everywhere",
    "leaves",
    "name_in",
    "says_same",
]
