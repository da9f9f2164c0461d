# SPDX-License-Identifier: BSD-3-Clause
"""OpenMP programs compiled by railomp-cc on several ranks, beside the same
sources compiled by gcc -fopenmp on as many threads.

bench/openmp/constructs.c measures single constructs. With --npb, programs of
the NAS Parallel Benchmarks 3.0 in C (benchmark-subsetting/NPB3.0-omp-C), whose
folder is given, are compiled and run, too; they check their results. A round
launches each program once for each shape (ranks x threads), and with gcc for
each number of threads; the rounds are repeated. Figures are medians over the
rounds with their non-parametric 95 % confidence interval, ratios are those of
each round.

DIR (default results/openmp-<date>; an existing one is never touched: -2, -3 ...
is appended) gets openmp.txt (tables, commands) and openmp-samples.csv (every
round). Both are written after each round.
"""
import argparse
import itertools
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time
from typing import NamedTuple

from railtools.files import claim, csv_text, hide, leave, replace
from railtools.noise import busy_share, shares_text
from railtools.options import (
    Parser,
    add_rounds,
    another_round,
    chosen_of,
    progress,
    settle_rounds,
    whole,
    wrong,
)
from railtools.paths import BIN, ROOT, revision
from railtools.programs import Failure, run, start, stop
from railtools.rounds import (
    Tries,
    few_rounds,
    in_turn,
    interval_text,
    median_interval,
    paired,
)

CONSTRUCTS = "constructs"
NPB = ("ep", "cg", "is", "mg", "ft", "bt", "sp", "lu")
CLASSES = ("S", "W", "A", "B", "C")
COMPILERS = {"gcc": ["gcc", "-fopenmp"],
             "railomp": [os.path.join(ROOT, BIN, "railomp-cc")]}
FAULTS = ("read_faults", "write_faults")
LIMIT_S = 120  # for one launch


class Launch(NamedTuple):
    """Which compiler's program, on how many ranks of how many threads."""
    compiler: str
    ranks: int
    threads: int

    def name(self):
        return (f"{self.ranks} x {self.threads}" if self.compiler == "railomp"
                else f"gcc, {self.threads}")

    def settings(self):
        """Environment variables."""
        found = {"OMP_NUM_THREADS": self.threads}
        if self.compiler == "railomp":
            found |= {"RAILOMP_RANKS": self.ranks, "RAILOMP_STATS": 1}
        return {name: str(value) for name, value in found.items()}

    def peer(self):
        """gcc's with as many threads."""
        return Launch("gcc", 1, self.ranks * self.threads)


# ------------------------------------------------------------- compiling ---

def compile_both(name, folder, arguments):
    for compiler, words in COMPILERS.items():
        run([*words, "-O3", "-w", *arguments, "-lm", "-o",
             os.path.join(folder, f"{name}.{compiler}")])


def copy_npb(source, folder):
    """With times of more digits, as class S ends in hundredths of a second;
    and a declaration that is.c lacks."""
    tree = os.path.join(folder, "npb")
    shutil.copytree(source, tree, ignore=shutil.ignore_patterns(".git"))
    shutil.copy(os.path.join(tree, "config", "make.def.template"),
                os.path.join(tree, "config", "make.def"))
    path = os.path.join(tree, "common", "c_print_results.c")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    replace(path, re.sub(r"(Time in seconds = +%12)\.2f", r"\1.6f", text))
    replace(os.path.join(tree, "timers.h"), "double timer_read(int n);\n")
    run(["gcc", "-w", "-o", os.path.join(tree, "sys", "setparams"),
         os.path.join(tree, "sys", "setparams.c"), "-lm"])
    return tree


def compile_npb(tree, folder, name, size):
    place = os.path.join(tree, name.upper())
    common = os.path.join(tree, "common")
    run(["sh", "-c", 'cd "$0" && ../sys/setparams "$1" "$2"', place, name,
         size])
    compile_both(f"{name}.{size}", folder, [
        "-include", os.path.join(tree, "timers.h"), f"-I{common}",
        os.path.join(place, f"{name}.c"),
        *(os.path.join(common, f"{part}.c") for part in (
            "c_print_results", "c_timers", "wtime",
            *([] if name == "is" else ["c_randdp"])))])  # it has its own


# ------------------------------------------------------------- measuring ---

class Samples:
    def __init__(self):
        self.figures = {}  # {(program, figure, launch): {round: value}}
        self.costs = {}  # {(program, launch): {title: sum over the ranks}}
        self.tries = Tries()
        self.noise, self.seconds, self.commands = [], [], {}

    def add(self, program, launch, number, found):
        for figure, value in found.items():
            key = program, figure, launch
            self.figures.setdefault(key, {})[number] = value


