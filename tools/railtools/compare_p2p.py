# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI, MPICH, Intel MPI, UCX and libfabric next to us: latency and
bandwidth, Debian's and those in Python wheels.

All of them move the same messages, out of one buffer of whole pages that is
used again and again, between two ranks pinned to the same two cores (which is
checked), in windows of the same length. Memory is the library's own on both
sides: it has allocated or registered it.

First the setting of each peer is found that is best, for latency of sends and
of puts and for bandwidth of sends and of puts: those in
tools/railtools/p2p_settings.py are launched in turn (--search) with a few
sizes. The result tells what was tried. Then a round launches each program, and
the rounds are repeated, each beginning with another program. Figures are
medians over the rounds with their non-parametric 95 % confidence interval. At
each point we are compared with the best peer that sends and the best that puts,
by the ratios of the same rounds: we are ahead or behind if their whole interval
is on that side of 1. What is not installed is named and left out (make deps-peers
peers installs and builds all of it). What fails in a round is counted, told,
and runs again in the next, unless it has failed in each of the first 3; what
fails in each of its rounds makes the exit status 1.

With --buffers and --read only bandwidth is measured, without UCX, whose own
programs can't do so.

DIR (default results/<host>-<date>-p2p; an existing one is never touched: -2,
-3 ... is appended) gets p2p.txt (tables, versions, exact commands), p2p.csv,
p2p-samples.csv (every round), p2p-settings.csv (all that was searched),
p2p.json.gz and the pictures.
"""
import argparse
import csv
import glob
import json
import os
import platform
import re
import shlex
import socket
import sys
import time
from functools import partial

from railtools import peers
from railtools.files import claim, hide, leave, replace
from railtools.noise import Noise
from railtools.options import (
    Parser,
    add_pictures,
    add_rounds,
    another_round,
    draw,
    parse_size,
    progress,
    settle_rounds,
    size_name,
    sizes,
    wrong,
)
from railtools.p2p_settings import SETTINGS
from railtools.paths import RAILBENCH, ROOT
from railtools.peers import OURS, Program
from railtools.programs import (
    LIMIT_S,
    Failure,
    first_line,
    result_of,
    run,
    start,
    stop,
)
from railtools.rounds import (
    ENOUGH,
    Tries,
    few_rounds,
    geometric_mean,
    in_turn,
    median_interval,
    paired,
    place,
    verdict,
)

WINDOW = 64  # RUN_WINDOW of bench/peers/run.h
WARMUP = 16  # its RUN_WARMUP
ROUND_TRIPS = 20000
WINDOWED_BYTES = 2 << 30  # what one bandwidth run moves, about 0.2 s
STEP_S = 0.01
OFF_CACHE = 4  # times the largest cache, as railbench
LINE = 64
BUFFERS_MAX = 65536

SIDES = {False: "send", True: "put"}  # is it one-sided?
# (kind, engine of puts or "send", sizes, wanted ratio to the best peer by side)
LONG = [64 << 10, 256 << 10, 1 << 20, 4 << 20]
TARGETS = [("lat", "single", [8], {"send": 0.7, "put": 1}),
           ("lat", "send", [8], {"send": 0.9}),
           ("bw", "single", LONG, {"send": 1.2, "put": 1}),
           ("bw", "auto", LONG[2:], {"send": 1.6, "put": 1.3})]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def await_listener(port, process):
    """Until the process listens; trying to connect would be an answer to a
    server that takes one client."""
    deadline = time.monotonic() + LIMIT_S
    pattern = re.compile(rf"^ *\d+: [0-9A-F]+:{port:04X} [0-9A-F]+:0000 0A",
                         re.M)
    while time.monotonic() < deadline and process.poll() is None:
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            if os.path.exists(table):
                with open(table, encoding="ascii") as file:
                    if pattern.search(file.read()):
                        return
        time.sleep(STEP_S)


# -------------------------------------------------------------- programs ---

def turning(args):
    """Is it not one buffer that nobody reads?"""
    return bool(args.buffers or args.read)


def window_count(size):
    return max(1, WINDOWED_BYTES // (size * WINDOW))


def caches():
    """Bytes of the largest one, of the first core."""
    found = [0]
    for path in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*/size"):
        with open(path, encoding="ascii") as file:
            found.append(parse_size(file.read().strip()))
    return max(found)


def turns(args, size):
    """Buffers that messages take in turn, as railbench counts them."""
    if args.buffers == "off-cache":
        apart = WINDOW * size if args.read else size
        return (apart + OFF_CACHE * caches()) // (-(-size // LINE) * LINE)
    return args.buffers or (WINDOW if args.read else 1)


def warmup(iterations):
    return max(iterations // 10 + 1, WARMUP)


def on_cores(cores):
    return ["taskset", "-c", ",".join(map(str, cores))]


class Tuned(Program):
    """A peer, each of whose tests has the setting that is best for it."""

    tests: dict  # {kind: {method: what its program calls it}}

    def __init__(self, args):
        super().__init__(args)
        self.settings = SETTINGS[self.key]

    def launch(self, kind, methods, lengths, cores, words):
        """[(method, bytes, latency, bandwidth)] with a setting."""
        raise NotImplementedError

    def measure(self, kind, lengths, cores):
        """Methods of the same setting go together."""
        together: dict = {}
        for method in self.tests[kind]:
            words = self.chosen.get(where(kind, method), self.settings[0])
            together.setdefault(words, []).append(method)
        return [row for words, methods in together.items()
                for row in self.launch(kind, methods, lengths, cores, words)]

    def figure(self, kind, method, lengths, cores):
        """By which a setting is chosen: µs of a message."""
        words = self.chosen[where(kind, method)]
        rows = self.launch(kind, [method], peers.some(lengths), cores, words)
        return geometric_mean(latency if kind == "lat" else size / bandwidth
                              for _, size, latency, bandwidth in rows)


def where(kind, method):
    """What a setting is chosen for."""
    return f"{kind} {method}"


class Pairs(Tuned, peers.Peer):
    """A program of bench/peers that takes a list of runs, and writes CSV."""

    source = "mpi_p2p"
    tests = {"lat": {"send": "lat"}, "bw": {"send": "bw", "put": "put"}}

    def launch(self, kind, methods, lengths, cores, words):
        named = {self.tests[kind][method]: method for method in methods}
        if kind == "lat":
            runs = [f"lat:{size}:{ROUND_TRIPS}" for size in lengths]
        else:
            runs = [f"{what}:{size}:{window_count(size) * WINDOW}"
                    f":{turns(self.args, size)}{':read' * self.args.read}"
                    for size in lengths for what in named]
        rows = self.rows(2, cores, runs, on_cores(cores), words)
        if len(rows) != len(runs):
            raise Failure(f"{self.name}: {len(rows)} of {len(runs)} results")
        return [(named[row["what"]], int(row["bytes"]),
                 float(row["latency_us"]), float(row["bandwidth_MBps"]))
                for row in rows]


class Libfabric(Pairs):
    name, key, source = "libfabric", "libfabric", "fi_p2p"
    why = "its shared-memory provider"

    def __init__(self, args):
        super().__init__(args)
        self.program = os.path.join(peers.FOLDER, self.source)
        self.needs = [self.program]

    def launcher(self, _ranks, words):
        return peers.with_variables(words)


class UCX(Tuned):
    """Each test has a server and a client, which pin themselves."""

    name, key, folder = "UCX", "ucx", ""
    why = "a test that can't be pinned ends"
    tests = {"lat": {"send": "tag_lat", "put": "ucp_put_lat"},
             "bw": {"send": "tag_bw", "put": "ucp_put_bw"}}

    def __init__(self, args):
        super().__init__(args)
        self.needs = [self.tool("ucx_perftest"), self.tool("ucx_info")]
        self.around = []
        self.other_memory = turning(args)

    def missing(self):
        return ("ucx_perftest has one buffer, which nobody reads"
                if self.other_memory else super().missing())

    def tool(self, name):
        return os.path.join(self.folder, name)

    def describe(self):
        self.version = first_line(
            [*self.around, self.tool("ucx_info"), "-v"]).lstrip("# ")

    def launch(self, kind, methods, lengths, cores, words):
        return [(method, size, *self.one(
            kind, self.tests[kind][method], size, cores, words))
            for size in lengths for method in methods]

    def one(self, kind, test, size, cores, words):
        each = 1 if kind == "lat" else WINDOW
        number = ROUND_TRIPS if kind == "lat" else window_count(size)
        port = free_port()
        program = [*peers.with_variables(words), *self.around,
                   self.tool("ucx_perftest")]
        server_command = [*program, "-p", str(port), "-c", str(cores[1])]
        command = [*program, "127.0.0.1", "-p", str(port), "-c",
                   str(cores[0]), "-t", test, "-s", str(size), "-n",
                   str(number * each), "-w", str(warmup(number) * each),
                   "-f", "-v"]
        if kind == "bw":
            command += ["-O", str(WINDOW)]
        self.ran(server_command, command, port)
        server = start(server_command)
        try:
            await_listener(port, server)
            rows = list(csv.DictReader(
                run(command, self.limit).splitlines()))
            result_of(server, server_command, self.limit)
        finally:
            stop(server)
        if len(rows) != 1:
            raise Failure(f"{test}: {len(rows)} lines of results")
        # its MB are 2^20 bytes and rounded: from the messages per second
        return (float(rows[0]["overall_lat"]),
                size * float(rows[0]["overall_mr"]) / 1e6)

    def ran(self, server_command, command, port):
        """A port for each run, but one command for all rounds."""
        text = f"{shlex.join(server_command)} & {shlex.join(command)}"
        self.commands[hide(text.replace(str(port), "PORT"),
                           self.hidden)] = None


class UCXWheel(UCX):
    """Its programs would take Debian's libraries, if those are there."""

    name, key = "UCX (wheel)", "ucx-wheel"

    def __init__(self, args):
        folder = os.path.join(args.wheels, "ucx")
        home = next(iter(glob.glob(os.path.join(
            folder, "lib", "python3*", "site-packages", "libucx"))), folder)
        self.folder = os.path.join(home, "bin")
        super().__init__(args)
        self.hidden = {folder: os.path.join("WHEELS", "ucx")}
        self.around = ["env", f"LD_LIBRARY_PATH={os.path.join(home, 'lib')}"]


