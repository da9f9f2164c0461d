# SPDX-License-Identifier: BSD-3-Clause
"""Measures and draws k-memcpy, of figure 2 of Qian and Afsahi 2008, on this
machine: what a copy takes while k ranks of a node copy at once. Beside it the
same is simulated, on a node as scripts/calibrate has described this machine; it
has no more ranks than cores.

Each round launches railbench memcpy once for each k, beginning with another one
each time. Figures are medians over the rounds with their non-parametric 95 %
confidence interval.

DIR (default results/<host>-<date>-memcpy; an existing one is never touched: -2,
-3 ... is appended) gets memcpy.txt (table, commands), memcpy.csv, memcpy.json.gz
and the picture.
"""
import json
import os
import platform
import shlex
import time

from railtools.files import claim, csv_text, hide, leave, replace
from railtools.options import Parser, count, draw, progress, size_name, wrong
from railtools.paths import RAILBENCH, ROOT
from railtools.programs import run
from railtools.results import SCHEMA
from railtools.rounds import few_rounds, in_turn, median_interval

RANKS = (1, 2, 3, 4)  # as the paper: its nodes have four processors
SIZES = "4:256K"
CAPTION = ("Copies at once on one node, as k-memcpy in figure 2 of Qian and "
           "Afsahi 2008")


def launched(ranks, *options):
    return [RAILBENCH, "memcpy", "--ranks", str(ranks), "--ppn", str(ranks),
            "--sizes", SIZES, "--repeat", "1", *options]


def times(command, commands):
    """({bytes: µs}, railbench's result) of a launch."""
    commands[shlex.join(command)] = None  # a set in order
    result = json.loads(run([*command, "--format", "json"]))
    return {row["bytes"]: row["collective"]["latency_us"]["median"]
            for row in result["results"]}, result


def measure(repeat, commands):
    """({(k, bytes): [µs of each round]}, the last result)"""
    found: dict = {}
    for number in range(repeat):
        for ranks in in_turn(RANKS, number):
            progress(f"round {number + 1} of {repeat}: {ranks} ranks")
            line, result = times(launched(ranks), commands)
            for size, us in line.items():
                found.setdefault((ranks, size), []).append(us)
    progress("")
    return found, result


def simulate(path, cores, commands):
    """{(k, bytes): [µs]}, of as many ranks as there are cores."""
    return {(ranks, size): [us] for ranks in RANKS if ranks <= cores
            for size, us in times(launched(
                ranks, "--rails", f"sim:{path}", "--warmup", "1",
                "--iterations", "3"), commands)[0].items()}


# --------------------------------------------------------------- results ---

def rows(both):
    """[(origin, k, bytes, (median, lo, hi))] of {origin: {(k, bytes): [µs]}}"""
    return [(origin, ranks, size, median_interval(values))
            for origin, found in both.items()
            for (ranks, size), values in sorted(found.items())]


def csv_of(both):
    return csv_text([["origin", "copies", "bytes", "latency_us",
                      "latency_us_lo", "latency_us_hi"], *(
        [origin, ranks, size, *(f"{us:.6g}" for us in interval)]
        for origin, ranks, size, interval in rows(both))])


def curves(both):
    """{label: {bytes: µs}}"""
    lines: dict = {}
    for origin, ranks, size, (us, *_) in rows(both):
        lines.setdefault(f"{ranks}-memcpy, {origin}", {})[size] = us
    return lines


def table(both):
    lines = curves(both)
    sizes = sorted({size for line in lines.values() for size in line})
    yield f"{'bytes':>6}" + "".join(f"  {label:>19}" for label in lines)
    for size in sizes:
        yield f"{size_name(size):>6}" + "".join(
            f"  {line[size]:19.4g}" for line in lines.values())


def report(both, result, args, commands):
    machine = result["machine"]
    cores = machine["allowed_threads"]
    lines = [f"{CAPTION}, {result['date'][:10]}",
             f"{machine['host']}: {machine['cpu']}, {machine['kernel']}, "
             f"{cores} cores; railbench {result['version']} "
             f"({result['revision']})",
             f"µs of a copy, of the slowest rank; medians of {args.repeat} "
             f"rounds (memcpy.csv has their intervals). More than {cores} "
             "ranks share the cores."]
    return "\n".join([*lines, *few_rounds(args.repeat), "", *table(both), "",
                      "Commands", *(f"    {command}" for command in commands)
                      ]) + "\n"


def json_of(both):
    """For scripts/plot, in the form of scripts/reproduce."""
    return json.dumps({
        "schema": SCHEMA, "test": "papers", "results": [],
        "origin": "measured on this machine, and simulated as it was "
                  "calibrated", "maps": [], "bars": [], "figures": [{
            "name": "000-2", "caption": CAPTION, "axis": "Time (µs)",
            "unit": "Message size (bytes)", "log": True,
            "curves": [(label, sorted(line.items()))
                       for label, line in curves(both).items()]}]},
        ensure_ascii=False, indent=1) + "\n"


# --------------------------------------------------------------- options ---

def options():
    parser = Parser(prog="scripts/memcpy-figure", description=__doc__)
    parser.add_argument("--repeat", metavar="R", type=count, default=10,
                        help="rounds (default %(default)s)")
    parser.add_argument("--platform", metavar="FILE", type=os.path.abspath,
                        help="of scripts/calibrate (default: nothing is "
                             "simulated)")
    parser.add_argument("dir", metavar="DIR", nargs="?", default=os.path.join(
        ROOT, "results",
        f"{platform.node()}-{time.strftime('%Y-%m-%d')}-memcpy"),
        help="where to put the result")
    return parser.parse_args()


def main():
    args = options()
    if not os.path.exists(os.path.join(ROOT, RAILBENCH)):
        wrong(f"no {RAILBENCH} (make)")
    folder = claim(args.dir)
    commands: dict = {}
    try:
        measured, result = measure(args.repeat, commands)
        simulated = simulate(args.platform,
                             result["machine"]["allowed_threads"],
                             commands) if args.platform else {}
        both = {"measured": measured, "simulated": simulated}
        paths = {args.platform: os.path.basename(args.platform)
                 } if args.platform else {}
        text = hide(report(both, result, args, commands), paths)
        for name, content in (("txt", text), ("csv", csv_of(both)),
                              ("json.gz", json_of(both))):
            replace(os.path.join(folder, f"memcpy.{name}"), content)
    finally:
        leave(folder)
    print(text)
    print(f"results: {folder}", flush=True)
    return draw(folder)
