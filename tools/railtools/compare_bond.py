# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI 2018 over a bond of two rails, next to one rail.

Two hosts of scripts/testbed, so it needs root; rails of 1 Gbit/s. IMB-MPI1
(make deps-peers) measures PingPong, Sendrecv and Exchange over one rail, over
a bond of two, over a bond of which the second rail has half of the rate, and
over a bond of one rail. Then a program that checks each byte (make tests) runs
over the bond: undisturbed, while rails are cut, and while rails lose all in
silence; so does IMB-MPI1 while rails are cut. On one host, IMB-MPI1 measures
PingPong and Sendrecv of 0 to 4 MB over one rail of shared memory, over a bond
of it, and over bonds of two, non-threaded and threaded. A round launches each
of these once, and the rounds are repeated (A B C, A B C, ...). Figures are
medians over the rounds with their non-parametric 95 % confidence interval,
ratios are those of each round.

DIR (default results/bond-<date>; an existing one is never touched: -2, -3 ...
is appended) gets bond.txt (tables, versions, commands) and bond-samples.csv
(every round). Both are written after each round.
"""
import contextlib
import os
import platform
import re
import shlex
import sys
import tempfile
import threading
import time

from railtools.compare_hosts import PINNED
from railtools.files import claim, csv_text, hide, leave, replace
from railtools.hosts import AGENT
from railtools.noise import busy_share, shares_text
from railtools.options import (
    Parser,
    add_rounds,
    another_round,
    chosen_of,
    progress,
    settle_rounds,
    size_name,
    wrong,
)
from railtools.paths import BUILD, ROOT, revision
from railtools.peers import WHEELS, not_built
from railtools.programs import Failure, run
from railtools.rounds import (
    few_rounds,
    interval_text,
    median_interval,
    paired,
    target_line,
)

LIBRARIES = os.path.join(BUILD, "lib", "dapl_rail")
IMB = os.path.join(WHEELS, "impi", "bin", "IMB-MPI1")
CHECKED = os.path.join(BUILD, "test", "mpi", "mpi_exchange.mpich-wheel")
IMPI = os.path.join(WHEELS, "impi2018")
RATE = 1000  # Mbit/s

# dat.conf: IA: (provider, parameters)
IAS = {"left": ("ofi", "device=rail0"), "right": ("ofi", "device=rail1"),
       "bond": ("bond", "left right"), "bond-one": ("bond", "left"),
       "near0": ("shm", ""), "near1": ("shm", ""),
       "near": ("bond", "near0 near1"), "near-one": ("bond", "near0"),
       "near-threaded": ("bond", "near0 near1 engine=threaded")}
ONE, TWO, UNEQUAL, ALONE = "one rail", "bond", "unequal bond", "bond of one"
# what: its IA, and the rate of rail1
SPEEDS = {ONE: ("left", RATE), TWO: ("bond", RATE),
          UNEQUAL: ("bond", RATE // 2), ALONE: ("bond-one", RATE)}
SIZES = (8, 4 << 20)
TESTS = ("PingPong", "Sendrecv", "Exchange")
# of IMB: repetitions, MB of long messages, and seconds of a size, at most
FAR = ("-iter", "1000,80", "-time", "10")
NEAR = ("-iter", "20000,200", "-time", "1", "-msglog", "0:22")
SHARED = "shared memory: "
# what: its IA; ranks are not pinned, so that threads may use any core
NEARS = {SHARED + ONE: "near0", SHARED + ALONE: "near-one",
         SHARED + TWO: "near", SHARED + "threaded bond": "near-threaded"}
NEAR_ONE, *NEAR_BONDS = NEARS
NEAR_TESTS = TESTS[:2]
CALM, CUT, DROP = "undisturbed", "cut", "silent"
LOSSES = (CALM, CUT, DROP)
EXCHANGE_S = 10
AWAY_S, THERE_S = 0.7, 2  # the kernel reports a mended port after a second
PARTS = ("speed", "losses", "shm")


# ------------------------------------------------------------- launching ---

class Bed:
    """The hosts, and the launches on them."""

    def __init__(self, folder):
        """@folder: one that the hosts share."""
        self.folder = os.environ["TMPDIR"] = folder
        self.commands = {}  # a set in order
        self.write("dat.conf", "".join(
            f'{name} u2.0 nonthreadsafe default "{LIBRARIES}/libdapl_{kind}.so"'
            f' dapl_rail.0.1 "{words}" ""\n'
            for name, (kind, words) in IAS.items()))
        self.lengths = self.write("lengths", "".join(
            f"{size}\n" for size in SIZES))
        os.environ["DAT_OVERRIDE"] = os.path.join(self.folder, "dat.conf")
        os.environ["IMPI2018"] = IMPI

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        replace(path, text)
        return path

    def launch(self, ia, program):
        """Two ranks: on two hosts, or over shared memory on one."""
        where = ["-n", "2"] if ia in NEARS.values() else [
            "-bootstrap", "ssh", "-bootstrap-exec", AGENT, "-iface", "eth0",
            "-hosts", "n1,n2", "-ppn", "1", "-n", "2", *PINNED]
        command = ["on", "n1", os.path.join(ROOT, "scripts", "impi2018"), ia,
                   *where, *program]
        self.commands[hide(shlex.join(command), {
            self.folder: "FOLDER", WHEELS: "WHEELS", BUILD: "build",
            ROOT + "/": ""})] = None
        return run(command, 120)

    def imb(self, ia, tests, how=None):
        """{(test, bytes): µs}: of PingPong half of a round trip, else the
        slowest rank's mean. @how: options of IMB-MPI1 (default: FAR, SIZES)."""
        how = how or (*FAR, "-msglen", self.lengths)
        out = self.launch(ia, [IMB, "-npmin", "2", *how, *tests])
        if "entering MPI_Finalize" not in out:
            raise Failure("IMB-MPI1 has not ended well")
        found, test = {}, None
        for line in out.splitlines():
            if line.startswith("# Benchmarking"):
                test = line.split()[2]
            elif re.match(r" +\d+ ", line):
                words = line.split()
                found[test, int(words[0])] = float(
                    words[2 if test == "PingPong" else 3])
        return found

    def exchange(self, ia):
        """ms of the longest round. Every byte was right."""
        out = self.launch(ia, [CHECKED, f"{EXCHANGE_S}s"])
        good = re.search(r"^longest round: (\S+) ms\n0 failures$", out, re.M)
        if not good:
            raise Failure(f"wrong data: {out.splitlines()[0]}")
        return float(good[1])


