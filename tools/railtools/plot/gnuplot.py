# SPDX-License-Identifier: BSD-3-Clause
"""Shared by all pictures: colours, axes, curves, bars; and running gnuplot."""
import contextlib
import html
import json
import os
import re
import subprocess
import sys
import textwrap

from railtools.options import size_name

# Okabe and Ito's colours, which the colour-blind can tell apart; gray instead
# of their yellow, which is hard to see on white.
COLOURS = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
           "#56b4e9", "#777777"]
BLACK, BLUE, RED, GREEN, PINK, ORANGE, SKY, GRAY = COLOURS
MARKS = [7, 5, 9, 11, 13, 6, 4, 8]  # filled ones first
MOST = len(COLOURS)  # curves in a picture
GRID = "linetype 1 dashtype 1 linecolor rgb '#e4e4e4'"


def fail(text, status=2):
    print(f"scripts/plot: {text}", file=sys.stderr)
    sys.exit(status)


def quoted(text):
    """A gnuplot string in single quotes, where only quotes are special."""
    return "'" + str(text).replace("'", "''") + "'"


# Below the picture, where it covers nothing.
KEY = "outside bottom center horizontal Left reverse samplen 3 maxcols 2 height 1"


def frame(heading, axis, key=KEY):
    """The frame of all pictures."""
    heading = "\n".join(line for part in heading.split("\n")
                        for line in textwrap.wrap(part, 96) or [""])
    return [
        "set title \"" + heading.replace("\\", "\\\\").replace('"', '\\"')
        .replace("\n", "\\n") + "\" noenhanced",
        f"set ylabel {quoted(axis)}",
        f"set key {key} noenhanced",
        "set border 3",
        "set tics nomirror",
    ]


def data(name, rows):
    return [f"{name} << EOD"] + [
        " ".join('"' + value.replace('"', "'") + '"' if isinstance(value, str)
                 else f"{value:.9g}" for value in row)
        for row in rows] + ["EOD"]


INTERVAL = ", median and 95 % interval"


