# SPDX-License-Identifier: BSD-3-Clause
"""Describes this machine for rails in virtual time (sim_platform(5)): measures
its rails, between two ranks of one node, and its memory by railbench, and
writes FILE, a platform whose nodes are like this one. Each figure is the median
of fresh launches, and stands beside the least and the greatest of them and the
command that it comes from. All are of messages between two ranks, or of the
memory; no collective tells any.

Times of a message come apart by differences: posting is the time between two
messages of a long batch; completion, what it costs more to wait for each;
latency, half of a ping-pong that polls, less posting; notification, half of two
exchanges of one message each way that is waited for, less posting and latency.

A rail whose messages are copied in their posting (shm) has the processor as
carrier. Its nodes are emulated by one host, and share its memory; what has been
put is in the other one's caches, and the first copy of it takes longer.

With --check it then predicts collectives of one rank a node and measures them
on the same rails: how well does the one tell the other? As a machine's figures
move by the minute, this goes by rounds: each describes the machine anew,
predicts by that, and measures at once. A ratio is the median of its rounds', and
stands beside the least and the greatest of them. Nothing of what is measured
then goes into the file.
"""
import argparse
import json
import math
import re
import statistics
import sys
import tempfile

from railtools.files import csv_text, replace
from railtools.options import (
    Parser,
    count,
    duration,
    progress,
    size_name,
    wrong,
)
from railtools.paths import NAME, RAILBENCH
from railtools.programs import Failure, run

LONG, SHORT = 1 << 20, 8  # bytes
MANY, BATCH, WINDOW = 1000, 20, 8  # messages
COPY = 256 << 10  # of one thread: within its caches, as a node's rooms are
LIMIT = 300  # seconds of a launch, whatever else the machine does
SHARED = 0.95  # what reaches less of its parts' sum shares something
CARRIED = 0.5  # part of a long message's time that is its posting
SIGN = "# Measured by scripts/calibrate"
CHECKED = {"allgather": "direct,ring,doubling",
           "alltoall": "direct,bruck", "gather": "direct,tree"}
CHECK_SIZES = "64,4K,64K,1M"
# of a value in a platform file (sim_platform(5))
ALLOWED = {"MB/s": (0.001, 1e9), "us": (0, 1e6), "ns": (0, 1e9)}


class Launches:
    """railbench's results: of each command so many, as JSON."""

    def __init__(self, rails, number, seconds, title=""):
        self.rails, self.number, self.seconds = rails, number, seconds
        self.title = title

    def command(self, test, *options):
        rails = ["--rails", ",".join(self.rails)] if test != "limits" else []
        return [RAILBENCH, test, *rails, *options]

    def results(self, test, *options):
        command = self.command(test, *options, "--time-budget", self.seconds,
                               "--format", "json")
        found = []
        for number in range(self.number):
            progress(f"{self.title}{test} {' '.join(options)}: launch "
                     f"{number + 1} of {self.number}")
            found.append(json.loads(run(command, LIMIT)))
        return found


def number(value):
    """Four digits, without an exponent; none behind a millionth."""
    whole, _, rest = f"{float(f'{value:.4g}'):.6f}".partition(".")
    return f"{whole}.{rest}".rstrip("0").rstrip(".")


def quantity(value, unit):
    """... as a platform file takes it."""
    least, most = ALLOWED[unit]
    return f"{number(min(max(value, least), most))} {unit}"


class Figure:
    """A median, its range, and where it comes from."""

    def __init__(self, values, source):
        self.value = statistics.median(values)
        self.least, self.most = min(values), max(values)
        self.source = source

    def less(self, what, source):
        """Without what other figures tell of the same time."""
        low = [max(0, v - what) for v in (self.value, self.least, self.most)]
        rest = Figure(low[1:], f"{self.source}, less {source}")
        rest.value = low[0]
        return rest

    def line(self, key, unit):
        value = f"{key} = {quantity(self.value, unit)}"
        return f"{value:<28}# {self.range()}: {self.source}"

    def range(self):
        return f"{number(self.least)} to {number(self.most)}"