class Ours(Program):
    name, key, made = OURS, "ours", "make"
    needs = ["taskset", RAILBENCH]
    rails = {"single": "shm0", "threaded": "shm0,shm1", "auto": "shm0,shm1",
             "send": "shm0"}

    def __init__(self, args):
        super().__init__(args)
        self.record = None
        self.memory = []
        if args and args.buffers:
            self.memory += ["--buffers", str(args.buffers)]
        if args and args.read:
            self.memory += ["--read"]

    def measure(self, kind, lengths, cores):
        if kind == "lat":
            return self.rows("pingpong", cores,
                             ["lat", "--batch", "1", "--op", "put,send"],
                             ["single"], lengths, ROUND_TRIPS)
        bandwidth = ["bw", "--batch", str(WINDOW), *self.memory, "--op"]
        return [row for size in lengths for op, engines in (
            ("put", ["single", "threaded", "auto"]), ("send", ["single"]))
            for row in self.rows("batch", cores, [*bandwidth, op], engines,
                                 [size], window_count(size))]

    def rows(self, loop, cores, test, engines, lengths, iterations):
        self.record = json.loads(self.run([
            *on_cores(cores), RAILBENCH, *test, "--engine", ",".join(engines),
            "--rails", self.rails[engines[-1]], "--sizes",
            ",".join(map(str, lengths)), "--iterations", str(iterations),
            "--warmup", str(warmup(iterations)), "--repeat", "1",
            "--format", "json"]))
        self.version = (f"{self.record['version']} "
                        f"({self.record['revision']})")
        peers.check_cores(self.name, [
            rank["main_core"] for rank in self.record["pinning"]], cores)
        # the single engine runs on each rail: one of them is enough
        methods = {c["index"]: "send" if c["op"] == "send" else c["engine"]
                   for c in self.record["configurations"] if
                   c["rails"].split("+") == self.rails[c["engine"]].split(",")}
        return [(methods[r["configuration"]], r["bytes"], us, r["bytes"] / us)
                for r in self.record["results"]
                if r["configuration"] in methods
                for us in [r[loop]["latency_us"]["median"]]]


