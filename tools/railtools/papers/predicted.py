# SPDX-License-Identifier: BSD-3-Clause
"""Curves that are taken from runs of railbench on simulated clusters, and rows
that compare them with what a paper says. Not a program."""
from collections import Counter
from dataclasses import dataclass
from math import exp, log
from typing import Protocol

from railtools.options import size_name
from railtools.programs import Failure

MOST = "most"  # the x where a gain is the largest
CLOSE = 0.2  # a number within so much of the paper's is told as such


class Curve(Protocol):
    """What the simulator's runs come to: a figure for each x."""

    def runs(self) -> set:
        """The runs that it needs."""

    def points(self, results) -> dict:
        """{x: y}, of those that there are."""


@dataclass(frozen=True)
class Run:
    """One run of railbench: its test, its platform, further options."""
    test: str
    platform: str
    options: tuple

    def command(self, railbench, platform=None):
        """Without confidence intervals: each repeat would be the same."""
        return [railbench, self.test, "--rails",
                f"sim:{platform or self.platform}", *self.options,
                "--repeat", "1"]


# ---------------------------------------------------------------- curves ---
# Each has runs(), which it needs, and points(results), {x: y} of what there is
# in {run: railbench's result}.

@dataclass(frozen=True)
class Pick:
    """The rows of one configuration, by what it says of itself."""
    run: Run
    figure: str  # path to what is taken of a row
    where: tuple = ()
    x: str = "bytes"

    def runs(self):
        return {self.run}

    def points(self, results):
        result = results.get(self.run)
        if result is None:
            return {}
        setups = [setup["index"] for setup in result["configurations"]
                  if all(setup.get(key) == value for key, value in self.where)]
        # a run for some points only has not all that others are taken from
        if not setups and "narrowed" not in result:
            raise Failure(f"`{' '.join(self.run.command('railbench'))}` has "
                          f"nothing of {dict(self.where)}")
        found = {}
        for row in result["results"]:
            if setups and row["configuration"] == setups[0]:
                value = row
                for key in self.figure.split("."):
                    value = value[key]
                if value is not None and row[self.x] > 0:
                    found[row[self.x]] = value
        return found


@dataclass(frozen=True)
class Spent(Pick):
    """What an application spends, of parts with `+` between; at the number of
    its ranks."""

    def points(self, results):
        result = results.get(self.run)
        if result is None:
            return {}
        spent = [sum(row[part]["median"] for part in self.figure.split("+"))
                 for row in result["results"]
                 if all(row.get(key) == value for key, value in self.where)]
        return {result["options"]["ranks"]: spent[-1]} if spent else {}


@dataclass(frozen=True)
class Sum:
    """Several together, where all of them have a point."""
    curves: tuple

    def runs(self):
        return {run for curve in self.curves for run in curve.runs()}

    def points(self, results):
        lines = [curve.points(results) for curve in self.curves]
        return {x: sum(line[x] for line in lines) for x in lines[0]
                if all(x in line for line in lines)}


@dataclass(frozen=True)
class Together:
    """What several blocks take that go together, at the length of one."""
    curve: Curve
    blocks: int

    def runs(self):
        return self.curve.runs()

    def points(self, results):
        return {x // self.blocks: y
                for x, y in self.curve.points(results).items()
                if x % self.blocks == 0}


@dataclass(frozen=True)
class Each:
    """The best of all configurations but those named, point by point."""
    run: Run
    figure: str
    key: str = "algorithm"
    rate: bool = False  # more is better

    def runs(self):
        return {self.run}

    def points(self, results):
        result = results.get(self.run)
        names = {setup[self.key] for setup in result["configurations"]} \
            if result else ()
        return best((Pick(self.run, self.figure, ((self.key, name),))
                     for name in sorted(names)), results, self.rate)


@dataclass(frozen=True)
class Best:
    """The best of several, point by point."""
    curves: tuple
    rate: bool = False

    def runs(self):
        return {run for curve in self.curves for run in curve.runs()}

    def points(self, results):
        """Without any when a run has failed: it might be the best."""
        return best(self.curves, results, self.rate) \
            if all(run in results for run in self.runs()) else {}