# ------------------------------------------------------------- measuring ---

def rails_of(result, name):
    """Results of the rail alone, or (None) of all together."""
    rails = name or "+".join(rail["name"] for rail in result["rails"])
    index = [c["index"] for c in result["configurations"]
             if c["rails"] == rails]
    return [r for r in result["results"] if r["configuration"] in index]


class Runs:
    """Results of a test of messages, and the command that tells it."""

    def __init__(self, launches, test, *options):
        self.results = launches.results(test, *options)
        self.source = f"railbench {' '.join([test, *options])}"

    def figure(self, rail, get, note=""):
        """Of one rail, or (None) of all together."""
        return Figure([get(rails_of(r, rail)[0]) for r in self.results],
                      self.source + note)

    def time(self, rail, loop="batch", messages=1):
        """Median over messages: what interrupts some of them does not count."""
        return self.figure(rail, lambda r: messages *
                           r[loop]["percentiles_us"]["p50"],
                           ", ping-pong" if loop == "pingpong" else "")

    def rate(self, rail, directions=1):
        return self.figure(rail, lambda r: directions * r["bytes"] /
                           r["batch"]["percentiles_us"]["p50"],
                           "" if rail else ", all rails")

    def posting(self, rail):
        """Which part of a message's time is its posting, undisturbed."""
        return self.figure(
            rail, lambda r: r["batch"]["post_us"]["min"] / BATCH /
            r["batch"]["latency_us"]["min"]).most


def measure_message(launches, rails):
    """A message's cost for its processor, and its latency, by rail."""
    single = ["--sizes", str(SHORT), "--engine", "single"]
    many = [*single, "--batch", str(MANY)]
    posts = Runs(launches, "bw", *many)
    completions = Runs(launches, "bw", *many, "--window", str(WINDOW))
    pings = Runs(launches, "lat", *single)
    exchanges = Runs(launches, "bibw", *single, "--batch", "1")
    for name, rail in rails.items():
        rail["post"] = rail["gap"] = posts.time(name)
        post = rail["gap"].value
        ping = pings.time(name, "pingpong")
        rail["completion"] = completions.time(name).less(post, "post")
        rail["latency"] = ping.less(post, "post")
        rail["notification"] = exchanges.time(name, messages=0.5).less(
            ping.value, "post and latency")


def measure_rates(launches, rails):
    """Of each rail; and what all reach in one direction, and in both."""
    long = ["--sizes", size_name(LONG)]
    engines = ["--engine", "single,nonthreaded"]
    oneway = Runs(launches, "bw", *long, *engines)
    bothways = Runs(launches, "bibw", *long, *engines)
    parts = Runs(launches, "breakdown", "--sizes", size_name(COPY),
                 "--engine", "single", "--batch", str(BATCH))
    for name, rail in rails.items():
        rail["rate"] = oneway.rate(name)
        rail["carried"] = parts.posting(name) > CARRIED
    every = None if len(rails) > 1 else next(iter(rails))
    return oneway.rate(every), bothways.rate(every, directions=2)


def measure_rails(launches):
    rails: dict = {name: {} for name in launches.rails}
    measure_message(launches, rails)
    return rails, *measure_rates(launches, rails)


def measure_fork(launches):
    """The cost of a fork-join team beside one thread; None: one rail."""
    if len(launches.rails) < 2:
        return None
    sets = {}
    for engine in ("nonthreaded", "threaded"):
        team = ["--team", "forkjoin"] if engine == "threaded" else []
        sets[engine] = Figure(
            [r["results"][0]["batch"]["other_us"]["median"] for r in
             launches.results("breakdown", "--sizes", str(SHORT),
                              "--engine", engine, *team)],
            f"railbench breakdown --engine {' '.join([engine, *team])}, other")
    return sets["threaded"].less(sets["nonthreaded"].value,
                                 sets["nonthreaded"].source)