@contextlib.contextmanager
def disturbed(kind):
    """Meanwhile one rail after the other goes away, and comes back."""
    over = threading.Event()

    def disturb():
        rails = ["rail0", "rail1"]
        while kind != CALM and not over.wait(THERE_S):
            run(["testbed", {CUT: "cut", DROP: "drop"}[kind], rails[0]])
            over.wait(AWAY_S)
            run(["testbed", "mend", rails[0]])
            rails.reverse()

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# ------------------------------------------------------------- measuring ---

class Rounds:
    """The figures of complete rounds."""

    def __init__(self):
        self.samples = {}  # {(setup, test, bytes): {round: figure}}
        self.tried, self.failed = 0, []
        self.noise, self.seconds = [], []


def attempt(rounds, number, name, measure, *words):
    """{key: figure} of measure(*words), or nothing."""
    progress(f"round {number}: {name}")
    rounds.tried += 1
    try:
        return measure(*words)
    except (Failure, KeyError, ValueError, TypeError, IndexError) as error:
        rounds.failed.append(f"round {number}: {name}: {error}")
        return {}


def under_losses(bed, kind):
    with disturbed(kind):
        found = {(kind, "longest round", 0): bed.exchange("bond")}
    if kind == CUT:
        with disturbed(kind):
            bed.imb("bond", ["Exchange"])
    return found


