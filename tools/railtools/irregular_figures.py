# SPDX-License-Identifier: BSD-3-Clause
"""Measures and draws figures 15 to 23 of Liu et al. 2002: irregular all-to-all by
algorithms A1 to A4, blocking and not (-n1, -n2), with elements of 48 and of 22
bytes, by its patterns spike (one spike) and transpose (2D array transpose):

  15, 17  A4 beside A1 and A2 over the number of ranks, at most 1024 elements
  16, 18  ... over the most elements from a rank to another, with P ranks
  19, 21  A4 beside A3, up to 1024 elements
  20, 22  ... from 1024 on: where the time goes
  23      A4-n2 beside A3-n1, 4096 elements, over the number of ranks

15, 16, 19 and 20 are of 48 bytes, the others of 22. All algorithms of a figure
are measured in the same run of railbench alltoallv, in turn.

The result is written after each run: an interrupted script keeps the complete
runs.

DIR (default results/<host>-<date>-irregular; an existing one is never touched:
-2, -3 ... is appended) gets figures.txt (tables, exact commands), figures.csv,
figures.json.gz, and a picture of each figure.
"""
import argparse
import json
import os
import platform
import sys
import time

from railtools import irregular
from railtools.files import claim, csv_text, leave, replace
from railtools.options import Parser, draw, progress, size_name, wrong
from railtools.paths import RAILBENCH, ROOT
from railtools.programs import Failure, run
from railtools.results import SCHEMA

RUN_LIMIT_S = 600


def measure(where, what, quick):
    """Runs railbench and returns its result. It takes about a second for each
    point."""
    (ranks, element, pattern), (algorithms, sizes) = where, what
    repeats = ["--repeat", "1", "--iterations", "10"] if quick else [
        "--time-budget", str(len(algorithms) * len(sizes))]
    return json.loads(run(
        [RAILBENCH, "alltoallv", "--ranks", str(ranks), "--engine", "single",
         "--pattern", pattern, "--element", str(element),
         "--elements", ",".join(map(str, sizes)),
         "--algorithm", ",".join(algorithms), "--start", "barrier", *repeats,
         "--format", "json"], RUN_LIMIT_S))


def add(result, found):
    """A run. The first one also tells what was measured, and where."""
    for name in ("version", "revision", "date", "machine"):
        result.setdefault(name, found[name])
    result["runs"].append(found)


# --------------------------------------------------------------- results ---

def least_repeats(result):
    """Of what was repeated least."""
    return min(row["collective"]["latency_us"]["repeats"]
               for run in result["runs"] for row in run["results"])


def table(figure, result):
    """Of a figure, as lines of text."""
    columns = list(irregular.PARTS.values())
    if figure.over == irregular.TIMES:
        lines = ["µs, mean over ranks",
                 f"{'elem.':>6}  {'':<8}" + "".join(
                     f"  {name:>20}" for name in columns)]
        return lines + [
            f"{size_name(elements):>6}  {algorithm:<8}" + "".join(
                f"  {us:20.2f}" for us in parts)
            for elements, algorithm, parts in irregular.bars(figure, result)]
    curves = irregular.curves(figure, result)
    rows: dict = {}
    for algorithm, curve in curves:
        for x, *times in curve:
            rows.setdefault(x, {})[algorithm] = times
    what = "ranks" if figure.over == irregular.RANKS else "elem."
    lines = ["µs of the slowest rank, median [95 % interval]",
             f"{what:>6}" + "".join(f"  {name:>31}" for name, _ in curves)]
    for x, row in sorted(rows.items()):
        lines.append(f"{size_name(x):>6}" + "".join(
            "  {:9.1f} [{:9.1f},{:9.1f}]".format(*row[name]) if name in row
            else f"  {'-':>31}" for name, _ in curves))
    return lines