PROGRAMS = [Ours, *peers.libraries(Pairs), UCX, UCXWheel, Libfabric]


# ------------------------------------------------------------- measuring ---

def measure(programs, stages, args):
    """({(kind, bytes, program, method): {round: (latency, bandwidth)}}, noise,
    failures, how many rounds). What fails in a round may do better in the next
    one."""
    samples: dict = {}
    noise = Noise(args.cores)
    tries = Tries()
    seconds: list = []
    while another_round(args, seconds):
        number, begin = len(seconds), time.monotonic()
        noise.begin()
        for kind, lengths in stages:
            for program in in_turn(programs, number):
                launch = program.name, kind
                if tries.hopeless(launch):
                    continue
                progress(f"round {number + 1} of {args.repeat}: {kind}: "
                         f"{program.name}")
                try:
                    rows = program.measure(kind, lengths, args.cores)
                except (Failure, KeyError, ValueError, OSError) as error:
                    tries.add(launch, hide(str(error) or repr(error),
                                           program.hidden))
                    continue
                tries.add(launch)
                for method, size, latency, bandwidth in rows:
                    samples.setdefault(
                        (kind, size, program.name, method), {})[
                            number + 1] = latency, bandwidth
        noise.end()
        seconds.append(time.monotonic() - begin)
    progress("")
    return samples, noise, tries, len(seconds)