def launched(folder, program, launch, commands, times):
    """(standard output, standard error)"""
    words = [os.path.join(folder, f"{program}.{launch.compiler}"),
             *([str(times)] if program == CONSTRUCTS else [])]
    settings = launch.settings()
    commands[hide(shlex.join(
        [*(f"{n}={v}" for n, v in settings.items()), *words]),
        {folder + "/": ""})] = None
    process = start(words, os.environ | settings)
    try:
        out, err = process.communicate(timeout=LIMIT_S)
        if process.returncode:
            raise Failure(f"exit status {process.returncode}: "
                          f"{(err.strip() or out.strip())[-200:]}")
        return out, err
    except subprocess.TimeoutExpired:
        raise Failure(f"no end within {LIMIT_S} s") from None
    finally:
        stop(process)


def figures_of(program, out):
    """{figure: value}; of NPB seconds, if the result is right."""
    if program == CONSTRUCTS:
        lines = [line.split(" ", 1) for line in out.splitlines()]
        return {name: float(us) for us, name in lines}
    seconds = re.search(r"Time in seconds = +(\S+)", out)
    if not seconds or not re.search(r"Verification += +SUCCESSFUL", out):
        raise Failure("does not verify")
    return {"s": float(seconds[1])}


def costs_of(out, err):
    """What the ranks' lines add up to, for each iteration."""
    lines = [line.split()[1:] for line in err.splitlines()
             if line.startswith("railomp: ")]
    iterations = re.search(r"Iterations += +(\d+)", out)
    if len(lines) < 2 or not iterations:
        return {}
    # the tables of regions and variables come behind the ranks' lines
    ranks = list(itertools.takewhile(lambda line: line[0].isdigit(),
                                     lines[1:]))
    found = {}
    for column, title in enumerate(lines[0]):
        cells = [line[column].rstrip("%") for line in ranks]
        numbers = [float(cell) for cell in cells
                   if cell != "-" and title != "memory"]
        is_share = title in ("efficiency", "coverage")
        if numbers:
            found[title] = (statistics.fmean(numbers) if is_share else
                            sum(numbers) / max(1, int(iterations[1])))
    return found


def go_round(samples, folder, programs, launches, times):
    number, begin = len(samples.seconds) + 1, time.monotonic()
    samples.noise.append(busy_share())
    for program in programs:
        for launch in in_turn(launches, number):
            where = f"{program}, {launch.name()}"
            if samples.tries.hopeless(where):
                continue
            progress(f"round {number}: {where}")
            try:
                out, err = launched(folder, program, launch,
                                    samples.commands, times)
                samples.add(program, launch, number, figures_of(program, out))
                samples.costs[program, launch] = costs_of(out, err)
                samples.tries.add(where)
            except Failure as error:
                samples.tries.add(where, str(error))
    progress("")
    samples.seconds.append(time.monotonic() - begin)


# --------------------------------------------------------------- results ---

def cell(samples, key, digits):
    values = samples.figures.get(key, {}).values()
    return interval_text(median_interval(values), digits) if values else "-"


def ratio(samples, program, figure, above, below):
    found = paired(samples.figures.get((program, figure, above), {}),
                   samples.figures.get((program, figure, below), {}))
    return interval_text(found[0], 2) if found else "-"


def rows(samples, program):
    """(figure, launch) that were measured, of railomp-cc."""
    return [key[1:] for key in samples.figures
            if key[0] == program and key[2].compiler == "railomp"]


def constructs_table(samples):
    lines = ["Constructs: microseconds; median [95 % interval]; ratio: to gcc's "
             "with as many threads",
             f"{'construct':<31} {'ranks x threads':<15} {'railomp':>24} "
             f"{'gcc -fopenmp':>24} {'ratio':>22}"]
    for figure, launch in sorted(rows(samples, CONSTRUCTS)):
        key = CONSTRUCTS, figure, launch
        peer = launch.peer()
        lines.append(
            f"{figure:<31} {launch.name():<15} {cell(samples, key, 2):>24} "
            f"{cell(samples, (CONSTRUCTS, figure, peer), 2):>24} "
            f"{ratio(samples, CONSTRUCTS, figure, launch, peer):>22}")
    return [*lines, ""]


def npb_table(samples, programs):
    one = Launch("railomp", 1, 1)
    lines = ["NPB: seconds; median [95 % interval]; gcc's time with as many "
             "threads, and the time of 1 x 1,", "over this time: above 1 is "
             "faster. Faults and KB (fetched and put) of all ranks, for each "
             "iteration",
             f"{'program':<7} {'ranks x threads':<15} {'seconds':>26} "
             f"{'gcc : this':>20} {'1 x 1 : this':>20} {'faults':>9} {'KB':>9} "
             f"{'efficiency':>10} {'coverage':>8}"]
    for program in programs:
        for _, launch in sorted(rows(samples, program)):
            costs = samples.costs[program, launch]
            faults = sum(costs.get(title, 0) for title in FAULTS)
            moved = (costs.get("fetched_bytes", 0) +
                     costs.get("put_bytes", 0)) / 1024
            shares = [f"{costs[title]:.0f}%" if title in costs else "-"
                      for title in ("efficiency", "coverage")]
            lines.append(
                f"{program:<7} {launch.name():<15} "
                f"{cell(samples, (program, 's', launch), 4):>26} "
                f"{ratio(samples, program, 's', launch.peer(), launch):>20} "
                f"{ratio(samples, program, 's', one, launch):>20} "
                f"{faults:>9.1f} {moved:>9.1f} "
                f"{shares[0]:>10} {shares[1]:>8}")
    return [*lines, ""]


