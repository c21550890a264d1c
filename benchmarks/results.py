"""The numbers of a run of the benchmark: saved after each measure, and read as medians with their spread."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measures import Measured


@dataclass(frozen=True, slots=True)
class Figure:
    """A median and the least and the greatest of `runs` values."""

    median: float
    least: float
    greatest: float
    runs: int


@dataclass(slots=True)
class Results:
    """about: the machine and the versions. records: one for each run of a measure. failures: what was not measured."""

    about: dict[str, Any]
    records: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> Results:
        """What `save` wrote."""
        return cls(**json.loads(path.read_text()))

    def save(self, path: Path) -> None:
        """Write everything; a run that is killed leaves what it had measured."""
        parts = {"about": self.about, "failures": self.failures}
        head = json.dumps(parts, indent=1).removesuffix("\n}")
        lines = ",\n  ".join(json.dumps(record) for record in self.records)
        written = path.with_suffix(".part")
        written.write_text(f'{head},\n "records": [\n  {lines}\n ]\n}}\n')
        written.replace(path)

    def add(self, count: int, run: int, one: Measured) -> None:
        """Add one measure of a cluster with `count` Takaras."""
        values = {name: round(value, 6) for name, value in one.values.items()}
        requests = {"requests": sum(one.requests.values()), **one.requests} if one.requests else {}
        record = {"takaras": count, "contestant": one.contestant, "measure": one.measure, "run": run}
        self.records.append(record | {"values": values, "by_verb": requests})

    @property
    def sizes(self) -> list[int]:
        """The numbers of Takaras, ascending."""
        return sorted({record["takaras"] for record in self.records})

    @property
    def contestants(self) -> list[str]:
        """In the order in which they were measured."""
        return list(dict.fromkeys(record["contestant"] for record in self.records))

    def values(self, count: int, contestant: str, measure: str, key: str) -> list[float]:
        """All values of the key; also of a verb and resource, or of all "requests". Empty if it was not measured."""
        place = (count, contestant, measure)
        found = [one for one in self.records if (one["takaras"], one["contestant"], one["measure"]) == place]
        return [both[key] for one in found if key in (both := one["values"] | one["by_verb"])]

    def figure(self, count: int, contestant: str, measure: str, key: str) -> Figure | None:
        """The values of the key as one figure, or None if there is none."""
        found = self.values(count, contestant, measure, key)
        return Figure(statistics.median(found), min(found), max(found), len(found)) if found else None

    def medians(self, contestant: str, measure: str, key: str) -> dict[int, float]:
        """The median for each number of Takaras, without 0."""
        figures = {count: self.figure(count, contestant, measure, key) for count in self.sizes if count}
        return {count: figure.median for count, figure in figures.items() if figure}