# --------------------------------------------------------------- results ---

def summarize(samples):
    """Rows in a fixed order: kind, bytes, then ours, then by name."""
    rows = []
    for (kind, size, program, method), values in sorted(
            samples.items(), key=lambda item: (
                item[0][0] == "bw", item[0][1], item[0][2] != OURS)):
        column = 0 if kind == "lat" else 1
        rows.append({
            "kind": kind, "bytes": size, "program": program, "method": method,
            "repeats": len(values),
            "rounds": {number: value[column]
                       for number, value in values.items()},
            **{name: median_interval([value[at] for value in values.values()])
               for name, at in (("latency_us", 0), ("bandwidth_MBps", 1),
                                ("figure", column))}})
    for row in rows:
        row["ratios"] = {side: ratio(row, best_peer(rows, row, one_sided))
                         for one_sided, side in SIDES.items()}
        row["of_round"] = {side: ratio_of_round(rows, row, one_sided)
                           for one_sided, side in SIDES.items()}
    return rows


def peers_at(rows, row, one_sided):
    """The rows of those that send, or put, at this point."""
    return [other for other in rows if other["program"] != OURS
            and (other["kind"], other["bytes"]) == (row["kind"], row["bytes"])
            and (other["method"] == "put") == one_sided]


def best_peer(rows, row, one_sided):
    """The row of the one whose median is best at this point, or None."""
    choose = min if is_less(row) else max
    return choose(peers_at(rows, row, one_sided),
                  key=lambda other: other["figure"][0], default=None)


def ratio_of_round(rows, row, one_sided):
    """As ratio(), to whoever is best in each round: a peer may be fast in some
    rounds only."""
    choose = min if is_less(row) else max
    best: dict = {}
    for other in peers_at(rows, row, one_sided):
        for number, figure in other["rounds"].items():
            best[number] = choose(figure, best.get(number, figure))
    return paired(row["rounds"], best)


def ratio(row, peer):
    """(peer's row, (median, lo, hi) of the ratios by round, how many), or
    None."""
    found = paired(row["rounds"], peer["rounds"]) if peer else None
    return (peer, *found) if found else None


def is_less(row):
    """Is less better?"""
    return row["kind"] == "lat"


