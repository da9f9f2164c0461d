# SPDX-License-Identifier: BSD-3-Clause
"""Figures of scripts/reproduce, predicted in virtual time."""

from railtools.options import size_name
from railtools.plot.gnuplot import (
    COLOURS,
    MOST,
    curves,
    frame,
    quoted,
    stacked,
)


def three_digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def best_map(heading, cells):
    """The gnuplot program of a map: a coloured field for each size and number
    of ranks, with the name of what is the best there, and its time."""
    sizes = sorted({cell[0] for cell in cells})
    ranks = sorted({cell[1] for cell in cells})
    names = sorted({cell[2] for cell in cells})
    text = frame(heading, "Number of ranks", "off") + [
        f"set xrange [-0.5:{len(sizes) - 0.5}]",
        f"set yrange [-0.5:{len(ranks) - 0.5}]",
        "set xlabel 'Message size (bytes)'",
        "set xtics (" + ", ".join(f"{quoted(size_name(size))} {index}"
                                  for index, size in enumerate(sizes)) + ")",
        "set ytics (" + ", ".join(f"{quoted(number)} {index}"
                                  for index, number in enumerate(ranks)) + ")"]
    for size, number, name, time in cells:
        x, y = sizes.index(size), ranks.index(number)
        colour = COLOURS[1 + names.index(name) % (MOST - 1)]
        text += [
            f"set object rectangle center {x},{y} size 1,1 fillcolor rgb "
            f"'{colour}' fillstyle solid 0.35 border rgb 'white'",
            f"set label \"{name}\\n{three_digits(time)} µs\" at {x},{y} center noenhanced"]
    return text + ["plot NaN notitle"]


def paper_pictures(result):
    """The figures of scripts/reproduce: no machine, no intervals."""
    origin = "\n" + result.get("origin", "predicted in virtual time")
    for figure in result["figures"]:
        lines = [(label, [(x, y, y, y) for x, y in points])
                 for label, points in figure["curves"]]
        for number, text in curves(
                figure["caption"] + origin,
                figure["axis"], lines, log=figure["log"], unit=figure["unit"],
                interval=""):
            yield f"-{figure['name']}{number}", text
    for one in result["bars"]:
        parts = [(part, part, COLOURS[1 + index]) for index, part
                 in enumerate(one["bars"][0][1])]
        yield f"-{one['name']}", stacked(
            one["caption"] + origin, one["axis"],
            parts, [[label, *values.values()]
                    for label, values in one["bars"]])
    for one in result["maps"]:
        yield f"-{one['name']}", best_map(
            one["caption"] + origin, one["cells"])
