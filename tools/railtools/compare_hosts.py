# SPDX-License-Identifier: BSD-3-Clause
"""UCX, Open MPI, MPICH and plain sockets next to us, over several hosts.

Hosts and rails are those of scripts/testbed, so it needs root: 1 Gbit/s a rail
(--rate). Of two hosts: latency, and bandwidth with 64 messages under way, over
one rail, over two, and over two of which the second has half of the rate; of
four hosts with two ranks each: all-gather, gather and all-to-all, as in
scripts/compare-coll. A round runs each program once, each run is a fresh
launch, and the rounds are repeated (A B C, A B C, ...). Figures are medians
over the rounds with their non-parametric 95 % confidence interval, ratios are
those of each round. What is not installed is named and left out (make
deps-peers peers).

DIR (default results/testbed-<date>; an existing one is never touched: -2, -3
... is appended) gets hosts.txt (tables, versions, exact commands) and
hosts-samples.csv (every round). Both are written after each round: an
interrupted script keeps the complete rounds.
"""
import csv
import io
import json
import os
import platform
import re
import secrets
import shlex
import statistics
import sys
import time
from math import exp, log

from railtools.files import claim, hide, leave, replace
from railtools.noise import busy_share
from railtools.options import (
    Parser,
    add_rounds,
    another_round,
    chosen_of,
    progress,
    settle_rounds,
    size_name,
    whole,
    wrong,
)
from railtools.paths import BIN, RAILBENCH, ROOT
from railtools.peers import not_built
from railtools.programs import Failure, result_of, run, run_until, start, stop
from railtools.rounds import interval_text, median_interval, target_line

OURS = "dapl_rail"
SOCKETS = "sockets"
HOSTS, PPN = 4, 2
WINDOW = 64  # RUN_WINDOW of bench/peers/run.h
ROUND_TRIPS = 3000
# batches in which we learn which rails carry how much, one after the other, and
# the longest of them
LEARNS, LEARNS_BYTES = 12, 64 << 20
SIZES = {8: 0, 64 << 10: 40, 1 << 20: 4, 4 << 20: 2}  # bytes: windows
ONE, TWO, UNEQUAL = "one", "two", "unequal"
RAILS = {ONE: "rail0", TWO: "rail0,rail1", UNEQUAL: "rail0,rail1"}
COLLECTIVES = ("allgather", "gather", "alltoall")
WORDS = {ONE: "one rail", TWO: "two rails", UNEQUAL: "unequal rails"}
IN_BATCHES = (f" ({OURS}: in batches of so many, or {LEARNS_BYTES >> 20} MiB,"
              " one after the other)")
PARTS = (ONE, TWO, UNEQUAL, *COLLECTIVES)
BLOCKS = [4, 64, 1 << 10, 16 << 10, 128 << 10, 1 << 20]
REPETITIONS = 3  # of each collective in each round
AGENT = "/run/testbed/bin/agent"
LISTENS_S = 10


def on(host, command):
    return ["on", host, *command]


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

    def __init__(self):
        self.version = ""
        self.commands = {}  # a set in order
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
        return run(command)

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
        rows = self.measured(self.job(HOSTS, PPN, [
            name, "--rails", "shm0,tcp-rail0,tcp-rail1", "--sizes",
            ",".join(map(str, BLOCKS)), "--start", "barrier", "--repeat",
            str(REPETITIONS), "--format", "json"]))
        return {row["bytes"]: row["collective"]["latency_us"]["median"]
                for row in rows}


class MPI(Program):
    """Builds of bench/peers/mpi_p2p.c and mpi_coll.c."""

    does_collectives = True

    def launcher(self, hosts, ppn, wires):
        raise NotImplementedError

    def program(self, name):
        return os.path.join(BIN, "peers", f"{name}.{self.key}")

    def rows(self, out):
        lines = out.splitlines()
        self.version = next((" ".join(line[2:].split()) for line in lines
                             if line.startswith("# ")), "")
        # the launcher may have something to say, too
        return list(csv.DictReader(line for line in lines if re.match(
            r"what,|[a-z]+,\d+,", line)))

    def collective(self, name):
        found: dict = {}
        for row in self.rows(self.run(
                self.launcher(HOSTS, PPN, TWO) + PINNED +
                [self.program("mpi_coll")] +
                [f"{name}:{size}:{REPETITIONS}" for size in BLOCKS])):
            found.setdefault(int(row["bytes"]), []).append(
                float(row["latency_us"]))
        return {size: statistics.median(found[size]) for size in BLOCKS}


def places(hosts, ppn):
    return ",".join(f"n{host + 1}:{ppn}" for host in range(hosts))


