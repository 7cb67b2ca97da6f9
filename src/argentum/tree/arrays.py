"""numpy arrays and scalars as bytes in numpy's own NPY format (NEP 1), without pickle."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

from ormsgpack import Ext, packb

from argentum.errors import MissingExtraError

if TYPE_CHECKING:
    from enum import IntEnum


def is_array(value: object) -> bool:
    """Tell whether it is exactly a numpy array; numpy is not imported for it."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is getattr(numpy, "ndarray", None)


def is_array_scalar(value: object) -> bool:
    """Tell whether it is a numpy scalar; numpy is not imported for it."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(value), getattr(numpy, "generic", ()))


def array_to_bytes(value: Any, kind: IntEnum) -> Ext | None:
    """Encode an array; None for one that holds Python objects."""
    numpy: Any = sys.modules["numpy"]
    file = io.BytesIO()
    try:
        numpy.lib.format.write_array(file, numpy.asanyarray(value), allow_pickle=False)
    except ValueError:
        return None
    return Ext(kind, packb(file.getvalue()))


def array_from_bytes(data: bytes, *, scalar: bool) -> object:
    """Make the array (or the scalar) again."""
    try:
        import numpy as np  # noqa: PLC0415 - only who recorded an array needs numpy
    except ImportError as error:
        message = "The state holds a numpy array. Run: pip install numpy"
        raise MissingExtraError(message) from error
    array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return array[()] if scalar else array