def worse(*words):
    return min(words, key=("behind", "few", "level", "ahead").index)


def ratio_text(row, side):
    """Of ours with its interval, and what it says."""
    found = row["ratios"][side]
    if not found:
        return "-"
    (middle, low, high), text = found[1], ""
    if row["program"] == OURS:
        word = worse(*(place(interval, rounds, less=is_less(row))
                       for interval, rounds in (found[1:],
                                                row["of_round"][side])))
        text = f" [{low:.2f}, {high:.2f}] {word:<6}"
    return f"{middle:.2f}{text}"


def table(rows, kind, heading):
    lines = [heading, f"{'bytes':>6}  {'program':<16} {'method':<9}"
             f"{'median':>9}  {'95 % interval':>19}"
             + "".join(f"  {'/ best ' + side:<26}" for side in SIDES.values())]
    digits = 3 if kind == "lat" else 0
    size = None
    for row in rows:
        if row["kind"] != kind:
            continue
        if size not in (None, row["bytes"]):
            lines.append("")
        size = row["bytes"]
        middle, low, high = row["figure"]
        lines.append((
            f"{size_name(size):>6}  {row['program']:<16} {row['method']:<9}"
            f"{middle:9.{digits}f}  [{low:8.{digits}f},{high:8.{digits}f}]"
            + "".join(f"  {ratio_text(row, side):<26}"
                      for side in SIDES.values())).rstrip())
    return lines


def target(row, side, bound):
    """Met over the best peer, and over whoever is best in each round."""
    if not row["ratios"][side]:
        return f"{side}: not measured"
    peer, *best = row["ratios"][side]
    found = [best, row["of_round"][side]]
    verdicts = [verdict(interval, rounds, bound, is_less(row))
                for interval, rounds in found]
    hardest = next((text for text in ("MISSED", "not shown")
                    if text in verdicts), verdicts[0])
    sign = "<=" if is_less(row) else ">="
    return (f"{side} {sign} {bound}: " + ", ".join(
        "{:.2f} [{:.2f}, {:.2f}] of {}".format(*interval, whom)
        for (interval, _), whom in zip(found, (
            peer["program"], "the best of each round"))) + f": {hardest}")


def targets(rows):
    lines = ["Targets: ours over the best peer that sends, or puts"]
    for kind, engine, lengths, bounds in TARGETS:
        for row in rows:
            if (row["kind"], row["program"], row["method"]) == (
                    kind, OURS, engine) and row["bytes"] in lengths:
                what = "latency" if kind == "lat" else "bandwidth"
                lines.append(
                    f"  {engine:<6} {size_name(row['bytes']):>4} {what}: "
                    + "; ".join(target(row, side, bound)
                                for side, bound in bounds.items()))
    return lines


def memory_text(args):
    buffers = ("as many buffers as have room in four times the largest cache"
               if args.buffers == "off-cache" else
               f"{turns(args, 1)} buffers")
    return (f"Messages take turns in {buffers}, of the source and of the "
            "target" + ", which reads each byte of a window before it answers"
            * args.read + ".")


def report(rows, programs, noise, remarks, search, args, record, rounds):
    machine = record["machine"]
    lines = [f"Point to point: {OURS} and its peers, {record['date'][:10]}",
             f"{machine['host']}: {machine['cpu']}, {machine['kernel']}, "
             f"{machine['libc']}; ranks on cores {args.cores[0]} and "
             f"{args.cores[1]}; rounds of all programs in turn: {rounds}",
             f"Noise: {noise.text()}; load average "
             f"{os.getloadavg()[0]:.1f} at the end."]
    lines += few_rounds(rounds)
    if turning(args):
        lines.append(memory_text(args))
    lines += ["The last columns are ratios to the best peer at this point that "
              "sends and receives, and to the best that puts, i.e. whose median "
              "is best: of the same rounds, with their interval. Ahead is what "
              "is so of it and of whoever is best in each round, behind what is "
              f"so of either. Few: these are fewer than {ENOUGH}.",
              "MPI's and UCX's puts end with a flush and nobody answers; ours, "
              "as sends, are answered by the target after each window. Our "
              "latency is of puts that are polled for, and of drail_send to "
              "drail_recv.",
              "Memory is the library's own at both ends: ours of "
              "drail_mem_alloc, MPI's of MPI_Win_allocate (sends, too), "
              "libfabric's registered pages, UCX's of ucx_perftest.",
              "Warm-up: a tenth, and at least 16 windows or round trips; ours "
              "has two more where two take less than 0.1 s.", ""]
    if not turning(args):
        lines += table(rows, "lat", "One-way latency, half of a ping-pong's "
                                    "round trip, in µs") + [""]
    lines += table(
        rows, "bw", "Uni-directional bandwidth, "
        f"{'' if turning(args) else 'one buffer, '}{WINDOW} messages in "
        "flight, in MB/s")
    lines += ["", *targets(rows), ""] + peers.told(programs, remarks, search)
    return "\n".join(lines) + "\n"