class OpenMPI(MPI):
    """Its ranks must yield where they share cores; see compare-coll."""

    name, key, does_pairs = "Open MPI", "openmpi", True
    needs = ["mpirun.openmpi", os.path.join(BIN, "peers", "mpi_p2p.openmpi")]

    def launcher(self, hosts, ppn, wires):
        return on("n1", [
            "mpirun.openmpi", "--allow-run-as-root", "-np", str(hosts * ppn),
            "-H", places(hosts, ppn), "--bind-to", "none", "--mca",
            "plm_rsh_agent", AGENT, "--mca", "oob_tcp_if_include", "eth0",
            "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca",
            "btl_tcp_if_include", RAILS[wires], "--mca", "osc", "pt2pt",
            "--mca", "mpi_yield_when_idle", str(int(ppn > 1))])

    def pair(self, wires):
        runs = [f"lat:8:{ROUND_TRIPS}"] + [
            f"bw:{size}:{windows * WINDOW}" for size, windows in SIZES.items()
            if windows]
        return {int(row["bytes"]): float(row["latency_us"])
                if row["what"] == "lat" else float(row["bandwidth_MBps"])
                for row in self.rows(self.run(
                    self.launcher(2, 1, wires) + PINNED
                    + [self.program("mpi_p2p")] + runs))}


class MPICH(MPI):
    """Its ranks may wait for each other for ever when all is done, in
    MPI_Finalize: nobody waits for that."""

    name, key = "MPICH", "mpich"
    needs = ["mpiexec.mpich", os.path.join(BIN, "peers", "mpi_coll.mpich")]

    def launcher(self, hosts, ppn, wires):
        return on("n1", [
            "env", f"UCX_NET_DEVICES={RAILS[wires]}", "UCX_MAX_RNDV_RAILS=2",
            "mpiexec.mpich", "-n", str(hosts * ppn), "-hosts",
            places(hosts, ppn), "-bind-to", "none", "-launcher", "ssh",
            "-launcher-exec", AGENT, "-iface", "eth0"])

    def run(self, command):
        self.ran(command)
        return run_until(command, lambda out: len(self.rows(out)) ==
                         len(BLOCKS) * REPETITIONS)


class UCX(Program):
    name, key, does_pairs = "UCX", "ucx", True
    needs = ["ucx_perftest", "ucx_info"]

    def __init__(self, prefix=None):
        super().__init__()
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
        env = ["env", f"UCX_NET_DEVICES={RAILS[wires]}", "UCX_TLS=tcp",
               "UCX_MAX_RNDV_RAILS=2", "UCX_MAX_EAGER_LANES=2", *self.words]
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


PEERS = [Sockets, OpenMPI, MPICH, UCX]


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


def measure(programs, parts, full_rate, doing):
    """Measures a round: {(what, bytes, program): figure}, and why other
    figures are missing."""
    found, failed = {}, {}
    for what in parts:
        rate = full_rate / (2 if what == UNEQUAL else 1)
        run(["testbed", "rate", "rail1", f"{rate}mbit"])
        pairs = what in RAILS
        for program in programs:
            if not (program.does_pairs if pairs
                    else program.does_collectives):
                continue
            progress(f"{doing}: {what}: {program.name}")
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


def targets(samples, names):
    lines = ["Targets, as medians of the rounds' ratios"]
    mb = 1 << 20
    lines.append(target_line("two rails / one rail, 1M", over_best(
        samples, (TWO, mb, OURS), [(ONE, mb, OURS)], max), 1.94))
    for what in (ONE, TWO, UNEQUAL):
        lines.append(target_line(
            f"{WORDS[what]} / plain sockets, 1M", over_best(
                samples, (what, mb, OURS), [(what, mb, SOCKETS)], max), 0.97))
    peers = [name for name in names if name not in (OURS, SOCKETS)]
    for what in (TWO, UNEQUAL):
        for size in SIZES:
            if size > 8:
                lines.append(target_line(
                    f"{WORDS[what]} / best peer, {size_name(size)}", over_best(
                        samples, (what, size, OURS),
                        [(what, size, peer) for peer in peers], max), 1))
    lines.append(target_line("latency over one rail / best peer's, 8 B", over_best(
        samples, (ONE, 8, OURS), [(ONE, 8, peer) for peer in peers], min), 1,
        least=False))
    for name in COLLECTIVES:
        values = [over_best(samples, (name, size, OURS),
                            [(name, size, peer) for peer in peers], min)
                  for size in BLOCKS]
        if None in values:
            lines.append(f"  {name}: not measured")
            continue
        mean = exp(sum(log(1 / value[0]) for value in values) / len(values))
        worst = max(range(len(values)), key=lambda at: values[at][0])
        lines.append(
            f"  {name}, best peer's time / ours, geometric mean: {mean:.2f} "
            f"(worst {1 / values[worst][0]:.2f} at "
            f"{size_name(BLOCKS[worst])}), wanted >= 1.3: "
            f"{'met' if mean >= 1.3 else 'MISSED'}")
    return lines