@dataclass(frozen=True)
class Pieces:
    """Up to each size another curve: how a library switches. A piece that
    does not serve a point (no nodes, say) leaves it to the next."""
    pieces: tuple  # (up to, curve)

    def runs(self):
        return {run for _, curve in self.pieces for run in curve.runs()}

    def points(self, results):
        found: dict = {}
        for most, curve in self.pieces:
            for x, y in curve.points(results).items():
                if x <= most:
                    found.setdefault(x, y)
        return found


@dataclass(frozen=True)
class Across:
    """One point of each of several curves: over ranks instead of bytes."""
    curves: tuple  # (x, curve)
    at: int

    def runs(self):
        return {run for _, curve in self.curves for run in curve.runs()}

    def points(self, results):
        found = {x: curve.points(results).get(self.at)
                 for x, curve in self.curves}
        return {x: y for x, y in found.items() if y is not None}


@dataclass(frozen=True)
class Only:
    """A curve at some of its points."""
    curve: Curve
    wanted: tuple

    def runs(self):
        return self.curve.runs()

    def points(self, results):
        return {x: y for x, y in self.curve.points(results).items()
                if x in self.wanted}


def best(curves, results, rate=False):
    found: dict = {}
    for curve in curves:
        for x, y in curve.points(results).items():
            better = max if rate else min
            found[x] = better(found.get(x, y), y)
    return found


@dataclass
class Figure:
    """One picture in the form of the paper's."""
    name: str
    caption: str
    axis: str
    curves: dict  # {label: curve}
    unit: str = "Message size (bytes)"
    log: bool = True
    note: str = ""  # what it leaves out

    def runs(self):
        return {run for curve in self.curves.values() for run in curve.runs()}

    def drawn(self, results):
        """[(label, [(x, y)])] of what there is."""
        lines = [(label, sorted(curve.points(results).items()))
                 for label, curve in self.curves.items()]
        return [(label, line) for label, line in lines if line]


@dataclass
class Bars:
    """Stacked bars: of what times consist."""
    name: str
    caption: str
    axis: str
    bars: dict  # {label: {part: curve}}
    x: int

    def runs(self):
        return {run for parts in self.bars.values()
                for curve in parts.values() for run in curve.runs()}

    def drawn(self, results):
        """[(label, {part: y})] of what there is."""
        bars = [(label, {part: curve.points(results).get(self.x)
                         for part, curve in parts.items()})
                for label, parts in self.bars.items()]
        return [bar for bar in bars if None not in bar[1].values()]


@dataclass
class Map:
    """Which curve is the best at each size and number of ranks."""
    name: str
    caption: str
    curves: dict  # {label: [(ranks, curve over bytes)]}
    note: str = ""

    def runs(self):
        return {run for line in self.curves.values()
                for _, curve in line for run in curve.runs()}

    def cells(self, results):
        """[(bytes, ranks, label, µs)]"""
        best_of: dict = {}
        for label, line in self.curves.items():
            for ranks, curve in line:
                for x, y in curve.points(results).items():
                    if (x, ranks) not in best_of or \
                            y < best_of[x, ranks][1]:
                        best_of[x, ranks] = label, y
        return [(x, ranks, *best_of[x, ranks]) for x, ranks in
                sorted(best_of)]


# ------------------------------------------------------------------ rows ---

@dataclass
class Found:
    """What a row of the table says. None, "": nothing to say."""
    predicted: object = None  # a number, or text
    deviation: object = None  # of a number: (predicted - paper) / paper
    same: object = None  # does the same one win?
    ours: object = None  # what our best choice reaches, like the paper's
    behind: bool = False  # ... is less than the paper's way reaches here
    detail: str = ""


def at(points, x):
    """The point, or, without x, the one that is furthest up."""
    if x is None:
        return max(points.values(), default=None)
    return points.get(x)


