# SPDX-License-Identifier: BSD-3-Clause
"""A rail fails: what the stream of dapl_rail does then, and those of UCX, Open
MPI, MPICH, Intel MPI and libfabric.

Hosts and rails are those of scripts/testbed, so it needs root. Each run is a
fresh launch of one library: rank 0 sends numbered messages to rank 1, which
checks each byte of them; then one of the rails that the library uses is cut
(both hosts see it), silent (what is sent to one host is lost, nobody is told),
flapping, slow (a tenth of the rate) or lossy, for --outage seconds. A run tells
whether the stream went on, waited (stood still for half of the fault or
longer), ended by an error or hung; how long it stood still; and whether
messages were lost, doubled or wrong. Which rail, which host and when is drawn
from the seed: the same for each library. Libraries take turns. Every wait is
bounded: a stream that has not ended 12 s after the fault, and 1.1 times as long
as it lasted, has hung.

DIR (default results/degrade-any-<date>; an existing one is never touched: -2,
-3 ... is appended) gets degrade-any.md (the table, settings, versions),
degrade-any.json.gz (each run) and degrade-any.svg. They are written again and
again: an interrupted script keeps what is there, marked as not complete;
--continue goes on with it. What is not installed is named and left out (make
deps-peers peers).
"""
import argparse
import json
import os
import re
import sys
import time

from railtools.degrade_any import faults, report
from railtools.degrade_any.beds import STEM, Runs, make
from railtools.degrade_any.libraries import KEYS, LIBRARIES
from railtools.degrade_any.run import work
from railtools.files import claim, leave
from railtools.options import (
    Parser,
    chosen_of,
    draw,
    minutes,
    parse_size,
    whole,
    wrong,
)
from railtools.paths import NAME, RAILBENCH, ROOT
from railtools.peers import usable
from railtools.programs import run
from railtools.results import Unreadable, load

# --------------------------------------------------------------- options ---

def outage(text):
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3})?", text) or \
            not 0.5 <= float(text) <= 300:
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: seconds from 0.5 to 300")
    return float(text)


def message(text):
    size = parse_size(text)
    if not 1 << 10 <= size <= 1 << 20:
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: bytes from 1K to 1M")
    return size


def options():
    parser = Parser(prog="scripts/degrade-any", description=__doc__)

    def add(name, kind, default, metavar, text):
        parser.add_argument(name, metavar=metavar, type=kind, default=default,
                            help=f"{text} (default %(default)s)")
    add("--faults", whole(1, 1000), 3, "N",
        "of each kind; 100 take hours")
    add("--seed", whole(0, 10 ** 9 - 1), 1, "S", "of the faults")
    add("--kinds", chosen_of(faults.KINDS), ",".join(faults.KINDS), "K,...",
        "of faults")
    add("--libraries", chosen_of(KEYS), ",".join(KEYS), "L,...",
        "that are measured")
    add("--rate", whole(10, 10000), 200, "MBIT", "of a rail")
    add("--outage", outage, "3", "S", "that a fault lasts")
    add("--bytes", message, "256K", "B", "of a message; K, M: powers of 1024")
    add("--window", whole(1, 256), 8, "N", "messages under way")
    add("--jobs", whole(1, 16), 1, "J", "testbeds at a time, each with hosts "
        "and rails of its own")
    parser.add_argument("--time", metavar="MINUTES", type=minutes,
                        help="no run begins after that")
    parser.add_argument("--continue", dest="goes_on", action="store_true",
                        help="with the result in DIR, of the same options")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("dir", metavar="DIR", nargs="?", default=os.path.join(
        ROOT, "results", f"degrade-any-{time.strftime('%Y-%m-%d')}"),
        help="where to put the result")
    return parser.parse_args()


def choose(args):
    """(libraries that can run, remarks on those that can't)."""
    libraries, remarks = usable(kind() for kind in LIBRARIES
                                if kind.key in args.libraries)
    if not libraries:
        wrong(f"--libraries: '{','.join(args.libraries)}' is wrong; allowed: "
              "what is installed (make deps-peers peers)")
    return libraries, remarks


def command(args):
    """What makes this result, but for DIR."""
    words = ["scripts/degrade-any"]
    for name in ("faults", "seed", "kinds", "libraries", "rate", "outage",
                 "bytes", "window", "jobs"):
        value = getattr(args, name)
        words += [f"--{name}", ",".join(value) if isinstance(value, list)
                  else f"{value:.10g}"]
    return words


# ----------------------------------------------------------------- result ---

def machine():
    """What railbench says of itself and of this machine."""
    return json.loads(run([RAILBENCH, "lat", "--sizes", "8", "--repeat", "1",
                           "--iterations", "10", "--format", "json"]))


def what_is_measured(record):
    """More faults, and more testbeds at a time, change nothing in it."""
    return ({name: value for name, value in record["options"].items()
             if name not in ("jobs", "faults")},
            [setup["key"] for setup in record["configurations"]])


def begun(args, libraries, remarks):
    """(folder, record): new, or of --continue."""
    record = report.record_of(args, libraries, machine(), command(args),
                              remarks)
    if not args.goes_on:
        return claim(args.dir), record
    path = os.path.join(args.dir, f"{STEM}.json.gz")
    try:
        old = load(path)
    except Unreadable as error:
        wrong(f"DIR: {error}; allowed: a folder with a result")
    if not old or old["test"] != report.TEST or \
            what_is_measured(old) != what_is_measured(record):
        wrong(f"--continue: '{args.dir}' is wrong; allowed: the result of a "
              "run with the same options and libraries")
    for name in ("options", "command", "date"):
        old[name] = record[name]
    old["failed"] = []
    return args.dir, old


def main():
    args = options()
    if args.work:
        return work(args.rate)
    if os.geteuid():
        wrong("it needs root: scripts/testbed makes hosts")
    libraries, remarks = choose(args)
    folder, record = begun(args, libraries, remarks)
    runs = Runs(args, record, folder)
    interrupted = False
    try:
        make(runs)
    except KeyboardInterrupt:
        interrupted = True
    if record["results"] or record["failed"]:
        runs.write()
        draw(folder)
        print(report.text(record))
        print(f"results: {folder}", flush=True)
    leave(folder)
    if interrupted or runs.why:
        print(f"{NAME}: {runs.why or 'interrupted'}; runs that are complete: "
              f"{len(record['results'])}", file=sys.stderr)
    return int(bool(interrupted or runs.why or record["failed"]))


