# SPDX-License-Identifier: BSD-3-Clause
"""Measures what a machine is judged by, and makes one report of it: the rails,
bandwidth, latency, where the time goes, what the memory can do at best, and
collectives, with each test of railbench that there is.

The report, DIR/report.html, needs nothing else: pictures are in it. Beside it
lie text, CSV, JSON and pictures of each step. A step that fails is named in the
report, the others go on, and the exit status is 1.
"""
import argparse
import datetime
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

from railtools.files import claim, replace
from railtools.options import Parser, count, progress
from railtools.programs import stop
from railtools.report import report

HERE = os.path.dirname(os.path.realpath(sys.argv[0]))  # plot is there, too

# Steps by what they are given: quick ones' sizes, as a rough picture needs.
PAIR = ("bw", "bibw", "lat", "get", "send", "atomic", "breakdown")
COLLECTIVES = ("gather", "allgather", "alltoall", "bcast", "scatter",
               "reduce", "allreduce", "reduce_scatter_block", "scan",
               "exscan", "barrier")
SHORT = {"bw": "8,4K,64K,1M", "bibw": "8,4K,64K,1M", "lat": "8,512,4K",
         "get": "8,4K,64K,1M", "send": "8,4K,64K,1M",
         "limits": "4K,64K,1M"} | dict.fromkeys(COLLECTIVES[:-1], "8,4K,64K")
RAILS = "railinfo"
STEPS = (RAILS, *PAIR, "limits", *COLLECTIVES)
LIMIT_S, LIMIT_QUICK_S = 1200, 300  # for one step
REPEATS, ITERATIONS = 8, 20  # of a quick one