def split(lines):
    """Parts of nearly the same length, none of more than MOST curves. Ours are
    in each where there are others; few of them, else they count as all do."""
    ours = [line for line in lines if line[0].startswith("dapl_rail")]
    others = sorted((line for line in lines if line not in ours),
                    key=lambda line: line[0].endswith(" put"))
    if not others or len(ours) > MOST // 2 or len(lines) <= MOST:
        ours, others = [], lines
    number = -(-len(others) // (MOST - len(ours)))
    for index in range(number):
        yield ours + others[len(others) * index // number:
                            len(others) * (index + 1) // number]


def x_axis(sizes, unit):
    step = 3 if len(sizes) > 14 else 1
    ticks = ", ".join(f"{quoted(size_name(size))} {size}"
                      for size in sizes[::-1][::step])
    return [
        "set logscale x 2",
        f"set xrange [{sizes[0] / 1.3}:{sizes[-1] * 1.3}]",
        f"set xtics ({ticks})",
        f"set xlabel {quoted(unit or 'Message size (bytes)')} noenhanced",
        f"set grid xtics ytics {GRID}",
    ]


def limit_curves(bounds, labels):
    """(data, plots) of the limits of these curves: dashed, in the colour of the
    first that has it, with a band where there is one; each kind is explained
    once."""
    text: list = []
    plots: list = []
    kinds: dict = {}
    for index, (kind, points, names) in enumerate(bounds):
        colours = [COLOURS[labels.index(name)] for name in names
                   if name in labels]
        if names and not colours:
            continue  # of a curve in another picture
        colour = colours[0] if colours else GRAY
        text += data(f"$limit{index}", points)
        if any(low != high for _, _, low, high in points):
            plots.append(f"$limit{index} using 1:3:4 with filledcurves "
                         f"fillcolor rgb '{colour}' fillstyle transparent "
                         "solid 0.2 notitle")
        plots.append(f"$limit{index} using 1:2 with lines linewidth 1.5 "
                     f"dashtype 2 linecolor rgb '{colour}' notitle")
        kinds[kind + (" of the curve of that colour" if names else "")] = None
    return text, plots + [
        f"NaN with lines linewidth 1.5 dashtype 2 linecolor rgb '{GRAY}' "
        f"title {quoted(kind)}" for kind in kinds]


FAR = 100  # times as slow as the best: such curves do not set the scale


def within_scale(lines, less):
    """(values that set the scale, labels of curves that leave it). @less: the
    lowest is the best, else the highest."""
    best: dict = {}
    for _, points in lines:
        for x, median, *_ in points:
            if median > 0:
                best[x] = (min if less else max)(median, best.get(x, median))

    def is_far(x, value):
        return value > FAR * best[x] if less else value * FAR < best[x]
    values = [value for _, points in lines for x, *ends in points
              for value in ends if value > 0 and not is_far(x, value)]
    return values, [label for label, points in lines if any(
        is_far(x, median) for x, median, *_ in points if median > 0)]


def curves(heading, axis, lines, log=False, unit=None, interval=INTERVAL,
           bounds=(), less=True, places=()):
    """(number of the part, gnuplot program) of each picture of curves over
    message size, or another unit. @less: lower figures are better. @places:
    which colours the curves have, if not the first ones."""
    sizes = sorted({point[0] for _, points in lines for point in points})
    values, cut = within_scale(lines, less)
    values += [value for _, points, *_ in bounds
               for point in points for value in point[1:] if value > 0]
    if cut and log:
        heading += (f"\nThe axis is cut at {FAR} times the best figure: "
                    + ", ".join(cut))
    parts = list(split(lines))
    for number, part in enumerate(parts, 1):
        what, newline, rest = heading.partition("\n")
        of = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
        text = frame(what + of + newline + rest, axis + interval)
        text += x_axis(sizes, unit)
        if log:
            text.append("set logscale y")
        if values:  # the same in all parts
            low, high = (min(values) / 1.3, max(values) * 1.3) if log else (
                0, max(values) * 1.05)
            text.append(f"set yrange [{low:.9g}:{high:.9g}]")
        more, plots = limit_curves(bounds, [label for label, _ in part])
        text += more
        for index, (label, points) in enumerate(part):
            place = places[index] if places else index
            text += data(f"$series{index}", points)
            plots.append(
                f"$series{index} using 1:2:3:4 with yerrorlines linewidth 1.5 "
                f"pointtype {MARKS[place]} pointsize 0.9 "
                f"linecolor rgb '{COLOURS[place]}' title {quoted(label)}")
        yield (f"-{number}" if len(parts) > 1 else "",
               text + ["plot " + ", ".join(plots)])


def stacked(heading, axis, parts, rows):
    """The gnuplot program of a stacked bar for each row: a name and parts."""
    crowded = sum(len(row[0]) for row in rows) > 90
    text = frame(heading, axis) + [
        "set yrange [0:*]",
        "set style data histograms",
        "set style histogram rowstacked",
        "set style fill solid border -1",
        "set boxwidth 0.5",
        "set xtics noenhanced" + (" rotate by -30" if crowded else ""),
        f"set grid ytics {GRID}",
    ] + data("$parts", rows)
    text.append("plot " + ", ".join(
        f"$parts using {column}:xtic(1) title {quoted(name)} "
        f"linecolor rgb '{colour}'"
        for column, (_, name, colour) in enumerate(parts, 2)))
    return text


def below(upper, lower):
    """The program of a picture of two panels; the upper one explains both."""
    return ["set multiplot layout 2,1", *upper, "reset", *lower[:-1],
            "unset title", "unset key", lower[-1], "unset multiplot"]


TERMINALS = {
    "svg": "svg size 900,{} font 'DejaVu Sans,13' background rgb 'white'",
    "png": "pngcairo size 900,{} font 'DejaVu Sans,11'"}
HEIGHT, HEIGHT_OF_TWO = 640, 960


def texts_of(program):
    """(title, names of the curves) of a program, for readers who do not see."""
    heading = next((json.loads(line.split(" ", 2)[2].rpartition(" ")[0])
                    for line in program if line.startswith("set title ")), "")
    labels = re.findall(r" title '((?:[^']|'')*)'", "\n".join(
        line for line in program if line.startswith("plot ")))
    return heading, "; ".join(dict.fromkeys(
        label.replace("''", "'") for label in labels))


def describe(path, program):
    """Gives a picture in SVG its title and description, by which programs that
    read pages aloud know it."""
    heading, labels = texts_of(program)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, said in (("title", heading), ("desc", labels)):
        before, start, rest = text.partition(f"<{name}>")
        _, end, after = rest.partition(f"</{name}>")
        if start and end:
            text = before + start + html.escape(said) + end + after
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def draw(path, drawings, formats):
    """Runs the programs. Returns the names of the pictures."""
    pictures = []
    for stem, text in drawings:
        for ending in formats:
            output = f"{stem}.{ending}"
            # a run that fails or is interrupted leaves no half of a picture
            partial = output + ".tmp"
            program = "\n".join([
                "set encoding utf8", "set terminal " + TERMINALS[ending].format(
                    HEIGHT_OF_TWO if "unset multiplot" in text else HEIGHT),
                f"set output {quoted(partial)}"] + text) + "\n"
            try:
                run = subprocess.run(["gnuplot"], input=program.encode(),
                                     capture_output=True, check=False)
                if run.returncode:
                    fail(f"{path}: gnuplot: {run.stderr.decode().strip()}", 1)
                if ending == "svg":
                    describe(partial, text)
                os.replace(partial, output)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(partial)
            pictures.append(output)
    return pictures
