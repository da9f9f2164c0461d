# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the table when a value that a platform file leaves open goes to both
ends of its range, one value after the other. Not a program."""
import os
from dataclasses import dataclass, replace

from railtools.options import parse_size, size_name
from railtools.papers import open_ranges
from railtools.papers.predicted import (
    MOST,
    Factor,
    Only,
    Pick,
    Pieces,
    Winner,
    spans,
)
from railtools.papers.simulated import PLATFORMS, read

# where rates may be highest, and where they may gain the most, elsewhere
SOME = {None: (512 << 10, 2 << 20), MOST: (4, 64, 512, 2 << 10)}
LISTS: dict = {"--sizes": size_name, "--elements": str}


def leaves(curve, x):
    """(pick, point) that the point at x is taken from; of no x, all."""
    if isinstance(curve, Pick):
        return [(curve, x)]
    if hasattr(curve, "at"):  # over ranks: a point of one of several
        return [leaf for n, one in curve.curves if n == x
                for leaf in leaves(one, curve.at)]
    if hasattr(curve, "blocks"):
        return leaves(curve.curve, x * curve.blocks if isinstance(x, int)
                      else x)
    if hasattr(curve, "curve"):
        return leaves(curve.curve, x)
    if isinstance(curve, Pieces):
        serve = [piece for most, piece in curve.pieces
                 if not isinstance(x, int) or x <= most]
        return leaves(serve[0], x) if isinstance(x, int) else [
            leaf for piece in serve for leaf in leaves(piece, x)]
    return [leaf for one in curve.curves for leaf in leaves(one, x)]


def turns(row):
    """Where a Winner may change: at the ends of its ranges, but not at the
    first and the last of all."""
    ends = sorted({end for low, high, _ in row.ranges for end in (low, high)})
    return ends[1:-1] if len(row.ranges) > 1 else ends


def points_of(row, results):
    """@results: those of the platforms as they are, which have the point that
    the prediction is taken from."""
    if isinstance(row, Winner):
        return turns(row)
    return {*SOME.get(row.x, ()), *row.taken_at(results)}


def curves_of(row):
    return tuple(row.curves.values()) if isinstance(row, Winner) else (
        row.base, row.chosen)


def limited(row, results):
    """The row at its points alone: the runs are those of other rows, too."""
    points = tuple(points_of(row, results))

    def only(curve):
        return Only(curve, points)
    if isinstance(row, Winner):
        return replace(row, curves={label: only(curve) for label, curve
                                    in row.curves.items()})
    return replace(row, base=only(row.base), chosen=only(row.chosen))


def listed(text):
    """The values that LO:HI or a list stand for."""
    if ":" in text:
        low, high = map(parse_size, text.split(":"))
        return [low << n for n in range(high.bit_length())
                if low << n <= high]
    return [parse_size(word) for word in text.split(",")]


def less(run, algorithms, points):
    """A run with no more than these; None: it has none of the points."""
    options: list = list(run.options)
    for name, text in LISTS.items():
        if name in options:
            at = options.index(name) + 1
            here = [x for x in listed(options[at]) if x in points]
            if not here:
                return None
            options[at] = ",".join(map(text, here))
    if algorithms:
        options[options.index("--algorithm") + 1] = ",".join(
            sorted(algorithms))
    return replace(run, options=tuple(options))


def narrowed(rows):
    """{run: one that has no more than the rows, which are limited, need}."""
    algorithms: dict = {}
    points: dict = {}
    for curve, x in ((each, x) for row in rows for each in curves_of(row)
                     for x in each.wanted):
        for pick, point in leaves(curve, x):
            algorithms.setdefault(pick.run, set()).update(
                name for key, name in pick.where if key == "algorithm")
            points.setdefault(pick.run, set()).add(point)
    found = {run: less(run, names, points[run])
             for run, names in algorithms.items()}
    return {run: one for run, one in found.items() if one}


@dataclass
class Line:
    """A row, which is limited, at one end of one range, or (no end) as the
    platform is."""
    row: object
    key: str
    end: str
    value: object  # a number, or who wins
    near: int = 0  # of Winners: points that are the paper's within one step
    points: int = 0


def runs_of(row):
    """The runs that the row is predicted from, without ours."""
    return {run for curve in curves_of(row) for run in curve.needed_runs()}


def line(row, key, end, here):
    """None: there is nothing to say."""
    if isinstance(row, Factor):
        value = row.gain(row.chosen, here)
        return None if value is None else Line(row, key, end, value)
    winners = row.winners(here)
    return Line(row, key, end, spans(winners), *row.counted(here)[1:]) \
        if winners else None


def results_of(row, narrow, what, end, results):
    """{run: result} of the row there; None: one has failed, and the best of
    what is left would be another."""
    here = {}
    for run in runs_of(row):
        found = results.get((narrow[run], what, end)) if run in narrow else {
            "configurations": (), "results": ()}
        if found is None:
            return None
        here[run] = dict(found, narrowed=True)
    return here


def lines(rows, nominal, runner, failed):
    """[Line] of Factors and Winners; @nominal: results of the platforms as
    they are."""
    rows = [limited(row, nominal) for row in rows
            if runs_of(row) <= set(nominal)]
    narrow = narrowed(rows)
    wanted: dict = {}
    asked: list = []
    for row in rows:
        platform = next(iter(runs_of(row))).platform
        text = read(os.path.join(PLATFORMS, f"{platform}.platform"))
        asked.append((row, list(open_ranges.ranges(text).items())))
        for what, ends in asked[-1][1]:
            wanted |= {(narrow[run], what, end): (narrow[run], ((what, end),))
                       for run in runs_of(row) if run in narrow
                       for end in ends}
    results = runner.all(wanted, failed, "sensitivity")
    return [one for row, ranges in asked
            for one in lines_of(row, ranges, narrow, nominal, results)]


def lines_of(row, ranges, narrow, nominal, results):
    """[Line] of a row."""
    found = []
    for what, ends in ranges:
        for end in ends:
            here = results_of(row, narrow, what, end, results)
            found.append(here and line(row, f"{what[0]}.{what[1]}", end, here))
    found = [one for one in found if one]
    return [line(row, "as it is", "", nominal), *found] if found else []


def spread(found):
    """{name of a row: text} of lines."""
    of_row: dict = {}
    for one in found:
        of_row.setdefault(one.row.name, []).append(one)
    return {name: span(several) for name, several in of_row.items()}


def span(several):
    if isinstance(several[0].row, Winner):
        least = min(several, key=lambda one: (one.near - one.points, one.near))
        return f"at least {least.near} of {least.points} within one step"
    values = [one.value for one in several]
    return f"{min(values):.3g}–{max(values):.3g}"