class Step:
    """A program, its arguments, and its outcome."""

    def __init__(self, name, args):
        self.name, self.why, self.seconds, self.text = name, None, 0.0, ""
        self.changes = ""  # against an earlier run
        self.command = [RAILS] if name == RAILS else [
            "railbench", name, *self.options(args), "--save",
            f"{name}.json,{name}.csv,{name}.txt"]

    def options(self, args):
        rails = ["--rails", args.rails] if args.rails else []
        if self.name == "limits":  # of the machine, not of rails
            rails = []
        elif self.name in COLLECTIVES:
            rails += ["--ranks", str(args.ranks), "--algorithm", "auto"]
        if not args.quick:
            return rails
        if self.name in SHORT:
            rails += ["--sizes", SHORT[self.name]]
        if self.name != "limits":
            rails += ["--iterations", str(ITERATIONS)]
        return rails + ["--repeat", str(REPEATS)]

    def run(self, args, folder):
        """Never raises for what the program does."""
        begin = time.monotonic()
        limit = LIMIT_QUICK_S if args.quick else LIMIT_S
        try:
            # by its name, and in the folder: commands tell no path from here
            process = subprocess.Popen(
                self.command, cwd=folder, text=True, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace",
                executable=os.path.join(args.bin, self.command[0]),
                start_new_session=True)
        except OSError as error:
            self.why = f"can't be started: {error.strerror}"
            return
        try:
            self.text, said = process.communicate(timeout=limit)
            if process.returncode:
                last = said.strip().splitlines()[-1:]
                self.why = (f"exit status {process.returncode}"
                            + "".join(f": {line}" for line in last))
        except subprocess.TimeoutExpired:
            self.why = f"no end within {limit} s"
        except KeyboardInterrupt:
            self.why = "interrupted"
            raise
        finally:
            stop(process)
            self.seconds = time.monotonic() - begin
        if self.name == RAILS:
            replace(os.path.join(folder, RAILS + ".txt"), self.text)
        elif not self.why and self.result(folder) is None:
            self.why = "it left no result"

    def result(self, folder):
        try:
            with open(os.path.join(folder, self.name + ".json"),
                      encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def compare(self, args, folder):
        """With the same step of an earlier run, if both have a result."""
        old = os.path.join(args.compare, self.name + ".json")
        if self.name == RAILS or self.why or not os.path.exists(old):
            return
        said = subprocess.run(
            [os.path.join(args.bin, "railbench"), "diff", old,
             os.path.join(folder, self.name + ".json")], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
        self.changes = said.stdout.replace(
            args.compare, os.path.basename(args.compare)).replace(
                folder, os.path.basename(folder))

    def told(self):
        """Its command, as a user types it."""
        return shlex.join(self.command)


# ---------------------------------------------------------------- pictures ---

def picture(path):
    """@return why it can't be drawn, or None. When this is interrupted, the
    program is ended politely: it takes away what is half drawn."""
    process = subprocess.Popen(
        [os.path.join(HERE, "plot"), "--quiet", "--kind", "curves,cdf,speedup",
         path], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, start_new_session=True)
    try:
        error = process.communicate()[1]
    finally:
        stop(process)
    if process.returncode:
        return (error.strip().splitlines() or ["no reason given"])[-1]
    return None


def draw(folder, steps):
    """@return why there are none, or None."""
    paths = [os.path.join(folder, step.name + ".json") for step in steps
             if step.name != RAILS and not step.why]
    if not paths:
        return None
    if not shutil.which("gnuplot"):
        return "gnuplot is not installed"
    for number, path in enumerate(paths, 1):
        progress(f"pictures: {number} of {len(paths)}: "
                 f"{os.path.basename(path)}")
        why = picture(path)
        progress("")
        if why:
            return why
    return None


# ----------------------------------------------------------------- options ---

def step_list(text):
    found = text.split(",")
    if not set(found) <= set(STEPS):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of {', '.join(STEPS)}")
    return found


def options():
    parser = Parser(prog="railbench suite", description=__doc__)
    parser.add_argument("--output", metavar="DIR", default=(
        f"{platform.node()}-{time.strftime('%Y-%m-%d')}-suite"),
        help="new folder for the report (default <host>-<date>-suite); of one "
             "that exists nothing is touched: -2, -3 ... is appended")
    parser.add_argument("--quick", action="store_true",
                        help="a rough picture in seconds; otherwise a step "
                             "takes up to a minute or more")
    parser.add_argument("--rails", metavar="A,B,...",
                        help="as of the tests (default: theirs)")
    parser.add_argument("--ranks", metavar="N", type=count, default=4,
                        help="of the collectives (default 4)")
    parser.add_argument("--steps", metavar="S,...", type=step_list,
                        help=f"only these of {', '.join(STEPS)} (default: "
                             "those that railbench has)")
    parser.add_argument("--compare", metavar="DIR", type=os.path.abspath,
                        help="an earlier run's folder: the report tells what "
                             "has changed")
    parser.add_argument("--bin", metavar="DIR", type=os.path.abspath,
                        default=os.path.join(os.path.dirname(HERE), "build",
                                             "bin"),
                        help="where railbench and railinfo are (default: "
                             "those of the build tree)")
    args = parser.parse_args()
    if args.compare and not os.path.isdir(args.compare):
        parser.error(f"--compare: '{args.compare}' is wrong; allowed: the "
                     "folder of an earlier run")
    # without what railbench adds when it starts this
    given = sys.argv[1:]
    if "--bin" in given:
        at = given.index("--bin")
        del given[at:at + 2]
    args.told = shlex.join(["railbench", "suite", *given])
    return args


def there(args):
    """The tests that this railbench has."""
    try:
        said = subprocess.run([os.path.join(args.bin, "railbench"), "--help"],
                              check=True, capture_output=True, text=True,
                              timeout=30).stdout
    except (OSError, subprocess.SubprocessError) as error:
        print(f"railbench suite: --bin: no railbench that runs: {error}",
              file=sys.stderr)
        sys.exit(2)
    return {RAILS, *re.findall(r"^  (\S+)", said, re.M)}


def main():
    args = options()
    known = there(args)
    steps = [Step(name, args) for name in args.steps or
             [name for name in STEPS if name in known]]
    folder = os.path.abspath(claim(args.output))
    date = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    interrupted, undrawn = False, None
    try:
        for number, step in enumerate(steps, 1):
            progress(f"{number} of {len(steps)}: {step.name}")
            step.run(args, folder)
            progress("")
            print(f"{number} of {len(steps)}: {step.name}: "
                  f"{step.why or 'done'}, {step.seconds:.0f} s",
                  file=sys.stderr, flush=True)
        for step in steps if args.compare else ():
            step.compare(args, folder)
        undrawn = draw(folder, steps)
    except KeyboardInterrupt:
        interrupted, undrawn = True, "interrupted"
        progress("")
    # what is half done must not be interrupted again
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, signal.SIG_IGN)
    if interrupted:
        print("railbench suite: interrupted", file=sys.stderr, flush=True)
    for step in steps:
        if interrupted and not step.seconds:
            step.why = step.why or "not run: interrupted"
    replace(os.path.join(folder, "report.html"), "\n".join(
        report(steps, folder, args, date, undrawn)))
    print(f"report: {os.path.join(folder, 'report.html')}")
    return 1 if interrupted or undrawn or any(step.why for step in steps) \
        else 0
