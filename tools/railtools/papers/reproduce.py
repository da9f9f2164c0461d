# SPDX-License-Identifier: BSD-3-Clause
"""Predicts the papers' evaluations on the clusters that they describe, in
virtual time, and compares: all figures, and a table of what they say.

DIR gets table.md and table.csv (a row for each number
or winner: the paper's, the predicted one, how far off, what our best choice
reaches, the commands), figures.csv and figures.json.gz (all points of all
figures), a picture of each, and sensitivity.csv (the headline numbers at both
ends of what the platform files leave open). The same input gives the same
output, to the bit, as long as no run reaches a limit of memory or time;
docs/papers.md says how to read it.

Runs are kept in build/papers and not repeated as long as program, platform and
options are the same: who interrupts it goes on where it was. What has failed is
listed below the table; exit status 1.
"""
import argparse
import contextlib
import glob
import json
import os
import shutil
import sys

from railtools.files import csv_text, replace
from railtools.options import Parser, draw, wrong
from railtools.papers import (
    applications,
    predicted,
    present,
    scale,
    sensitivity,
)
from railtools.papers import figures as papers
from railtools.papers.simulated import KEPT, Runner
from railtools.paths import RAILBENCH, ROOT
from railtools.programs import run
from railtools.results import SCHEMA

# ----------------------------------------------------------------- output ---

def number(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:.4g}"


class Commands:
    """Numbers for commands, in the order in which they are asked for."""

    def __init__(self):
        self.numbers = {}

    def of(self, runs):
        """Of the runs of a row: a text that names them."""
        lines = sorted(" ".join(run.command("railbench")) for run in runs)
        for line in lines:
            self.numbers.setdefault(line, len(self.numbers) + 1)
        return " ".join(str(self.numbers[line]) for line in lines)


HEAD = ("row", "seed", "platform", "what", "paper", "predicted", "deviation",
        "same winner", "over open ranges", "ours", "detail", "commands")


def missing(row, results):
    count = len(row.needed_runs() - set(results))
    return f"{count} of its {len(row.needed_runs())} runs failed" if count else ""


def table(rows, found, ranges, results):
    """(lines, commands) of the table."""
    commands, lines = Commands(), []
    for row in rows:
        said = found[row.name]
        lines.append([
            row.name, row.seed, next(iter(row.needed_runs())).platform, row.what,
            row.paper_text(), number(said.predicted),
            "" if said.deviation is None else f"{said.deviation:+.0%}",
            number(said.same), ranges.get(row.name, ""),
            number(said.ours) + (" (behind)" if said.behind else ""),
            "; ".join(filter(None, (said.detail, missing(row, results)))),
            commands.of(row.needed_runs())])
    return lines, commands


def markdown(rows, figures, found, told, failed):
    lines, commands = told
    text = ["# The papers' evaluations, predicted", "",
            "Written by `make reproduce`; [docs/papers.md]"
            "(../../docs/papers.md) says how to read it. All figures are from "
            "virtual time on the described clusters, none is measured.", ""]
    text += predicted.summary(rows, found)
    text += ["", "| " + " | ".join(HEAD) + " |",
             "|" + "---|" * len(HEAD)]
    text += ["| " + " | ".join(cell.replace("|", "\\|") for cell in line)
             + " |" for line in lines]
    notes = [(row.name, row.note) for row in rows if row.note]
    if notes:
        text += ["", "## Why it is off"]
        text += [f"- **{name}**: {note}" for name, note in notes]
    less = [(figure.name, figure.note) for figure in figures
            if getattr(figure, "note", "")]
    if less:
        text += ["", "## What figures leave out"]
        text += [f"- **{name}**: {note}" for name, note in less]
    text += ["", "## Commands", ""]
    text += [f"{count}. `{line}`"
             for line, count in commands.numbers.items()]
    if failed:
        text += ["", "## Failed", ""]
        text += [f"- {line}" for line in failed]
    return "\n".join(text) + "\n"


def write(folder, name, text):
    replace(os.path.join(folder, name), text)


def write_maps(folder, maps, results):
    """The data of the maps, and what figures.json.gz holds of them."""
    cells = [(one, one.cells(results)) for one in maps]
    cells = [(one, found) for one, found in cells if found]
    if cells:
        write(folder, "maps.csv", csv_text([
            ("map", "bytes", "ranks", "algorithm", "latency_us"),
            *((one.name, *cell[:3], f"{cell[3]:.9g}")
              for one, found in cells for cell in found)]))
    else:
        gone(folder, "maps.csv")
    return [{"name": one.name, "caption": titled(one), "cells": found}
            for one, found in cells]