def report(rounds, programs, remarks, args):
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
             f"Rounds of all programs in turn: {done}. Before each of "
             f"them others took {statistics.median(noise):.0%} of the cores "
             f"(median; at most {max(noise):.0%})."]
    if done < 6:
        lines.append("Fewer than 6 rounds: the intervals hold less than 95 %.")
    lines += [f"Each host has one of {len(CORES)} cores: n1 the first, n2 the "
              "second, and so on in turn. Collectives: "
              f"{HOSTS * PPN} ranks share them.", ""]
    for what in [what for what in args.parts if what in RAILS]:
        lines += [f"{WORDS[what]}: 8 B: one-way latency in µs (half of a round "
                  f"trip), else MB/s with {WINDOW} messages under way"
                  f"{IN_BATCHES if what == UNEQUAL else ''}; median [95 % "
                  "interval]"]
        lines += table(samples, what, SIZES, pairs, 1) + [""]
    for what in [what for what in args.parts if what in COLLECTIVES]:
        lines += [f"{what}, {HOSTS} hosts x {PPN} ranks, two rails: µs of the "
                  "slowest rank"]
        lines += table(samples, what, BLOCKS, groups, 0) + [""]
    lines += targets(samples, pairs + groups) + ["", "Programs"]
    for program in programs:
        lines.append(f"{program.name}: {program.version}")
        lines += [f"    {command}" for command in program.commands]
    lines += [f"{name}: {what}: round {number} failed: {why}"
              for (what, name, number), why in rounds.failed.items()]
    return "\n".join(lines + remarks) + "\n"


def table_of_samples(samples):
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["what", "bytes", "program", "round", "figure"])
    for (what, size, program), values in samples.items():
        for number, figure in values.items():
            out.writerow([what, size, program, number, f"{figure:.6g}"])
    return text.getvalue()


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
    peers = [kind.key for kind in PEERS]
    parser.add_argument("--peers", metavar="P,...", type=chosen_of(peers),
                        default=",".join(peers),
                        help="(default %(default)s)")
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
    kinds: list[Program] = [Ours()] + [kind() for kind in PEERS if kind.key in args.peers]
    if args.ucx:
        kinds.append(UCX(os.path.abspath(args.ucx)))
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


def go_round(rounds, programs, args):
    number, begin = len(rounds.seconds) + 1, time.monotonic()
    noise = busy_share()
    found, failed = measure(programs, args.parts, args.rate,
                            f"round {number} of {args.repeat}")
    rounds.add(number, found, failed, noise, time.monotonic() - begin)


def write(folder, rounds, programs, remarks, args):
    text = report(rounds, programs, remarks, args)
    replace(os.path.join(folder, "hosts-samples.csv"),
            table_of_samples(rounds.samples))
    replace(os.path.join(folder, "hosts.txt"), text)
    print(f"round {len(rounds.seconds)} of {args.repeat}: "
          f"{rounds.seconds[-1]:.0f} s; results so far: {folder}",
          file=sys.stderr, flush=True)
    return text


def main():
    args = options()
    if "TESTBED_HOSTS" not in os.environ:
        os.execv(os.path.join(ROOT, "scripts", "testbed"), [
            "testbed", "--hosts", str(HOSTS), "--rails", "2", "--rate",
            f"{args.rate}mbit", os.path.abspath(sys.argv[0]), *sys.argv[1:]])
    os.environ["DRAIL_SECRET"] = secrets.token_hex(16)
    programs, remarks = choose(args)
    rounds = Rounds()
    folder = claim(args.dir)
    try:
        while another_round(args, rounds.seconds):
            go_round(rounds, programs, args)
            text = write(folder, rounds, programs, remarks, args)
    except KeyboardInterrupt:
        progress("")
        if rounds.seconds:  # it may have come just before this
            write(folder, rounds, programs, remarks, args)
        print("scripts/compare-hosts: interrupted; complete rounds: "
              f"{len(rounds.seconds)}", file=sys.stderr)
        return 1
    finally:
        leave(folder)
    print(text)
    print(f"results: {folder}", flush=True)
    return 1 if rounds.failed else 0
