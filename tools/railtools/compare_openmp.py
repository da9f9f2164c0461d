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

With --hosts, they run on two hosts of scripts/testbed (it needs root).

DIR (default results/openmp-<date>; an existing one is never touched: -2, -3 ...
is appended) gets openmp.txt (tables, commands) and openmp-samples.csv (every
round). Both are written after each round.
"""
import argparse
import os
import platform
import re
import shlex
import sys
import tempfile
import time
from typing import NamedTuple

from railtools import openmp_hosts
from railtools.files import claim, csv_text, hide, leave, replace
from railtools.noise import busy_share, shares_text
from railtools.openmp_programs import (
    CLASSES,
    COMPILERS,
    CONSTRUCTS,
    NPB,
    compile_both,
    compile_npb,
    copy_npb,
    costs_of,
    ended,
    figures_of,
    regions_of,
)
from railtools.openmp_samples import Samples, cell, ratio
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
from railtools.paths import ROOT, revision
from railtools.programs import Failure, start, stop
from railtools.rounds import few_rounds, in_turn

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

    def run(self, folder, program, samples, times):
        """(standard output, standard error)"""
        words = [os.path.join(folder, f"{program}.{self.compiler}"),
                 *([str(times)] if program == CONSTRUCTS else [])]
        settings = self.settings()
        samples.commands[hide(shlex.join(
            [*(f"{n}={v}" for n, v in settings.items()), *words]),
            {folder + "/": ""})] = None
        process = start(words, os.environ | settings)
        try:
            return ended(process, LIMIT_S)
        finally:
            stop(process)


# ------------------------------------------------------------- measuring ---

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
                out, err = launch.run(folder, program, samples, times)
                regions = regions_of(err)
                samples.add(program, launch, number, figures_of(program, out))
                samples.costs[program, launch] = costs_of(out, err)
                samples.regions[program, launch] = regions
                if isinstance(launch, openmp_hosts.HostsLaunch):
                    samples.add(program, launch, number,
                                openmp_hosts.communication_of(regions))
                samples.tries.add(where)
            except Failure as error:
                samples.tries.add(where, str(error))
    progress("")
    samples.seconds.append(time.monotonic() - begin)


# --------------------------------------------------------------- results ---

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


def report(samples, programs, args):
    lines = [f"OpenMP on several {'hosts' if args.hosts else 'ranks'}, {time.strftime('%Y-%m-%d')}",
             f"revision {revision()}; {platform.machine()}, Linux "
             f"{platform.release()}, {os.cpu_count()} cores",
             f"Rounds: {len(samples.seconds)}. Before each of them "
             f"{shares_text(samples.noise)}.",
             *few_rounds(len(samples.seconds)), ""]
    if args.hosts:
        lines.insert(-1, f"Hosts of scripts/testbed, one core each; rails of "
                         f"{args.rate} Mbit/s.")
        lines += openmp_hosts.tables(samples, programs)
    elif CONSTRUCTS in programs:
        lines += constructs_table(samples)
    others = [program for program in programs if program != CONSTRUCTS]
    if others and not args.hosts:
        lines += npb_table(samples, others)
    failures = samples.tries.failures(len(samples.seconds))
    lines += [f"{where}: {how}" for where, how in failures]
    return "\n".join([*lines, "Commands", *(
        f"    {command}" for command in samples.commands)]) + "\n"


def table_of_samples(samples, kind):
    return csv_text([["program", "figure", *kind._fields, "round", "value"], *(
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
    parser.add_argument("--hosts", action="store_true", help=(
        "programs of NPB on two hosts of scripts/testbed, a rank on each: over "
        "one rail, two rails, and two rails with a thread for each"))
    parser.add_argument("--rate", metavar="MBIT", type=whole(1, 100000),
                        default=1000, help="of a rail (default 1000)")
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
    chosen = args.programs or [*([] if args.hosts else [CONSTRUCTS]),
                               *(NPB if args.npb else ())]
    if args.hosts and (CONSTRUCTS in chosen or not args.npb):
        wrong("--hosts: programs of NPB only: it needs --npb")
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


def launches_of(args):
    if args.hosts:
        return openmp_hosts.LAUNCHES
    return list(dict.fromkeys(
        found for launch in args.shapes for found in (launch, launch.peer())))


def go(folder, built, args):
    samples, programs = Samples(), list(build(args, built))
    launches = launches_of(args)
    while another_round(args, samples.seconds):
        go_round(samples, built, programs, launches, args.times)
        text = report(samples, programs, args)
        replace(os.path.join(folder, "openmp-samples.csv"),
                table_of_samples(samples, type(launches[0])))
        replace(os.path.join(folder, "openmp.txt"), text)
    print(text)
    print(f"results: {folder}", flush=True)
    return 1 if samples.tries.failed else 0


def main():
    args = options()
    if not os.path.exists(COMPILERS["railomp"][0]):
        wrong("railomp-cc is not there; make builds it")
    if args.hosts and "TESTBED_HOSTS" not in os.environ:
        os.execv(os.path.join(ROOT, "scripts", "testbed"), [
            "testbed", "--hosts", str(openmp_hosts.HOSTS), "--rails", "2",
            "--rate", f"{args.rate}mbit", os.path.abspath(sys.argv[0]),
            *sys.argv[1:]])
    openmp_hosts.begin()
    folder = claim(args.dir)
    try:
        with tempfile.TemporaryDirectory(
                dir=openmp_hosts.FOLDER if args.hosts else None) as built:
            return go(folder, built, args)
    finally:
        leave(folder)
