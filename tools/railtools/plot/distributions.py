# SPDX-License-Identifier: BSD-3-Clause
"""How long single iterations took: cumulative curves and boxes."""

from railtools.options import size_name
from railtools.plot.configurations import setup_name, title
from railtools.plot.gnuplot import (
    BLUE,
    COLOURS,
    GRID,
    RED,
    data,
    frame,
    quoted,
    split,
)

# The loops that keep a histogram, and what one entry of it is.
HISTOGRAMS = {"bw": ["batch"], "bibw": ["batch"], "lat": ["batch", "pingpong"],
              **dict.fromkeys(("gather", "allgather", "alltoall", "bcast",
                               "scatter", "reduce", "allreduce",
                               "reduce_scatter_block", "scan", "exscan",
                               "barrier"), ["each"])}


def quantiles(histogram):
    """[(µs, part of all that took no longer)], by the buckets' lower ends."""
    total, points = 0, []
    for start, count in histogram["buckets"]:
        total += count
        points.append((max(start, 1) / 1e3, total / histogram["count"]))
    return points


def counted(cell):
    """A run that was ended early has empty ones."""
    return ((cell or {}).get("histogram") or {}).get("count")


def quantile(points, part):
    return next(value for value, below in points if below >= part - 1e-12)


def distributions(result):
    """(name, heading, [(label, quantiles)]) of the smallest, a middle and the
    largest size of each loop."""
    for loop in HISTOGRAMS.get(result["test"], ()):
        sizes = sorted({row["bytes"] for row in result["results"]
                        if counted(row.get(loop))})
        for size in sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]}
                           if sizes else ()):
            lines = [(setup_name(setup), quantiles(row[loop]["histogram"]))
                     for setup in result["configurations"]
                     for row in result["results"]
                     if row["configuration"] == setup["index"]
                     and row["bytes"] == size and counted(row.get(loop))]
            what = ("a round trip" if loop == "pingpong" else
                    "a single call" if loop == "each" else "a batch of "
                    f"{result['options']['batch']} messages")
            yield (f"-{loop}-{size_name(size)}",
                   title(result, f"Time of {what} of {size_name(size)} bytes"),
                   lines)


def cdf_pictures(result):
    """The part of all messages that took no longer than …"""
    for name, heading, lines in distributions(result):
        parts = list(split(lines))
        for number, part in enumerate(parts, 1):
            text = frame(heading, "Part of all iterations") + [
                "set logscale x", "set yrange [0:1.02]", "set xlabel 'Time (µs)'",
                f"set grid xtics ytics {GRID}"]
            for index, (_, points) in enumerate(part):
                text += data(f"$cdf{index}", [(points[0][0], 0), *points])
            text.append("plot " + ", ".join(
                f"$cdf{index} using 1:2 with steps linewidth 2 dashtype "
                f"{index % 4 + 1} linecolor rgb '{COLOURS[index]}' "
                f"title {quoted(label)}"
                for index, (label, _) in enumerate(part)))
            yield ("-cdf" + name + (f"-{number}" if len(parts) > 1 else ""),
                   text)


def box_pictures(result):
    """A box from a quarter to three quarters, whiskers from 1 to 99 %."""
    for name, heading, lines in distributions(result):
        rows = [[label, index] + [quantile(points, part)
                                  for part in (.01, .25, .5, .75, .99)]
                for index, (label, points) in enumerate(lines)]
        crowded = sum(len(label) for label, _ in lines) > 90
        text = frame(heading, "Time (µs): 1, 25, 50, 75 and 99 %", "off") + [
            "set logscale y", f"set xrange [-0.6:{len(rows) - 0.4}]",
            "set boxwidth 0.5", f"set grid ytics {GRID}",
            "set xtics noenhanced" + (" rotate by -30" if crowded else "")]
        text += data("$boxes", rows) + [
            "plot $boxes using 2:4:3:7:6:xtic(1) with candlesticks linewidth "
            f"1.5 linecolor rgb '{BLUE}' notitle whiskerbars 0.5, "
            "$boxes using 2:5:5:5:5 with candlesticks linewidth 3 "
            f"linecolor rgb '{RED}' notitle"]
        yield "-box" + name, text