def report(result, failed):
    machine = result["machine"]
    lines = ["Irregular all-to-all, as figures 15 to 23 of Liu et al. 2002, "
             f"{result['date'][:10]}",
             f"{machine['host']}: {machine['cpu']}, {machine['kernel']}, "
             f"{machine['allowed_threads']} cores; railbench "
             f"{result['version']} ({result['revision']})"]
    lines += sorted({note for run in result["runs"] for note in run["notes"]})
    least = least_repeats(result)
    if least < 6:
        lines.append(f"Fewer than 6 repetitions (at least {least} of each "
                     "point): intervals hold less than 95 %.")
    for figure in irregular.FIGURES:
        lines += ["", irregular.caption(figure, result)]
        lines += table(figure, result)
    lines += ["", "Commands"]
    lines += ["    " + " ".join(run["command"]) for run in result["runs"]]
    return "\n".join(lines + failed) + "\n"


def csv_of(result):
    rows: list = [["figure", "ranks", "element", "pattern", "algorithm",
                   "elements", "latency_us", "latency_us_lo", "latency_us_hi",
                   *irregular.PARTS]]
    for figure in irregular.FIGURES:
        for ranks, algorithm, row in irregular.points(figure, result):
            us = row["collective"]["latency_us"]
            figures = [us["median"], us["lo"], us["hi"],
                       *(row["parts"][part] for part in irregular.PARTS)]
            rows.append([figure.name, ranks, figure.element, figure.pattern,
                         algorithm, row["elements"],
                         *(f"{figure:.6g}" for figure in figures)])
    return csv_text(rows)


def write(folder, result, failed):
    text = report(result, failed)
    for name, content in (("txt", text), ("csv", csv_of(result)),
                          ("json.gz", json.dumps(result) + "\n")):
        replace(os.path.join(folder, f"figures.{name}"), content)
    return text


# --------------------------------------------------------------- options ---

def square(text):
    if text not in [str(n * n) for n in range(2, 9)]:
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a square from 4 to 64")
    return int(text)


def options():
    parser = Parser(prog="scripts/irregular-figures", description=__doc__)
    parser.add_argument("--ranks", metavar="P", type=square, default="64",
                        help="a square from 4 to 64 (default 64, as the "
                             "paper); figure 23 takes squares from 0.4 P to "
                             "1.6 P")
    parser.add_argument("--quick", action="store_true",
                        help="one repetition of ten calls each: a rough "
                             "picture")
    parser.add_argument("dir", metavar="DIR", nargs="?", default=os.path.join(
        ROOT, "results",
        f"{platform.node()}-{time.strftime('%Y-%m-%d')}-irregular"),
        help="where to put the result")
    return parser.parse_args()


def go(folder, result, args):
    """All runs. @return why some have failed."""
    failed, runs = [], irregular.measurements(args.ranks)
    for number, (where, what) in enumerate(runs.items()):
        name = "{} ranks, elements of {} bytes, {}".format(*where)
        progress(f"run {number + 1} of {len(runs)}: {name}")
        begin = time.monotonic()
        try:
            add(result, measure(where, what, args.quick))
        except (Failure, KeyError, ValueError, OSError) as error:
            failed.append(f"{name}: failed: {error or repr(error)}")
        progress("")
        print(f"run {number + 1} of {len(runs)}: {name}: "
              f"{time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
        if result["runs"]:
            write(folder, result, failed)
    return failed


def main():
    args = options()
    if not os.path.exists(os.path.join(ROOT, RAILBENCH)):
        wrong(f"no {RAILBENCH} (make)")
    folder = claim(args.dir)
    result = {"schema": SCHEMA, "test": irregular.TEST,
              "ranks": args.ranks, "runs": []}
    try:
        failed = go(folder, result, args)
    finally:
        leave(folder)
    for line in failed:
        print(f"scripts/irregular-figures: {line}", file=sys.stderr)
    if not result["runs"]:
        return 1
    print(report(result, failed))
    print(f"results: {folder}", flush=True)
    drawn = draw(folder)
    return 1 if failed else drawn