def go_round(rounds, bed, parts):
    number, begin = len(rounds.seconds) + 1, time.monotonic()
    noise, found = busy_share(), {}
    for name, (ia, rate) in SPEEDS.items() if "speed" in parts else ():
        run(["testbed", "rate", "rail1", f"{rate}mbit"])
        figures = attempt(rounds, number, name, bed.imb, ia, TESTS)
        found.update({(name, *key): us for key, us in figures.items()})
    run(["testbed", "rate", "rail1", f"{RATE}mbit"])
    for name, ia in NEARS.items() if "shm" in parts else ():
        figures = attempt(rounds, number, name, bed.imb, ia, NEAR_TESTS, NEAR)
        found.update({(name, *key): us for key, us in figures.items()})
    for kind in LOSSES if "losses" in parts else ():
        found.update(attempt(rounds, number, kind, under_losses, bed, kind))
    progress("")
    for key, figure in found.items():
        rounds.samples.setdefault(key, {})[number] = figure
    rounds.noise.append(noise)
    rounds.seconds.append(time.monotonic() - begin)


# --------------------------------------------------------------- results ---

def speed_table(samples):
    lines = ["IMB-MPI1: µs of a message; median [95 % interval]",
             f"{'test':>9}  {'bytes':>5}" +
             "".join(f"  {name:>26}" for name in SPEEDS)]
    for test in TESTS:
        for size in SIZES:
            line = f"{test:>9}  {size_name(size):>5}"
            for name in SPEEDS:
                values = samples.get((name, test, size), {}).values()
                line += "  {:>26}".format(interval_text(
                    median_interval(values), 1) if values else "-")
            lines.append(line)
    return [*lines, ""]


def speed_targets(samples):
    lines = ["Targets, as medians of the rounds' ratios"]

    def faster(name, test):
        found = paired(samples.get((ONE, test, SIZES[1]), {}),
                       samples.get((name, test, SIZES[1]), {}))
        return found and found[0]

    def longer(name):
        found = paired(samples.get((name, TESTS[0], SIZES[0]), {}),
                       samples.get((ONE, TESTS[0], SIZES[0]), {}))
        return found and found[0]

    for test, wanted in zip(TESTS, (1.9, 1.85, 1.85)):
        lines.append(target_line(
            f"{test} of 4M, rate over the bond : one rail",
            faster(TWO, test), wanted))
    for test in TESTS:
        lines.append(target_line(
            f"{test} of 4M, rate over the unequal bond : one rail "
            "(97 % of the sum)", faster(UNEQUAL, test), 1.455))
    lines.append(target_line(
        "PingPong of 8 bytes, time over the bond : one rail", longer(TWO),
        1.1, least=False))
    lines.append(target_line(
        "PingPong of 8 bytes, time over a bond of one : that rail",
        longer(ALONE), 1.03, least=False))
    return [*lines, ""]


def near_ratio(samples, test, size, above, below):
    """Interval of a ratio of times; None if there is none."""
    found = paired(samples.get((above, test, size), {}),
                   samples.get((below, test, size), {}))
    return found and found[0]


def near_keys(samples):
    return sorted({key[1:] for key in samples if key[0] == NEAR_ONE})


def near_table(samples):
    lines = ["IMB-MPI1 over shared memory: µs of a message over one rail, and "
             "the time over a bond : that (medians [95 % intervals])",
             f"{'test':>9}  {'bytes':>5}  {ONE:>23}" + "".join(
                 f"  {name.removeprefix(SHARED):>20}" for name in NEAR_BONDS)]
    for test, size in near_keys(samples):
        us = median_interval(samples[NEAR_ONE, test, size].values())
        line = f"{test:>9}  {size_name(size):>5}  {interval_text(us, 2):>23}"
        for name in NEAR_BONDS:
            ratio = near_ratio(samples, test, size, name, NEAR_ONE)
            line += f"  {interval_text(ratio, 3) if ratio else '-':>20}"
        lines.append(line)
    return [*lines, ""]


def near_targets(samples):
    """The worst size of each bond, and what the threads gain."""
    lines = ["Targets, as medians of the rounds' ratios"]
    for name in NEAR_BONDS:
        for test in NEAR_TESTS:
            ratios = [(ratio, size) for found, size in near_keys(samples)
                      if found == test and (ratio := near_ratio(
                          samples, test, size, name, NEAR_ONE))]
            worst, size = max(ratios, default=(None, 0))
            lines.append(target_line(
                f"{test}, time over the {name.removeprefix(SHARED)} : one "
                f"rail, worst size ({size_name(size)})", worst, 1.03,
                least=False))
    for test in NEAR_TESTS:
        lines.append(target_line(
            f"{test} of 1M, rate over the threaded bond : one rail",
            near_ratio(samples, test, 1 << 20, NEAR_ONE, NEAR_BONDS[-1]), 1.5))
    return [*lines, ""]