def ratio_columns(row):
    """For each side: the best peer, and the ratio to it."""
    for side in SIDES.values():
        found = row["ratios"][side]
        yield found[0]["program"] if found else ""
        for value in found[1] if found else ("", "", ""):
            yield value if value == "" else f"{value:.4g}"


def of_round_columns(row):
    for side in SIDES.values():
        found = row["of_round"][side]
        for value in found[0] if found else ("", "", ""):
            yield value if value == "" else f"{value:.4g}"


def write_csv(path, rows):
    names = ["latency_us", "bandwidth_MBps"]
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["test", "program", "method", "bytes", "repeats"] + [
            name + part for name in names for part in ("", "_lo", "_hi")]
            + [text.format(side) for side in SIDES.values() for text in (
                "best_{}", "ratio_to_best_{}", "ratio_to_best_{}_lo",
                "ratio_to_best_{}_hi")]
            + [f"ratio_to_best_{side}_of_round" + part
               for side in SIDES.values() for part in ("", "_lo", "_hi")])
        for row in rows:
            out.writerow([row["kind"], row["program"], row["method"],
                          row["bytes"], row["repeats"]]
                         + [f"{value:.6g}" for name in names
                            for value in row[name]]
                         + [*ratio_columns(row), *of_round_columns(row)])


def write_samples(path, samples):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["test", "program", "method", "bytes", "round",
                      "latency_us", "bandwidth_MBps"])
        for (kind, size, program, method), values in samples.items():
            for number, (latency, bandwidth) in values.items():
                out.writerow([kind, program, method, size, number,
                              f"{latency:.6g}", f"{bandwidth:.6g}"])


def write_settings(path, search):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(search.rows("test"))


def write_json(path, rows, record):
    """For scripts/plot, in the form of railbench's results."""
    labels = sorted(dict.fromkeys((row["program"], row["method"])
                                  for row in rows),
                    key=lambda label: label[0] != OURS)
    loops = {"lat": ("pingpong", "latency_us"),
             "bw": ("batch", "bandwidth_MBps")}
    results = []
    for row in rows:
        cell = {"bytes": row["bytes"], "configuration": labels.index(
            (row["program"], row["method"]))}
        for kind, (loop, figure) in loops.items():
            values = row["figure"] if row["kind"] == kind else [None] * 3
            cell[loop] = {figure: dict(zip(("median", "lo", "hi"), values))}
        results.append(cell)
    result = {name: record[name] for name in
              ("version", "revision", "date", "options", "machine", "rails")}
    result.update(
        schema="dapl_rail.p2p/1", test="p2p", partial=False, results=results,
        configurations=[{
            "index": index, "label": f"{program} {method}",
            "engine": method if program == OURS else "",
            "rails": "+".join(Ours.rails.get(method, "").split(","))
            if program == OURS else ""}
            for index, (program, method) in enumerate(labels)])
    replace(path, json.dumps(result, indent=1) + "\n")


# --------------------------------------------------------------- options ---

