# SPDX-License-Identifier: BSD-3-Clause
"""What rows become when one value after the other that a platform file leaves
open goes to both ends of its range. Not a program."""
import os
from dataclasses import dataclass, replace
from itertools import product

import open_ranges
from comparing import parse_size, size_name
from predicted import MOST, Factor, Only, Pick, Pieces, Winner
from simulated import PLATFORMS, read

# where rates are highest, and where they gain the most
SOME = {None: (512 << 10, 2 << 20), MOST: (4, 64, 512, 2 << 10)}
LISTS = {"--sizes": size_name, "--elements": str}


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


def points_of(row):
    return turns(row) if isinstance(row, Winner) else SOME.get(row.x, (row.x,))


def curves_of(row):
    return tuple(row.curves.values()) if isinstance(row, Winner) else (
        row.base, row.chosen)


def limited(row):
    """The row at its points alone: the runs are those of other rows, too."""
    def only(curve):
        return Only(curve, tuple(points_of(row)))
    if isinstance(row, Winner):
        return replace(row, curves={label: only(curve) for label, curve
                                    in row.curves.items()})
    return replace(row, base=only(row.base), chosen=only(row.chosen))


def listed(text):
    """What LO:HI or a list stand for."""
    if ":" in text:
        low, high = map(parse_size, text.split(":"))
        return [low << n for n in range(high.bit_length())
                if low << n <= high]
    return [parse_size(word) for word in text.split(",")]


def less(run, algorithms, points):
    """A run with no more than these; None: it has none of the points."""
    options = list(run.options)
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
    """{run: one that has no more than the rows need}."""
    algorithms, points = {}, {}
    for curve, x in (one for row in rows for one in product(
            curves_of(row), points_of(row))):
        for pick, point in leaves(curve, x):
            algorithms.setdefault(pick.run, set()).update(
                name for key, name in pick.where if key == "algorithm")
            points.setdefault(pick.run, set()).add(point)
    found = {run: less(run, names, points[run])
             for run, names in algorithms.items()}
    return {run: one for run, one in found.items() if one}


@dataclass
class Line:
    """A row at one end of one range."""
    row: object
    key: str
    end: str
    value: object  # a number, or who wins
    near: int = 0  # of Winners: points that are the paper's within one step
    points: int = 0


def line(row, what, end, here):
    """None: there is nothing to say."""
    key, row = f"{what[0]}.{what[1]}", limited(row)
    if isinstance(row, Factor):
        value = row.gain(row.chosen, here)
        return None if value is None else Line(row, key, end, value)
    said = row.found(here)
    return said.predicted and Line(row, key, end, said.predicted,
                                   *row.counted(here)[1:])


def lines(rows, runner, failed):
    """[Line] of Factors and Winners."""
    narrow, wanted, asked = narrowed(rows), {}, []
    for row in rows:
        runs = {run: narrow[run] for run in row.runs() if run in narrow}
        platform = next(iter(runs)).platform
        text = read(os.path.join(PLATFORMS, f"{platform}.platform"))
        for what, ends in open_ranges.ranges(text).items():
            for end in ends:
                asked.append((row, what, end, runs))
                for one in runs.values():
                    wanted[one, what, end] = (one, ((what, end),))
    results = runner.all(wanted, failed, "sensitivity")
    found = [line(row, what, end, {
        whole: results[one, what, end] for whole, one in runs.items()
        if (one, what, end) in results}) for row, what, end, runs in asked]
    return [one for one in found if one]


def spread(found):
    """{name of a row: text} of lines."""
    of_row = {}
    for one in found:
        of_row.setdefault(one.row.name, []).append(one)
    return {name: span(several) for name, several in of_row.items()}


def span(several):
    if isinstance(several[0].row, Winner):
        least = min(several, key=lambda one: (one.near - one.points, one.near))
        return f"at least {least.near} of {least.points} within one step"
    values = [one.value for one in several]
    return f"{min(values):.3g}–{max(values):.3g}"