@dataclass
class Factor:
    """By how much one curve is better than another: at x, (None) at the
    peaks, or (MOST) where it is the most."""
    name: str
    seed: str  # where it says so
    what: str
    paper: float
    base: Curve
    chosen: Curve
    ours: Curve
    x: object = None
    rate: bool = False
    headline: bool = True
    note: str = ""
    tie: float = 0  # so little better counts as no better
    group: str = ""  # of headline numbers that are also counted apart

    def runs(self):
        return self.base.runs() | self.chosen.runs() | self.ours.runs()

    def gain(self, curve, results):
        lines = [one.points(results) for one in (self.base, curve)]
        if self.x != MOST:
            return self.ratio(*(at(line, self.x) for line in lines))
        return max((self.ratio(lines[0][x], lines[1][x])
                    for x in lines[0] if x in lines[1]), default=None)

    def taken_at(self, results):
        """The points that the gain is taken from."""
        base, chosen = (curve.points(results)
                        for curve in (self.base, self.chosen))
        if self.x is None:
            return {max(line, key=line.__getitem__) for line in (base, chosen) if line}
        if self.x != MOST:
            return {self.x}
        ratios = {x: self.ratio(base[x], chosen[x])
                  for x in base if x in chosen}
        return {max(ratios, key=ratios.__getitem__)} if ratios else set()

    def ratio(self, base, other):
        if not base or not other:
            return None
        return other / base if self.rate else base / other

    def found(self, results):
        predicted = self.gain(self.chosen, results)
        if predicted is None:
            return Found()
        ours = self.gain(self.ours, results)
        least = 1 + self.tie
        return Found(predicted, predicted / self.paper - 1,
                     (predicted > least) == (self.paper > least), ours,
                     ours is not None and ours < predicted * (1 - 1e-9))

    def paper_text(self):
        return f"{self.paper:.3g}"


@dataclass
class Value:
    """A figure by itself, of which the paper has the value: more or less of
    it is no win."""
    name: str
    seed: str
    what: str
    paper: float
    curve: Curve
    ours: Curve
    x: object = None
    rate: bool = False
    headline: bool = False
    note: str = ""

    def runs(self):
        return self.curve.runs() | self.ours.runs()

    def found(self, results):
        predicted, ours = (at(curve.points(results), self.x)
                           for curve in (self.curve, self.ours))
        if predicted is None:
            return Found()
        behind = ours is not None and (
            ours < predicted * (1 - 1e-9) if self.rate
            else ours > predicted * (1 + 1e-9))
        return Found(predicted, predicted / self.paper - 1, None, ours, behind)

    def paper_text(self):
        return f"{self.paper:.3g}"


@dataclass
class Winner:
    """Who is best from where to where."""
    name: str
    seed: str
    what: str
    ranges: tuple  # (from, to, label): the paper's winners
    curves: dict
    ours: Curve
    rate: bool = False
    headline: bool = True
    note: str = ""
    tie: float = 0.02  # so little better counts as no better
    given: bool = False  # rests on inputs: said, but no prediction

    def runs(self):
        return {run for curve in (*self.curves.values(), self.ours)
                for run in curve.runs()}

    def expected(self, x):
        for low, high, label in self.ranges:
            if low <= x <= high:
                return label
        return None

    def winners(self, results):
        """{x: label}; where two are equal, the paper's."""
        lines = {label: curve.points(results)
                 for label, curve in self.curves.items()}
        found = {}
        for x in sorted(set().union(*lines.values())):
            here = {label: line[x] for label, line in lines.items()
                    if x in line}
            expected = self.expected(x)
            if expected is None or expected not in here or len(here) < 2:
                continue
            top = max(here.values()) if self.rate else min(here.values())
            won = [label for label, y in here.items()
                   if abs(y - top) <= self.tie * top]
            found[x] = expected if expected in won else won[0]
        return found

    def counted(self, results):
        """(the paper's, those within one step, all): numbers of points."""
        winners = self.winners(results)
        near = sum(won in {self.expected(y) for y in (x / 2, x, 2 * x)}
                   for x, won in winners.items())
        return (sum(won == self.expected(x) for x, won in winners.items()),
                near, len(winners))

    def dropped(self, results):
        """Points of the paper's ranges at which nobody wins, because it has
        not been run there or alone."""
        winners = self.winners(results)
        return [x for x in sorted(set().union(*(
            curve.points(results) for curve in self.curves.values())))
            if self.expected(x) and x not in winners]

    def found(self, results):
        winners = self.winners(results)
        if not winners:
            return Found()
        same, near, count = self.counted(results)
        factor = self.ahead(results, winners)
        dropped = self.dropped(results)
        alike = None if self.given else near == count and not dropped
        return Found(spans(winners), None, alike, factor,
                     factor is not None and factor < 1 - 1e-9,
                     f"{same} of {count} points the paper's, "
                     f"{near} within one step"
                     + (" (an input)" if self.given else "") + (
                         f"; not compared: {', '.join(map(size_name, dropped))}"
                         if dropped else ""))

    def ahead(self, results, winners):
        """How far ahead of the paper's winner ours is where it is least."""
        ours, least = self.ours.points(results), None
        for x in winners:
            theirs = self.curves[self.expected(x)].points(results)[x]
            if ours.get(x):
                factor = ours[x] / theirs if self.rate else theirs / ours[x]
                least = min(least, factor) if least else factor
        return least

    def paper_text(self):
        return ", ".join(f"{label} {span(low, high)}"
                         for low, high, label in self.ranges)