def gone(folder, name):
    """A file of an earlier run that this one has not."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(folder, name))


def titled(figure):
    return "\n".join(filter(None, (figure.caption, figure.note)))


def write_figures(folder, everything, results):
    maps = write_maps(folder, [one for one in everything
                               if isinstance(one, predicted.Map)], results)
    bars = [(one, one.drawn(results)) for one in everything
            if isinstance(one, predicted.Bars)]
    bars = [(one, drawn) for one, drawn in bars if drawn]
    drawn = [(figure, figure.drawn(results)) for figure in everything
             if isinstance(figure, predicted.Figure)]
    drawn = [(figure, lines) for figure, lines in drawn if lines]
    write(folder, "figures.csv", csv_text([
        ("figure", "curve", "x", "y", "axis"),
        *((figure.name, label, x, f"{y:.9g}", figure.axis)
          for figure, lines in drawn for label, line in lines
          for x, y in line),
        *((one.name, f"{label}, {part}", one.x, f"{y:.9g}", one.axis)
          for one, several in bars for label, parts in several
          for part, y in parts.items())]))
    write(folder, "figures.json.gz", json.dumps({
        "schema": SCHEMA, "test": "papers", "results": [],
        "maps": maps, "bars": [{
            "name": one.name, "caption": one.caption, "axis": one.axis,
            "bars": several} for one, several in bars], "figures": [{
            "name": figure.name, "caption": titled(figure),
            "axis": figure.axis, "unit": figure.unit, "log": figure.log,
            "curves": lines} for figure, lines in drawn]},
        ensure_ascii=False, indent=1) + "\n")
    names = {one["name"] for one in maps} | {
        one.name for one, _ in bars + drawn}
    for path in glob.glob(os.path.join(glob.escape(folder), "figures-*.*")):
        stem, ending = os.path.splitext(os.path.basename(path))
        if ending in (".png", ".svg") and \
                stem.removeprefix("figures-") not in names:
            gone(folder, os.path.basename(path))


# ---------------------------------------------------------------- options ---

def options():
    parser = Parser(prog="scripts/reproduce", description=__doc__)
    parser.add_argument("--only", metavar="ROWS", help="only these rows and "
                        "figures: names or their beginnings, with commas "
                        "between (as 002 or 000-gather)")
    parser.add_argument("--list", action="store_true",
                        help="print the names of all rows and figures")
    parser.add_argument("--jobs", metavar="N", type=jobs,
                        default=len(os.sched_getaffinity(0)),
                        help="runs at a time (default: one a core)")
    parser.add_argument("--ranks", metavar="N", type=ranks,
                        help="most ranks of the figures of scale, up to 4096 "
                        f"(default {scale.DEFAULT_HOLLOW}, or "
                        f"{scale.DEFAULT} of a railbench without "
                        f"{scale.HOLLOW}); of direct algorithms "
                        f"{scale.MOST_DIRECT} (default "
                        f"{scale.DEFAULT_DIRECT})")
    parser.add_argument("--no-sensitivity", action="store_true",
                        help="leave out what the platform files leave open")
    parser.add_argument("dir", metavar="DIR", nargs="?",
                        help="default: results/papers; of some rows only, "
                             "build/papers/only")
    args = parser.parse_args()
    args.dir = args.dir or os.path.join(ROOT, *(
        (KEPT, "only") if args.only else ("results", "papers")))
    return args


def ranks(text):
    if text not in map(str, scale.SHAPES):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: "
            + ", ".join(map(str, scale.SHAPES)))
    return int(text)


def jobs(text):
    if not text.isdigit() or not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a number from 1 to 256")
    return int(text)


def chosen(everything, only):
    if only is None:
        return everything
    for word in only.split(","):
        if not word or not any(one.name.startswith(word)
                               for one in everything):
            wrong(f"--only: '{word}' is wrong; allowed: the beginning of a "
                  "name that --list prints")
    return [one for one in everything
            if one.name.startswith(tuple(only.split(",")))]


def hollow():
    """Can this railbench leave payload out?"""
    return scale.HOLLOW in run([RAILBENCH, "allgather", "--help"])


def outcome(rows, results, runner, why, sensitive):
    """({name: Found}, lines of sensitivity)."""
    lines = sensitivity.lines(
        [row for row in rows if isinstance(
            row, (predicted.Factor, predicted.Winner))],
        results, runner, why) if sensitive else []
    return {row.name: found(row, results) for row in rows}, lines


def found(row, results):
    """Nothing of what has only some of its runs: the best of those may be
    another than the best of all."""
    return predicted.Found() if missing(row, results) else row.found(results)


def write_sensitivity(folder, lines):
    if lines:
        write(folder, "sensitivity.csv", csv_text([
            ("row", "key", "value", "predicted"),
            *((one.row.name, one.key, one.end, one.value
               if isinstance(one.value, str) else f"{one.value:.6g}")
              for one in lines)]))
    else:
        gone(folder, "sensitivity.csv")


def draw_figures(folder):
    if not shutil.which("gnuplot"):
        print(f"{os.path.join('scripts', 'reproduce')}: no pictures: gnuplot "
              "is not installed (make deps)", file=sys.stderr)
        return 1
    return draw(folder)


def main():
    args = options()
    built = os.path.exists(os.path.join(ROOT, RAILBENCH))
    rows = papers.rows() + list(applications.rows()) + list(present.rows())
    figures = papers.figures() + list(applications.figures()) + list(
        scale.figures(args.ranks, built and hollow()))
    everything = chosen(rows + figures, args.only)
    if args.list:
        print("\n".join(one.name for one in everything))
        return 0
    if not built:
        wrong(f"no {RAILBENCH} (make)")
    rows = [row for row in rows if row in everything]
    figures = [figure for figure in figures if figure in everything]
    runner = Runner(args.jobs)
    why: dict = {}
    results = runner.all({one: (one, ()) for wanted in everything
                          for one in wanted.needed_runs()}, why, "predictions")
    if results:
        said, lines = outcome(rows, results, runner, why,
                              not args.no_sensitivity)
    failed = sorted(set(why.values()))
    for line in failed:
        print(f"scripts/reproduce: {line}", file=sys.stderr)
    if not results:
        print("scripts/reproduce: all runs have failed: nothing is written",
              file=sys.stderr)
        return 1
    os.makedirs(args.dir, exist_ok=True)
    told = table(rows, said, sensitivity.spread(lines), results)
    write(args.dir, "table.csv", csv_text([HEAD, *told[0]]))
    write(args.dir, "table.md", markdown(rows, figures, said, told, failed))
    write_sensitivity(args.dir, lines)
    write_figures(args.dir, figures, results)
    print("\n".join(predicted.summary(rows, said)))
    print(f"results: {args.dir}", flush=True)
    drawn = draw_figures(args.dir) if figures else 0
    return 1 if failed or any(said[row.name].predicted is None
                              for row in rows) else drawn