def losses_table(samples):
    lines = [f"Checked exchange over the bond, {EXCHANGE_S} s a round; a rail "
             f"is away for {AWAY_S} s, every {AWAY_S + THERE_S} s: ms of the "
             "longest round"]
    for kind in LOSSES:
        values = list(samples.get((kind, "longest round", 0), {}).values())
        if not values:
            lines.append(f"  {kind}: not measured")
            continue
        line = (f"  {kind}: {interval_text(median_interval(values), 1)}; of "
                f"all {max(values):.1f}")
        if kind != CALM:
            line += f", wanted <= 150: {'met' if max(values) <= 150 else 'MISSED'}"
        lines.append(line)
    return [*lines, ""]


def report(rounds, bed, parts):
    lines = [f"Intel MPI 2018 over a bond, {time.strftime('%Y-%m-%d')}",
             f"revision {revision()}; scripts/testbed on {cpu()}, Linux "
             f"{platform.release()}, {os.cpu_count()} cores; rails of {RATE} "
             "Mbit/s (of the unequal bond the second has half)",
             f"Rounds: {len(rounds.seconds)}. Before each of them "
             f"{shares_text(rounds.noise)}.",
             f"Launches: {rounds.tried}, failed: {len(rounds.failed)}; wrong "
             "bytes count as a failure."]
    lines += [*few_rounds(len(rounds.seconds)), ""]
    if "speed" in parts:
        lines += speed_table(rounds.samples) + speed_targets(rounds.samples)
    if "shm" in parts:
        lines += near_table(rounds.samples) + near_targets(rounds.samples)
    if "losses" in parts:
        lines += losses_table(rounds.samples)
    lines += rounds.failed + ["Commands"] + [
        f"    {command}" for command in bed.commands]
    return "\n".join(lines) + "\n"


def cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.partition(":")[2].strip() for line in file
                     if line.startswith("model name")), platform.machine())


def table_of_samples(samples):
    return csv_text([["setup", "test", "bytes", "round", "figure"], *(
        [*key, number, f"{figure:.6g}"]
        for key, values in samples.items()
        for number, figure in values.items())])


# --------------------------------------------------------------- options ---

def options():
    parser = Parser(prog="scripts/compare-bond", description=__doc__)
    add_rounds(parser)
    parser.add_argument("--parts", metavar="P,...", type=chosen_of(PARTS),
                        default=list(PARTS),
                        help=f"(default {','.join(PARTS)})")
    parser.add_argument("dir", metavar="DIR", nargs="?", default=os.path.join(
        ROOT, "results", f"bond-{time.strftime('%Y-%m-%d')}"),
        help="where to put the result")
    args = parser.parse_args()
    settle_rounds(args)
    return args


def go(folder, bed, args):
    rounds = Rounds()
    while another_round(args, rounds.seconds):
        go_round(rounds, bed, args.parts)
        text = report(rounds, bed, args.parts)
        replace(os.path.join(folder, "bond-samples.csv"),
                table_of_samples(rounds.samples))
        replace(os.path.join(folder, "bond.txt"), text)
    print(text)
    print(f"results: {folder}", flush=True)
    return 1 if rounds.failed else 0


def main():
    args = options()
    why = not_built([os.path.join(IMPI, "bin", "mpiexec.hydra"), IMB],
                    "make deps-peers") or not_built([CHECKED], "make tests")
    if why:
        wrong(hide(why, {WHEELS: "WHEELS", BUILD: "build"}))
    if "TESTBED_HOSTS" not in os.environ:
        os.execv(os.path.join(ROOT, "scripts", "testbed"), [
            "testbed", "--hosts", "2", "--rails", "2", "--rate",
            f"{RATE}mbit", os.path.abspath(sys.argv[0]), *sys.argv[1:]])
    folder = claim(args.dir)
    try:
        with tempfile.TemporaryDirectory(dir=BUILD) as shared:
            return go(folder, Bed(shared), args)
    finally:
        leave(folder)
