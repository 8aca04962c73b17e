"""Coverage digests: cells to bytes and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def _cells(cells: Any) -> list[tuple[int, int]]:
    listed = cells.tolist() if hasattr(cells, "tolist") else cells
    try:
        return [(int(ix), int(iy)) for ix, iy in listed]
    except (TypeError, ValueError) as error:
        raise ValueError(f"cells: found {cells!r:.80}, expected pairs of column and row, such as [(3, -2), (4, -2)]") from error


def encode(cells: Any) -> bytes:
    """The digest of these cells: pairs of column and row, or an array of two columns."""
    return _native.digest_encode(_cells(cells))


def decode(data: bytes) -> npt.NDArray[np.int32]:
    """The cells of a digest, an array of two columns, in scan order."""
    return _native.digest_decode(bytes(data))