def core_pair(text):
    allowed = sorted(os.sched_getaffinity(0))
    found = text.split(",")
    if not all(re.fullmatch(r"\d{1,4}", core) and int(core) in allowed
               for core in found) or len(found) != 2 \
            or int(found[0]) >= int(found[1]):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: two ascending cores of "
            f"{','.join(map(str, allowed))}")
    return [int(core) for core in found]


def buffers(text):
    if text != "off-cache" and not (re.fullmatch(r"\d{1,5}", text)
                                    and 1 <= int(text) <= BUFFERS_MAX):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: 1 to {BUFFERS_MAX}, off-cache")
    return text if text == "off-cache" else int(text)


def options():
    parser = Parser(prog="scripts/compare-p2p", description=__doc__)
    add_rounds(parser)
    parser.add_argument("--lat-sizes", metavar="a,b", type=sizes,
                        default="8,64,512,4K",
                        help="message sizes for latency (default %(default)s)")
    parser.add_argument("--bw-sizes", metavar="a,b", type=sizes,
                        default="4K,64K,256K,1M,4M",
                        help="... for bandwidth (default %(default)s)")
    parser.add_argument("--cores", metavar="A,B", type=core_pair,
                        help="cores of the ranks (default: the first two)")
    peers.add_peers(parser, PROGRAMS)
    parser.add_argument("--buffers", metavar="N", type=buffers,
                        help="messages of bandwidth take turns in N buffers, "
                             "or off-cache: in as many as have room in four "
                             "times the largest cache (default: one)")
    parser.add_argument("--read", action="store_true",
                        help="the target reads each byte of a window, within "
                             "the time; of one buffer for each message of it, "
                             "without --buffers")
    peers.add_search(parser)
    add_pictures(parser)
    parser.add_argument("dir", metavar="DIR", nargs="?", default=os.path.join(
        ROOT, "results", f"{platform.node()}-{time.strftime('%Y-%m-%d')}-p2p"),
        help="where to put the result")
    args = parser.parse_args()
    settle_rounds(args)
    if args.cores is None:
        args.cores = sorted(os.sched_getaffinity(0))[:2]
        if len(args.cores) < 2:
            wrong(f"--cores: only core {args.cores[0]} is allowed here; "
                  "allowed: two cores")
    return args


def settle(programs, stages, search, cores):
    """Finds the setting of each test of each peer."""
    for kind, lengths in stages:
        for program in programs:
            for method in getattr(program, "tests", {}).get(kind, ()):
                search.settle([program], where(kind, method), partial(
                    figure_of, kind, method, lengths, cores))
    if search.launches:
        print(f"settings: {search.seconds:.0f} s", file=sys.stderr, flush=True)


def figure_of(kind, method, lengths, cores, program, _where):
    return program.figure(kind, method, lengths, cores)


def main():
    args = options()
    search = peers.search_of(args, "geometric mean, µs of a message")
    programs, absent = peers.choose(PROGRAMS, args)
    stages = [("lat", args.lat_sizes), ("bw", args.bw_sizes)][turning(args):]
    folder = claim(args.dir)
    try:
        path = os.path.join(folder, "p2p")
        settle(programs, stages, search, args.cores)
        if search.figures:
            write_settings(path + "-settings.csv", search)
        samples, noise, tries, rounds = measure(programs, stages, args)
        failures = [f"{name}: {kind}: {how}" for (name, kind), how
                    in tries.failures(rounds)]
        for line in failures:
            print(f"scripts/compare-p2p: {line}", file=sys.stderr)
        if any(tries.never((OURS, kind)) for kind, _ in stages):
            return 1
        record = programs[0].record
        rows = summarize(samples)
        text = report(rows, programs, noise, absent + failures, search, args,
                      record, rounds)
        write_csv(path + ".csv", rows)
        write_samples(path + "-samples.csv", samples)
        write_json(path + ".json.gz", rows, record)
        with open(path + ".txt", "w", encoding="utf-8") as file:
            file.write(text)
    finally:
        leave(folder)
    print(text)
    print(f"results: {folder}", flush=True)
    drawn = draw(folder, args.pictures)
    return 1 if tries.always_failed() else drawn