@dataclass
class Reach:
    """A cluster that no paper has: the best of the papers' ways, and ours."""
    name: str
    seed: str
    what: str
    curves: dict  # the papers'
    ours: Curve
    rate: bool = False
    headline: bool = False
    note: str = ""
    tie: float = 0.02

    def runs(self):
        return {run for curve in (*self.curves.values(), self.ours)
                for run in curve.runs()}

    def found(self, results):
        theirs, names = best_named(self.curves, results, self.rate)
        ours = self.ours.points(results)
        gains = [ours[x] / theirs[x] if self.rate else theirs[x] / ours[x]
                 for x in theirs if x in ours]
        if not gains:
            return Found()
        mean = exp(sum(map(log, gains)) / len(gains))
        return Found(spans(names), None, None, min(gains),
                     min(gains) < 1 - self.tie, f"ours is {mean:.3g} times as "
                     f"good (geometric mean of {len(gains)} points), at most "
                     f"{max(gains):.3g}")

    def paper_text(self):
        return ""


def best_named(curves, results, rate):
    """({x: y}, {x: label}) of the best."""
    points: dict = {}
    names: dict = {}
    for label, curve in curves.items():
        for x, y in curve.points(results).items():
            if x not in points or (y > points[x] if rate else y < points[x]):
                points[x], names[x] = y, label
    return points, names


def span(low, high):
    return size_name(low) if low == high else \
        f"{size_name(low)}–{size_name(high)}"


def spans(winners):
    """{x: label} as text, neighbours together."""
    parts: list = []
    for x, label in sorted(winners.items()):
        if parts and parts[-1][2] == label:
            parts[-1][1] = x
        else:
            parts.append([x, x, label])
    return ", ".join(f"{label} {span(low, high)}"
                     for low, high, label in parts)


def summary(rows, found):
    """Lines that count: @found, {name: Found}."""
    numbers = [row for row in rows if row.headline
               and found[row.name].deviation is not None]
    near = [row for row in numbers
            if abs(found[row.name].deviation) <= CLOSE]
    groups = Counter(row.group for row in numbers
                     if isinstance(row, Factor) and row.group)
    near_of = Counter(row.group for row in near if isinstance(row, Factor))
    winners = [row for row in rows if isinstance(row, Winner)
               and found[row.name].same is not None]
    alike = [row for row in winners if found[row.name].same]
    behind = [row.name for row in rows if found[row.name].behind]
    missing = [row.name for row in rows
               if found[row.name].predicted is None]
    lines = []
    if numbers:
        lines.append(f"{len(near)} of {len(numbers)} headline numbers are "
                     f"within {CLOSE:.0%} of the paper's.")
    lines += [f"Of {group}: {near_of[group]} of {count}."
              for group, count in groups.items()]
    if winners:
        lines.append(f"In {len(alike)} of {len(winners)} comparisons all "
                     "winners are the paper's within one step.")
    if behind:
        lines.append("Ours is behind the paper's way in: "
                     + ", ".join(behind) + ".")
    if missing:
        lines.append("Not predicted, as runs have failed: "
                     + ", ".join(missing) + ".")
    return lines
