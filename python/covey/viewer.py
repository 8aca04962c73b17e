"""The viewer in a notebook cell."""

from __future__ import annotations

import html
import os
from typing import Any

from . import _native


class Viewer:
    """The page of `covey view`, served on the loopback address until it is closed. Shows itself in a notebook cell."""

    def __init__(self, path: str | os.PathLike[str], *, port: int = 0, height: int = 640) -> None:
        self._native = _native.NativeViewer(os.fspath(path), port)
        self.height = height

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return self._native.url

    @property
    def is_open(self) -> bool:
        """It still serves."""
        return self._native.is_open

    def close(self) -> None:
        """Ends it and gives its port back."""
        self._native.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _repr_html_(self) -> str:
        if not self.is_open:
            return "<p>This viewer is closed.</p>"
        return f'<iframe src="{html.escape(self.url)}" width="100%" height="{self.height}" style="border:0"></iframe>'

    def __repr__(self) -> str:
        return f"<Viewer at {self.url}, {', '.join(self._native.names)}{'' if self.is_open else ', closed'}>"


def view(path: Any, *, port: int = 0, height: int = 640) -> Viewer:
    """Shows recordings: a folder, a file, or what `covey.run(..., record=True)` gave. `close()` ends it."""
    folder = getattr(path, "folder", path)
    return Viewer(folder, port=port, height=height)
