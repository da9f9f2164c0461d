# SPDX-License-Identifier: BSD-3-Clause
"""Irregular all-to-all, a picture a pattern (figures 15 to 23 of Liu et al. 2002)."""
import os

from railtools import irregular
from railtools.options import size_name
from railtools.plot.configurations import (
    COLLECTIVES,
    IRREGULAR,
    bar_name,
    machine_line,
    series,
    title,
)
from railtools.plot.gnuplot import BLUE, GREEN, ORANGE, PINK, curves, stacked


def of_patterns(result):
    """(pattern, result) of each pattern, over elements."""
    patterns: dict = {}
    for setup in result["configurations"]:
        patterns.setdefault(setup["pattern"], []).append(setup)
    for pattern, setups in patterns.items():
        indices = {setup["index"] for setup in setups}
        yield pattern, result | {
            "configurations": [setup | {"label": " ".join(
                word for word in setup["label"].split() if word != pattern)}
                for setup in setups],
            "results": [row | {"bytes": row["elements"]}
                        for row in result["results"]
                        if row["configuration"] in indices]}


def pattern_name(pattern):
    """For a file and a title."""
    return os.path.basename(pattern.removeprefix("file:"))


def irregular_title(result, pattern):
    element = result["options"].get("element")
    return title(result, f"{COLLECTIVES[IRREGULAR]}, {pattern_name(pattern)}, "
                 f"elements of {element} bytes")


def irregular_pictures(result):
    """Time over the longest message, and of what it consists."""
    parts = list(of_patterns(result))
    for pattern, part in parts:
        lines = series(part, "collective", "latency_us")
        if not lines:
            continue
        name = "-" + pattern_name(pattern) if len(parts) > 1 else ""
        heading = irregular_title(result, pattern)
        for number, text in curves(
                heading, "Time (µs)", lines, log=True,
                unit="Elements of the longest message (M_max)"):
            yield name + number, text
        if all("parts" in row for row in part["results"]):
            yield name + "-parts", irregular_parts(part, heading)


IRREGULAR_PARTS = [(key, name, colour) for (key, name), colour
                   in zip(irregular.PARTS.items(), (BLUE, ORANGE, GREEN, PINK))]


def irregular_parts(part, heading):
    """Stacked bars at the largest size (figs. 20 and 22)."""
    most = max(row["elements"] for row in part["results"])
    setups = {setup["index"]: setup for setup in part["configurations"]}
    rows = [[bar_name(setups[row["configuration"]])] +
            [row["parts"][key] for key in irregular.PARTS]
            for row in part["results"] if row["elements"] == most]
    return stacked(f"{heading}, M_max = {size_name(most)}",
                   "Time (µs), mean over ranks", IRREGULAR_PARTS, rows)


def seed_pictures(result):
    """Figures 15 to 23 of Liu et al. 2002, as far as they have been measured."""
    units = {irregular.RANKS: "Number of ranks",
             irregular.ELEMENTS: "Elements of the longest message (M_max)"}
    for figure in irregular.FIGURES:
        heading = "\n".join((irregular.caption(figure, result), ", ".join(
            machine_line(result) +
            [f"{result['machine']['allowed_threads']} cores"])))
        if figure.over in units:
            lines = irregular.curves(figure, result)
            for number, text in curves(heading, "Time (µs)", lines, log=True,
                                       unit=units[figure.over]) if lines else ():
                yield f"-{figure.name}{number}", text
        else:
            rows = [[f"{algorithm}, {size_name(elements)}"] + parts
                    for elements, algorithm, parts
                    in irregular.bars(figure, result)]
            if rows:
                yield f"-{figure.name}", stacked(
                    heading, "Time (µs), mean over ranks", IRREGULAR_PARTS,
                    rows)
