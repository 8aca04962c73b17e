"""What came of runs and sweeps."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._native import Table


@dataclass(frozen=True)
class Interval:
    """An estimate over seeds with its 95 % interval; None where there was nothing to count."""

    mean: float | None
    lo: float | None
    hi: float | None

    @classmethod
    def of(cls, value: Mapping[str, Any] | None) -> Interval:
        """From `summary.json`."""
        value = value or {}
        return cls(value.get("mean"), value.get("lo"), value.get("hi"))


@dataclass(frozen=True)
class Difference(Interval):
    """A difference, seed by seed, with its interval."""

    includes_zero: bool | None = None

    @classmethod
    def of(cls, value: Mapping[str, Any] | None) -> Difference:
        """From `summary.json`."""
        value = value or {}
        return cls(value.get("mean"), value.get("lo"), value.get("hi"), value.get("includes_zero"))


class Arm:
    """What an arm did: `deficit` and `load` as intervals, everything else under its name in `summary.json`."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self.name = name
        self.values = values

    @property
    def deficit(self) -> Interval:
        """Relevant objects that were missed, a fraction."""
        return Interval.of(self.values.get("deficit"))

    @property
    def load(self) -> Interval:
        """Cooperative load, a fraction of capacity."""
        return Interval.of(self.values.get("load"))

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def __repr__(self) -> str:
        return f"Arm({self.name!r}, deficit={self.deficit.mean}, load={self.load.mean})"


@dataclass(frozen=True)
class Paired:
    """Two arms, seed by seed."""

    better: str
    worse: str
    points: Difference
    relative: Difference


def _number(x: float | None, scale: float, places: int) -> str:
    return "–" if x is None else f"{x * scale:.{places}f}"


def _interval(x: Interval, scale: float, places: int) -> str:
    if x.lo is None or x.hi is None:
        return ""
    return f"[{x.lo * scale:.{places}f}, {x.hi * scale:.{places}f}]"


class Summary(Mapping[str, Any]):
    """`summary.json` as an object: a mapping of all that it says, with the most asked for by name."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values_ = values

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    @property
    def arms(self) -> dict[str, Arm]:
        """What each arm did, in the order of tables."""
        return {name: Arm(name, values) for name, values in self.values_["arms"].items()}

    @property
    def paired(self) -> list[Paired]:
        """Comparisons of arms on the same seeds."""
        return [
            Paired(
                pair["better"],
                pair["worse"],
                Difference.of(pair.get("deficit_reduction_pp")),
                Difference.of(pair.get("deficit_reduction_rel")),
            )
            for pair in self.values_.get("paired", [])
        ]

    @property
    def seeds(self) -> list[int]:
        """The seeds that were run."""
        return list(self.values_.get("seeds", []))

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        return [
            (
                name,
                _number(arm.deficit.mean, 100, 2),
                _interval(arm.deficit, 100, 2),
                _number(arm.load.mean, 1, 3),
                _interval(arm.load, 1, 3),
            )
            for name, arm in self.arms.items()
        ]

    def __str__(self) -> str:
        rows = [("arm", "deficit %", "95 %", "load", "95 %"), *self._rows()]
        widths = [max(len(row[at]) for row in rows) for at in range(5)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("arm", "deficit %", "95 %", "load", "95 %"))
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows())
        scenario = self.values_.get("scenario", {}).get("name", "")
        seeds = len(self.seeds)
        caption = f"{html.escape(str(scenario))}: {seeds} seed{'' if seeds == 1 else 's'}, intervals over seeds"
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class _Results:
    """A folder with tables, which are read when they are asked for."""

    def __init__(self, folder: Path, text: str, kept: Any) -> None:
        #: Where everything was written.
        self.folder = folder
        self._text = text
        self._kept = kept
        self._tables: dict[str, Table] = {}

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            path = self.folder / f"{name}.parquet"
            if not path.is_file():
                raise ValueError(f"{path}: there is no such table; a plan keeps cycles with `cycles = true`")
            self._tables[name] = Table.read(str(path))
        return self._tables[name]

    @property
    def runs(self) -> Table:
        """A row per arm and seed (and world), as Arrow memory."""
        return self._table("runs")

    @property
    def cycles(self) -> Table:
        """A row per arm, seed, tile and cycle, as Arrow memory."""
        return self._table("cycles")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in {self.folder}>\n{self._text}"


class Run(_Results):
    """A finished run."""

    def __init__(self, folder: Path, summary: Summary, text: str, figures: dict[str, str], kept: Any) -> None:
        super().__init__(folder, text, kept)
        #: Every figure of the summary.
        self.summary = summary
        #: The report's figures as SVG, by name.
        self.figures = figures

    @property
    def report(self) -> Path:
        """The report as one page."""
        return self.folder / "report.html"

    def figure(self, name: str | int = 0) -> Figure:
        """A figure of the report, by its place, its name or the beginning of it."""
        names = list(self.figures)
        if isinstance(name, int):
            if not -len(names) <= name < len(names):
                raise ValueError(f"figure: found {name}, expected a number below {len(names)}")
            return Figure(names[name], self.figures[names[name]])
        found = [there for there in names if there == name or there.startswith(name)]
        if not found:
            raise ValueError(f"figure: found {name!r}, expected one of {', '.join(names)}")
        return Figure(found[0], self.figures[found[0]])

    def _repr_html_(self) -> str:
        figure = self.figure(0)._repr_html_() if self.figures else ""
        return self.summary._repr_html_() + figure


class Figure:
    """A figure of the report."""

    def __init__(self, name: str, svg: str) -> None:
        self.name = name
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<figure style="max-width:52em">{self.svg}</figure>'

    def save(self, path: str | Path) -> None:
        """Writes it as SVG."""
        Path(path).write_text(self.svg, encoding="utf-8")


class Sweep(_Results):
    """A finished sweep."""

    def __init__(self, folder: Path, name: str, worlds: list[tuple[str, Summary]], text: str, kept: Any) -> None:
        super().__init__(folder, text, kept)
        #: The plan's name.
        self.name = name
        #: What sets each world apart, and its summary.
        self.worlds = worlds

    @property
    def arms(self) -> Table:
        """Estimates with intervals by world and arm, as Arrow memory."""
        return self._table("arms")

    @property
    def paired(self) -> Table:
        """Comparisons of arms by world, as Arrow memory."""
        return self._table("paired")

    def _repr_html_(self) -> str:
        return "".join(f"<h4>{html.escape(label)}</h4>{summary._repr_html_()}" for label, summary in self.worlds)