def measure_memory(launches):
    """Copies by 1, 2, ... threads together, and a flag."""
    found = launches.results("limits", "--sizes", size_name(COPY))
    plain = [{c["threads"]: c["bandwidth_MBps"]["median"]
              for c in result["copies"]
              if (c["buffers"], c["copy"]) == ("cached", "plain")}
             for result in found]
    copies = [Figure([p[threads] for p in plain],
                     f"railbench limits --sizes {size_name(COPY)}, cached")
              for threads in sorted(plain[0])]
    lines = [[line["latency_ns"]["median"] for line in result["cache_lines"]
              if line["lines"] == 1] for result in found]
    flag = Figure(list(map(statistics.median, lines)),
                  "railbench limits, one line") if lines[0] else None
    return copies, flag, found[0]["machine"]


def measure_handover(launches, rails, alone):
    """The rate of the first read after a put by a processor, or None: a
    ping-pong that copies the data, less a ping-pong that does not and a
    copy."""
    if not any(rail["carried"] for rail in rails.values()):
        return None
    options = ["--sizes", size_name(COPY), "--engine", "nonthreaded"]
    every = None if len(rails) > 1 else next(iter(rails))
    plain = Runs(launches, "lat", *options).time(every, "pingpong").value
    known = plain + COPY / alone.value
    taken = Runs(launches, "lat", *options, "--consume")
    if taken.time(every, "pingpong").least <= known:
        return None
    return taken.figure(
        every, lambda r: COPY / (r["pingpong"]["percentiles_us"]["p50"] -
                                 known), ", less the same without and a copy")


# ------------------------------------------------------------------ file ---