def report(samples, programs):
    lines = [f"OpenMP on several ranks, {time.strftime('%Y-%m-%d')}",
             f"revision {revision()}; {platform.machine()}, Linux "
             f"{platform.release()}, {os.cpu_count()} cores",
             f"Rounds: {len(samples.seconds)}. Before each of them "
             f"{shares_text(samples.noise)}.",
             *few_rounds(len(samples.seconds)), ""]
    if CONSTRUCTS in programs:
        lines += constructs_table(samples)
    others = [program for program in programs if program != CONSTRUCTS]
    if others:
        lines += npb_table(samples, others)
    failures = samples.tries.failures(len(samples.seconds))
    lines += [f"{where}: {how}" for where, how in failures]
    return "\n".join([*lines, "Commands", *(
        f"    {command}" for command in samples.commands)]) + "\n"


def table_of_samples(samples):
    return csv_text([["program", "figure", "compiler", "ranks", "threads",
                      "round", "value"], *(
        [program, figure, *launch, number, f"{value:.6g}"]
        for (program, figure, launch), values in samples.figures.items()
        for number, value in values.items())])


# --------------------------------------------------------------- options ---

def shapes(text):
    if not re.fullmatch(r"([1-9]\d?x[1-9]\d?,)*[1-9]\d?x[1-9]\d?", text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of RANKSxTHREADS, as 2x1")
    return [Launch("railomp", *map(int, word.split("x")))
            for word in text.split(",")]


def options():
    parser = Parser(prog="scripts/compare-openmp", description=__doc__)
    add_rounds(parser)
    parser.add_argument("--shapes", metavar="RxT,...", type=shapes,
                        default="1x1,2x1", help="(default %(default)s)")
    parser.add_argument("--times", metavar="N", type=whole(1, 10000000),
                        default=10000, help=f"of each of {CONSTRUCTS} "
                                            "(default %(default)s)")
    parser.add_argument("--npb", metavar="FOLDER", help="sources of NPB 3.0")
    parser.add_argument("--programs", metavar="P,...",
                        type=chosen_of((CONSTRUCTS, *NPB)),
                        help=f"{CONSTRUCTS}, and with --npb "
                             f"{', '.join(NPB)} (default: all)")
    parser.add_argument("--classes", metavar="C,...", type=chosen_of(CLASSES),
                        default="S", help="of NPB (default %(default)s)")
    parser.add_argument("dir", metavar="DIR", nargs="?", default=os.path.join(
        ROOT, "results", f"openmp-{time.strftime('%Y-%m-%d')}"),
        help="where to put the result")
    args = parser.parse_args()
    settle_rounds(args)
    chosen = args.programs or [CONSTRUCTS, *(NPB if args.npb else ())]
    if not args.npb and chosen != [CONSTRUCTS]:
        wrong(f"--programs: {', '.join(chosen)} needs --npb")
    if args.npb and not os.path.isdir(os.path.join(args.npb, "common")):
        wrong(f"--npb: '{args.npb}' is wrong; allowed: a folder of NPB 3.0 in C")
    args.programs = chosen
    return args


def build(args, folder):
    """The programs' names."""
    if CONSTRUCTS in args.programs:
        compile_both(CONSTRUCTS, folder, [os.path.join(
            ROOT, "bench", "openmp", "constructs.c")])
        yield CONSTRUCTS
    if args.npb:
        tree = copy_npb(args.npb, folder)
    for size in args.classes:
        for name in args.programs:
            if name != CONSTRUCTS:
                progress(f"compiling {name}.{size}")
                compile_npb(tree, folder, name, size)
                yield f"{name}.{size}"


def go(folder, built, args):
    samples, programs = Samples(), list(build(args, built))
    launches = list(dict.fromkeys(
        found for launch in args.shapes for found in (launch, launch.peer())))
    while another_round(args, samples.seconds):
        go_round(samples, built, programs, launches, args.times)
        text = report(samples, programs)
        replace(os.path.join(folder, "openmp-samples.csv"),
                table_of_samples(samples))
        replace(os.path.join(folder, "openmp.txt"), text)
    print(text)
    print(f"results: {folder}", flush=True)
    return 1 if samples.tries.failed else 0


def main():
    args = options()
    if not os.path.exists(COMPILERS["railomp"][0]):
        wrong("railomp-cc is not there; make builds it")
    folder = claim(args.dir)
    try:
        with tempfile.TemporaryDirectory() as built:
            return go(folder, built, args)
    finally:
        leave(folder)
