# SPDX-License-Identifier: BSD-3-Clause
"""Collectives over the number of ranks."""
import os
import re

from railtools.options import size_name
from railtools.plot.alltoallv import of_patterns, pattern_name
from railtools.plot.configurations import (
    COLLECTIVES,
    IRREGULAR,
    machine_line,
    setup_name,
)
from railtools.plot.gnuplot import curves


def scaling_pictures(test, results, unit="bytes"):
    """Time over the number of ranks, a picture for the shortest, a middle and
    the longest of the sizes that all results have (figs. 9 to 11)."""
    sizes = sorted(set.intersection(*(
        {row["bytes"] for row in result["results"] if row["bytes"] > 0}
        for result in results)))
    for size in sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]}
                       if sizes else ()):
        points: dict = {}
        for result in results:
            labels = {setup["index"]: setup_name(setup)
                      for setup in result["configurations"]}
            for row in result["results"]:
                figure = row["collective"]["latency_us"]
                if row["bytes"] == size and figure["median"] is not None:
                    points.setdefault(labels[row["configuration"]], []).append(
                        (result["options"]["ranks"], figure["median"],
                         figure["lo"], figure["hi"]))
        heading = (f"{COLLECTIVES[test]} of {size_name(size)} {unit}\n"
                   + ", ".join(machine_line(results[0])))
        cores = results[0]["machine"]["allowed_threads"]
        if max(result["options"]["ranks"] for result in results) > cores:
            heading += f", {cores} cores"
        for number, text in curves(
                heading, "Time (µs)", [(label, sorted(found))
                                       for label, found in points.items()],
                log=True, unit="Number of ranks"):
            yield f"-ranks-{size_name(size)}{number}", text


def series_of(result):
    """The result's series: several of a collective may lie in one folder."""
    return re.sub(r"\W+", "-", result.get("series", result["test"]))


def scaling(found):
    """(path without ending, program) of each collective that a folder has
    results of with several numbers of ranks."""
    groups: dict = {}
    for path, result in found:
        if result["test"] == IRREGULAR:
            for pattern, part in of_patterns(result):
                groups.setdefault((os.path.dirname(path), f"{IRREGULAR}-"
                                   f"{pattern_name(pattern)}"),
                                  []).append(part)
        elif result["test"] in COLLECTIVES:
            groups.setdefault((os.path.dirname(path), series_of(result)),
                              []).append(result)
    for (folder, test), results in groups.items():
        if len({result["options"]["ranks"] for result in results}) > 1:
            for name, text in scaling_pictures(
                    results[0]["test"], results,
                    test.removeprefix(f"{IRREGULAR}-") + " elements at most"
                    if results[0]["test"] == IRREGULAR else "bytes"):
                yield os.path.join(folder, test + name), text