def cores_of(machine):
    """(sockets, cores of each)"""
    sockets = machine["packages"] or 1
    return sockets, max(1, machine["cores"] // sockets)


def check_ppn(ppn):
    """Before anything is measured."""
    result = json.loads(run([RAILBENCH, "limits", "--sizes", "4K",
                             "--time-budget", "0.1", "--format", "json"],
                            LIMIT))
    cores = math.prod(cores_of(result["machine"]))
    if ppn > cores:
        wrong(f"--ppn: '{ppn}' is wrong; allowed: a number from 1 to {cores}, "
              "the cores of this machine")


def node_lines(args, machine):
    sockets, cores = cores_of(machine)
    ranks = args.ppn or sockets * cores
    return ["[cluster]", f"nodes = {args.nodes}", "", "[node]",
            f"sockets = {sockets}", f"cores = {cores}",
            f"ranks = {ranks}", ""]


def memory_lines(args, rails, copies, flag, handover):
    """More threads never copy less in all: what does is noise."""
    rates: list = []
    for figure in copies:
        rates.append(max([figure.value, *rates[-1:]]))
    lines = ["[memory]", *(
        f"# {threads}: {figure.range()} MB/s: {figure.source}"
        for threads, figure in enumerate(copies, 1)),
        "copy_rate = " + ", ".join(quantity(rate, "MB/s") for rate in rates)]
    if any(rail["carried"] for rail in rails.values()):
        lines.append(f"nodes = {args.nodes:<20}# emulated by one host")
    if handover:
        lines.append(handover.line("handover_rate", "MB/s"))
    return lines + ([flag.line("flag", "ns")] if flag else []) + [""]


def bus_lines(rails, oneway, bothways):
    """A bus that all share, if they or both directions do not add up. What
    carried rails let through is the memory's."""
    total = sum(rail["rate"].value for rail in rails.values()
                if not rail["carried"])
    lines = ["[bus host]"]
    if len(rails) > 1 and oneway.value < SHARED * total:
        lines.append(oneway.line("rate", "MB/s"))
    if bothways.value < SHARED * 2 * min(total, oneway.value):
        lines.append(bothways.line("duplex_rate", "MB/s"))
    return [*lines, ""]


def rail_lines(name, rail):
    lines = [f"[rail {name}]", f"adapter = {name}",
             rail["rate"].line("rate", "MB/s"),
             rail["latency"].line("latency", "us")]
    if rail["carried"]:
        return [*lines, f"{'carrier = processor':<28}# railbench breakdown: "
                "posting takes most of the time", ""]
    return [*lines, rail["gap"].line("gap", "us"), ""]


def platform_text(args, launches):
    rails, oneway, bothways = measure_rails(launches)
    fork = measure_fork(launches)
    copies, flag, machine = measure_memory(launches)
    handover = measure_handover(launches, rails, copies[0])
    lines = [f"# {machine['cpu']}, {machine['cores']} cores, "
             f"{machine['kernel']}; rails {', '.join(rails)}.",
             f"{SIGN}, {args.repeat} launches each: median, least and "
             "greatest.", "",
             *node_lines(args, machine),
             *memory_lines(args, rails, copies, flag, handover),
             *bus_lines(rails, oneway, bothways)]
    for name in rails:
        lines += [f"[adapter {name}]", "bus = host", ""]
    for name, rail in rails.items():
        lines += rail_lines(name, rail)
    lines.append("[message]")
    for key in ("post", "completion", "notification"):
        least = min((rail[key] for rail in rails.values()),
                    key=lambda figure: figure.value)
        lines.append(least.line(key, "us"))
    if fork:
        lines += ["", "[threads]", fork.line("fork", "us")]
    return "\n".join(lines) + "\n"


# ----------------------------------------------------------------- check ---

COLUMNS = ["collective", "algorithm", "bytes", "predicted_us", "measured_us",
           "ratio", "least", "greatest"]


def points(result):
    """{(algorithm, bytes): µs}"""
    labels = {c["index"]: c["algorithm"] for c in result["configurations"]}
    return {(labels[r["configuration"]], r["bytes"]):
            r["collective"]["latency_us"]["median"]
            for r in result["results"]}


class Row:
    """A point of a collective: by rounds, what is predicted and measured."""

    def __init__(self, label, rounds):
        self.label = label
        self.predicted, self.measured = (
            statistics.median(column) for column in zip(*rounds))
        self.ratio = Figure([told / seen for told, seen in rounds], "")

    def texts(self):
        ratio = self.ratio
        return [*map(str, self.label), f"{self.predicted:.4g}",
                f"{self.measured:.4g}", *(f"{r:.2f}" for r in (
                    ratio.value, ratio.least, ratio.most))]


def check_round(args, once):
    """{(collective, algorithm, bytes): (predicted, measured)}"""
    found = {}
    with tempfile.NamedTemporaryFile("w", suffix=".platform",
                                     encoding="utf-8") as file:
        file.write(platform_text(args, once))
        file.flush()
        simulated = Launches([f"sim:{file.name}"], 1, once.seconds)
        for collective, algorithms in CHECKED.items():
            options = ["--ranks", str(args.nodes), "--ppn", "1", "--algorithm",
                       algorithms, "--sizes", CHECK_SIZES]
            measured, predicted = (
                points(launches.results(collective, *options)[0])
                for launches in (once, simulated))
            for point, us in predicted.items():
                found[(collective, *point)] = us, measured[point]
    return found


def check_all(args):
    rounds = []
    for number in range(args.repeat):
        once = Launches(args.rails, 1, args.time,
                        f"check: round {number + 1} of {args.repeat}: ")
        rounds.append(check_round(args, once))
    progress("")
    return [Row(label, [found[label] for found in rounds])
            for label in rounds[0]]


def show(args, rows):
    """Apart from the platform."""
    out = sys.stderr if args.file == "-" else sys.stdout
    print(f"# {args.nodes} nodes of one rank; us: predicted (simulated) and "
          f"measured; medians of {args.repeat} rounds", file=out)
    for texts in (COLUMNS, *(row.texts() for row in rows)):
        print("{:<11}{:<10}{:>9}{:>14}{:>13}{:>7}{:>7}{:>10}".format(*texts),
              file=out)
    print(f"# {summary([row.ratio.value for row in rows])}", file=out)


def summary(ratios):
    """Half and twice as much are as far off."""
    off = [abs(math.log(ratio)) for ratio in ratios]
    near = {percent: sum(far <= math.log(1 + percent / 100) for far in off)
            for percent in (25, 50)}
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    apart = math.exp(statistics.fmean(off))
    return (f"predicted / measured: geometric mean {mean:.2f}; off by a factor "
            f"of {apart:.2f} on average; " + ", ".join(
                f"{number} of {len(ratios)} within {1 / (1 + p / 100):.2f} to "
                f"{1 + p / 100:.2f}" for p, number in near.items()))


# ----------------------------------------------------------------- files ---

def csv_path(args):
    return args.file.removesuffix(".platform") + ".csv"


def is_own(path, sign):
    """Has this script written it? It then has such a line at its beginning."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return any(line.startswith(sign) for line in
                       (file.readline(1000) for _ in range(2)))
    except FileNotFoundError:
        return True


def check_file(args, path, sign):
    """Before anything is measured."""
    try:
        if args.force or is_own(path, sign):
            return
    except OSError as error:
        wrong(f"FILE: '{path}': {error.strerror}")
    wrong(f"FILE: '{path}' is there, and not by {NAME}; allowed: another "
          "name, or --force")


def write(path, text):
    try:
        replace(path, text)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    print(f"written: {path}")


# --------------------------------------------------------------- options ---

def names(text):
    if not all(re.fullmatch(r"[A-Za-z0-9_.-]{1,31}", name)
               for name in text.split(",")):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of IA names of up to 31 "
            "letters, digits, - _ .")
    return text.split(",")


def seconds(text):
    found = duration(text, "s")
    if found is None or not 0.1 <= found <= 999:
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a number of seconds, 0.1 to 999, or "
            "with a unit: 500ms, 2min")
    return f"{found:g}"


def options():
    parser = Parser(description=__doc__, allow_abbrev=True)
    parser.add_argument("--rails", type=names, default=["shm0", "shm1"],
                        metavar="A,B,...", help="IA names (default shm0,shm1)")
    parser.add_argument("--nodes", type=count, default=2, metavar="N",
                        help="nodes that are described (default 2)")
    parser.add_argument("--ppn", type=count, metavar="P",
                        help="ranks of a node (default: as many as cores)")
    parser.add_argument("--repeat", type=count, default=5, metavar="R",
                        help="launches for each figure, and rounds of --check "
                        "(default 5)")
    parser.add_argument("--time", type=seconds, default="3", metavar="S",
                        help="seconds for each launch (default 3)")
    parser.add_argument("--check", action="store_true",
                        help="predict collectives, and measure them; the "
                        "table goes to standard output, or, with FILE -, to "
                        "standard error")
    parser.add_argument("--csv", action="store_true",
                        help="--check: write the table as NAME.csv, too")
    parser.add_argument("--force", action="store_true",
                        help="overwrite files, whoever has written them")
    parser.add_argument("file", metavar="FILE",
                        help="NAME.platform, which is written; - for standard "
                        "output")
    args = parser.parse_args()
    if args.file != "-" and not args.file.endswith(".platform"):
        wrong(f"FILE: '{args.file}' is wrong; allowed: NAME.platform, or -")
    if args.check and args.nodes < 2:
        wrong("--check: one node; allowed: --nodes of 2 and more")
    if args.csv and (args.file == "-" or not args.check):
        wrong("--csv: allowed with --check, and FILE other than -")
    return args


def main():
    args = options()
    if args.file != "-":
        check_file(args, args.file, SIGN)
    if args.csv:
        check_file(args, csv_path(args), ",".join(COLUMNS))
    if args.ppn:
        check_ppn(args.ppn)
    launches = Launches(args.rails, args.repeat, args.time)
    text = platform_text(args, launches)
    progress("")
    if args.file == "-":
        print(text, end="")
    else:
        write(args.file, text)
    if args.check:
        rows = check_all(args)
        show(args, rows)
        if args.csv:
            write(csv_path(args), csv_text(
                [COLUMNS, *(row.texts() for row in rows)]))
    return 0
