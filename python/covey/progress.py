"""How far a run is, in notebooks and on terminals."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Protocol


class Watcher(Protocol):
    """Whoever wants to see how far a run is."""

    def remark(self, text: str) -> None:
        """Something that a person should know."""

    def begin(self, names: list[str]) -> None:
        """Jobs of these names begin."""

    def progress(
        self, done: int, jobs: int, share: float, elapsed_s: float, left_s: float | None, at: list[tuple[int, float]]
    ) -> None:
        """About ten times a second. An exception ends the run and comes out of the call."""


class Silent:
    """Shows nothing."""

    def remark(self, text: str) -> None:
        pass

    def begin(self, names: list[str]) -> None:
        pass

    def progress(self, *_: Any) -> None:
        pass


def _seconds(s: float) -> str:
    return f"{s:.0f} s" if s < 60 else f"{int(s) // 60} min {int(s) % 60} s"


def _line(done: int, jobs: int, share: float, elapsed_s: float, left_s: float | None) -> str:
    percent = 100.0 * share / max(jobs, 1)
    left = f", {_seconds(left_s)} left" if left_s is not None and done < jobs else ""
    return f"{done} of {jobs} seeds done, {percent:.0f} %, {_seconds(elapsed_s)} so far{left}"


class Terminal(Silent):
    """A line on standard error that is drawn again; a line now and then where that is no terminal."""

    def __init__(self) -> None:
        self.redraws = sys.stderr.isatty()
        self.last = time.monotonic()
        self.wait = 0.2 if self.redraws else 2.0
        self.drawn = False

    def remark(self, text: str) -> None:
        print(text, file=sys.stderr)

    def progress(
        self, done: int, jobs: int, share: float, elapsed_s: float, left_s: float | None, at: list[tuple[int, float]]
    ) -> None:
        now = time.monotonic()
        ended = not at and done == jobs
        if now - self.last < self.wait and not (ended and self.drawn):
            return
        self.last = now
        if not self.redraws:
            self.wait = min(self.wait * 2, 30.0)
            if not ended:
                print(_line(done, jobs, share, elapsed_s, left_s), file=sys.stderr)
            return
        self.drawn = True
        end = "\n" if ended else ""
        print(f"\r\x1b[2K{_line(done, jobs, share, elapsed_s, left_s)}", end=end, file=sys.stderr, flush=True)


class Notebook(Silent):
    """A bar in the cell."""

    def __init__(self) -> None:
        # Without types of its own.
        shown: Any = importlib.import_module("IPython.display")
        self._html = shown.HTML
        self._handle = shown.display(shown.HTML(""), display_id=True)
        self.last = 0.0

    def remark(self, text: str) -> None:
        print(text, file=sys.stderr)

    def progress(
        self, done: int, jobs: int, share: float, elapsed_s: float, left_s: float | None, at: list[tuple[int, float]]
    ) -> None:
        now = time.monotonic()
        ended = not at and done == jobs
        if (now - self.last < 0.5 and not ended) or self._handle is None:
            return
        self.last = now
        text = _line(done, jobs, share, elapsed_s, left_s)
        bar = f'<progress value="{share:.3f}" max="{max(jobs, 1)}" style="width:20em"></progress> '
        self._handle.update(self._html(f"<div>{'' if ended else bar}{text}</div>"))


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def watcher(progress: bool | Watcher | None) -> Watcher:
    """The watcher that is meant: none, the usual one, or one's own."""
    if progress is None or progress is True:
        return Notebook() if _in_notebook() else Terminal()
    if progress is False:
        return Silent()
    return progress
