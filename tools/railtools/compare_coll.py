# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI, MPICH and Intel MPI next to us: all-gather, gather, all-to-all,
broadcast, reductions and scans (sums of doubles; sizes are those of the whole
vector, of a reduce-scatter those of a rank's block), and the irregular
all-to-all by the patterns of railbench alltoallv (or all of them: --collectives
alltoallv), whose sizes are elements. The libraries are those of Debian and
newer ones in Python wheels.

All run the same loops (bench/peers/mpi_coll.c, railbench --start barrier
--each): single calls that all ranks make at a time they have agreed on, until
the last has returned; and so many back to back after a barrier that they take
about 10 ms, of which the slowest rank counts (a column of its own, in the CSV
-rate). Calls are blocking ones on plain memory of whole pages; with --calls
also persistent requests, of MPI 4 beside ours, whose memory is registered once.
Buffers are used again and again. Rank r is pinned to the r-th of the allowed
cores, and again from the first, which is checked.

First the setting of each peer is found that is best, for each number of ranks:
those in tools/railtools/peers.py are launched in turn (--search) with a few sizes; the
result tells what was tried. Then a round launches each program once for each
collective and number of ranks, beginning with another one each time, and the
rounds are repeated. Figures are medians over the rounds with their
non-parametric 95 % confidence interval; at each point we are compared with the
peer that has the best one, by the ratios of the same rounds: we are ahead or
behind if their whole interval is on that side of 1. What is not installed is
named and left out (make deps-peers peers installs and builds all of it).

On two cores a launch of each setting takes about five minutes, of the wheels,
and a round of five sizes one and a half. The result is written after each
round, which tells how long the others may take. An interrupted script keeps the
complete rounds. What fails in a round, or does not end within a minute, is
counted, told, and runs again in the next, unless it has failed in each of the
first 3; what fails in each of its rounds makes the exit status 1.

DIR (default results/<host>-<date>-coll; an existing one is never touched: -2,
-3 ... is appended) gets coll.txt (tables, versions, exact commands), coll.csv,
coll-samples.csv (every round), coll-settings.csv (all that was searched), and
<collective>-<ranks>.json.gz with pictures.
"""
import argparse
import json
import os
import platform
import re
import statistics
import sys
import time
from typing import NamedTuple

from railtools import peers
from railtools.files import claim, csv_text, hide, leave, replace
from railtools.noise import Noise
from railtools.options import (
    Parser,
    add_pictures,
    add_rounds,
    another_round,
    chosen_of,
    draw,
    progress,
    settle_rounds,
    size_name,
    sizes,
)
from railtools.paths import ROOT
from railtools.peers import OURS, allowed_cores
from railtools.programs import Failure
from railtools.rounds import (
    ENOUGH,
    Tries,
    geometric_mean,
    in_turn,
    median_interval,
    place,
    ratios,
    verdict,
)

COLLECTIVES = ("allgather", "gather", "alltoall", "bcast")  # the usual ones
REDUCTIONS = ("reduce", "allreduce")
PARTIAL = ("reduce_scatter_block", "scan", "exscan")  # each rank's is another
# the block of rank r has (r + 1)/N of the bytes; railbench --unequal of …
UNEQUAL = {"allgatherv": "allgather", "gatherv": "gather",
           "scatterv": "scatter", "reduce_scatter": "reduce_scatter_block"}
DOUBLE = 8  # bytes
CALLS = ("blocking", "persistent")
PERSISTENT, RATE = "-persistent", "-rate"  # behind a collective's name
IRREGULAR = "alltoallv"
PATTERNS = tuple(f"{IRREGULAR}-{pattern}" for pattern in (
    "spike", "transpose", "uniform", "zipf", "alltoone"))
REPETITIONS = 3  # of each program in each round
LATE_TOLD = 0.05  # of the single calls
# wanted: geometric mean of the best peer's time over ours, by ranks
TARGETS = {2: 1.5, 4: 2, 8: 2, 16: 2}
PARTIAL_TARGET = 1.5  # of PARTIAL, and UNEQUAL
PATTERNS_TARGET = 2  # ... over all patterns, none of which is below 1
QUICK = {"repeat": 1, "ranks": "2,16", "sizes": "8,4K", "elements": "4",
         "search": 0}


# -------------------------------------------------------------- programs ---

class Late:
    """How many single calls began too late in some rank, each time."""

    def __init__(self):
        self.parts = {}  # by the number of ranks

    def add(self, ranks, parts):
        self.parts.setdefault(ranks, []).extend(parts)

    def told(self):
        return ", ".join(
            f"{statistics.fmean(parts):.0%} with {ranks} ranks"
            for ranks, parts in self.parts.items()
            if parts and statistics.fmean(parts) >= LATE_TOLD)


class Collectives(peers.Peer):
    """A build of bench/peers/mpi_coll.c."""

    source = "mpi_coll"

    def __init__(self, args):
        super().__init__(args)
        self.late = Late()

    def figure(self, args, ranks):
        """By which a setting is chosen: the geometric mean of a launch."""
        runs = [(collective, size) for collective in dict.fromkeys(
            name.removesuffix(PERSISTENT) for name in args.collectives)
            for size in peers.some(
                    lengths_of(args, collective))]
        rows = self.rows(ranks, allowed_cores(), [
            f"{collective}:{size}:1" for collective, size in runs])
        if len(rows) != len(runs):
            raise Failure(f"{self.name}: {len(rows)} of {len(runs)} results")
        return geometric_mean(
            float(row[columns(collective)[0]])
            for row, (collective, _) in zip(rows, runs))

    def measure(self, collective, ranks, lengths):
        """{series: {bytes: microseconds}} of one round."""
        rows = self.rows(ranks, allowed_cores(), [
            f"{collective}:{size}:{REPETITIONS}" for size in lengths])
        self.late.add(ranks, [float(row["kept_late"]) for row in rows])
        return {name: {size: statistics.median(
            float(row[column]) for row in rows if int(row["bytes"]) == size)
            for size in lengths} for name, column in zip(
                series(collective), columns(collective))}


class Ours(peers.Railbench):
    def __init__(self, args):
        super().__init__(args)
        self.record = None
        self.late = Late()

    def measure(self, collective, ranks, lengths):
        irregular = is_irregular(collective)
        lengths = ",".join(map(str, lengths))
        call = CALLS[collective.endswith(PERSISTENT)]
        _, pattern, element = (collective + "--").split("-")[:3]
        self.record = self.record_of(ranks, REPETITIONS, [
            IRREGULAR, "--pattern", pattern, "--element", element,
            "--elements", lengths] if irregular else [
                *test_of(collective.removesuffix(PERSISTENT)), "--sizes",
                lengths,
                "--call", call, "--each"])
        self.late.add(ranks, [row["each"]["kept_late"] / row["each"]["calls"]
                              for row in self.record["results"]
                              if not irregular])
        unit = "elements" if irregular else "bytes"
        parts = {"latency_us": "collective", "each_us": "each"}
        return {name: {row[unit]: row[parts[column]]["latency_us"]["median"]
                       for row in self.record["results"]}
                for name, column in zip(series(collective),
                                        columns(collective))}


PROGRAMS = [Ours, *peers.libraries(Collectives)]


# ------------------------------------------------------------- measuring ---

def test_of(collective):
    """The words of railbench."""
    return [UNEQUAL[collective], "--unequal"] if collective in UNEQUAL \
        else [collective]


def series(collective):
    """The measurements of a collective in one launch."""
    return [collective] if is_irregular(collective) else [
        collective, collective + RATE]


def columns(collective):
    """Their columns in mpi_coll's output."""
    return ["latency_us"] if is_irregular(collective) else [
        "each_us", "latency_us"]


def lengths_of(args, collective):
    if is_irregular(collective):
        return args.elements
    unit = DOUBLE if is_reduction(collective) else 1
    return [size for size in args.sizes if size % unit == 0]


class Rounds:
    """The figures of complete rounds."""

    def __init__(self):
        # {(collective, ranks, bytes, program): {round: microseconds}}
        self.samples = {}
        self.records = {}  # of ours
        self.tries = Tries()  # of (collective, ranks, program)
        self.noise = Noise(allowed_cores())
        self.seconds = []  # that each of them took

    def left(self, args):
        """About how many seconds the other rounds will take; one that there is
        no time for takes none."""
        others = args.repeat - len(self.seconds)
        left = others * statistics.fmean(self.seconds)
        return min(left, max(0, 60 * args.time - sum(self.seconds))) \
            if args.time else left

    def add(self, found, failed, seconds):
        self.seconds.append(seconds)
        for (collective, ranks, program), (figures, record) in found.items():
            for name, values in figures.items():
                for size, us in values.items():
                    self.samples.setdefault(
                        (name, ranks, size, program.name), {})[
                            len(self.seconds)] = us
                if program.name == OURS:
                    self.records[name, ranks] = record
            self.tries.add((collective, ranks, program.name))
        for where, why in failed.items():
            self.tries.add(where, why)

    def least(self):
        """Rounds of what has the fewest."""
        return min(map(len, self.samples.values()))

    def failures(self):
        """A line for each that has failed."""
        for (collective, ranks, name), how in self.tries.failures(
                len(self.seconds)):
            yield f"{name}: {collective}, {ranks} ranks: {how}"


def measure(programs, args, rounds):
    """Measures one round. A program that fails in it may do better in the next
    one."""
    begin, found, failed = time.monotonic(), {}, {}
    rounds.noise.begin()
    for ranks in args.ranks:
        for collective in args.collectives:
            for program in in_turn(programs, len(rounds.seconds)):
                where = collective, ranks, program.name
                if rounds.tries.hopeless(where) or (
                        collective.endswith(PERSISTENT)
                        and not program.persistent):
                    continue
                progress(f"round {len(rounds.seconds) + 1} of {args.repeat}: "
                         f"{collective}, {ranks} ranks, {program.name}")
                try:
                    figures = program.measure(
                        collective, ranks, lengths_of(args, collective))
                    found[collective, ranks, program] = (
                        figures, getattr(program, "record", None))
                except (Failure, KeyError, ValueError, OSError) as error:
                    failed[where] = hide(
                        str(error) or repr(error), program.hidden)
    progress("")
    rounds.noise.end()
    rounds.add(found, failed, time.monotonic() - begin)


# --------------------------------------------------------------- results ---

class Ratio(NamedTuple):
    """Of a peer's time to ours."""

    peer: str
    interval: tuple  # (median, lo, hi)
    rounds: dict  # {round: ratio}, of those that both have

    def place(self):
        return place(self.interval, len(self.rounds))


def summarize(samples):
    """{(series, ranks, bytes): (figures, ratio)}: {program: (median, lo, hi)},
    and the Ratio of the best peer, or None."""
    points: dict = {}
    for (name, ranks, size, program), values in samples.items():
        points.setdefault((name, ranks, size), {})[program] = values
    return {point: (
        {program: median_interval(values.values())
         for program, values in programs.items()}, best_ratio(programs))
        for point, programs in points.items()}


def best_ratio(programs):
    peer = min((name for name in programs if name != OURS), default="",
               key=lambda name: statistics.median(programs[name].values()))
    found = ratios(programs[peer], programs[OURS]) \
        if peer and OURS in programs else None
    return Ratio(peer, median_interval(found.values()), found) \
        if found else None


def describe(collective):
    if is_irregular(collective):
        return f"{collective}, back to back"
    what, _, rest = collective.partition("-")
    return f"{what}, {rest or CALLS[0]}"


def is_irregular(collective):
    return collective.startswith(IRREGULAR)


def is_reduction(collective):
    return collective.removesuffix(PERSISTENT) in (
        *REDUCTIONS, *PARTIAL, "reduce_scatter")


def interval_text(interval):
    return "{:.2f} [{:.2f}, {:.2f}]".format(*interval)


def ratio_text(ratio):
    return f"{interval_text(ratio.interval)} {ratio.place()}" if ratio else ""


def table(points, collective, ranks, names):
    """Single calls, and beside them those back to back without their interval,
    which is in the CSV."""
    several = len(series(collective)) > 1
    lines = [f"{describe(collective)}, {ranks} ranks: µs, median "
             + ("of single calls [95 % interval], back to back" if several
                else "[95 % interval]")]
    wide = 44 if several else 33
    best = "best / ours" + (", single" if several else "")
    lines.append((f"{'elem.' if is_irregular(collective) else 'bytes':>6}"
                  + "".join(f"{title:>{wide}}" for title in names)
                  + f"  {best:<27}" + "back to back" * several).rstrip())
    sizes_of = [size for name, n, size in points
                if (name, n) == (collective, ranks)]
    for size in sizes_of:
        found = [points.get((name, ranks, size), ({}, None))
                 for name in series(collective)]
        cells = "".join(cell(title, found) for title in names)
        lines.append((f"{size_name(size):>6}{cells}" + "".join(
            f"  {ratio_text(ratio):<25}" for _, ratio in found)).rstrip())
    return lines


def cell(title, found):
    """@found: of each series, (figures, ratio)."""
    text = ""
    for (figures, _), form, nothing in zip(
            found, ("  {:9.2f} [{:9.2f},{:9.2f}]", " {:10.2f}"),
            (f"  {'-':>31}", f" {'-':>10}")):
        text += form.format(*figures[title]) if title in figures else nothing
    return text


def by_round(found):
    """{round: geometric mean over the points}, of the rounds that all have.
    @found: Ratios of the points."""
    common = set.intersection(*(set(ratio.rounds) for ratio in found))
    return {number: geometric_mean(ratio.rounds[number] for ratio in found)
            for number in sorted(common)}


def mean_of(found):
    """((median, lo, hi) over the rounds, how many rounds)."""
    means = by_round(found)
    return (median_interval(means.values()), len(means)) if means else None


def ratios_of(points, names, ranks, args):
    """({(name, size): Ratio}, how many points there are none of)."""
    wanted = [(name, size) for name in names for size in lengths_of(args, name)]
    found = {(name, size): points[name, ranks, size][1] for name, size in wanted
             if points.get((name, ranks, size), (None, None))[1]}
    return found, len(wanted) - len(found)


def mean_text(found, missing):
    mean = mean_of(found.values()) if found else None
    if not mean:
        return "no round has all" if found else "not measured"
    return interval_text(mean[0]) + (
        f" ({missing} points not measured)" if missing else "")


def means(points, args):
    """Geometric means over the sizes, and the weakest points."""
    lines = ["Best peer's time / ours: geometric mean over the sizes [95 % "
             "interval over the rounds], weakest size"]
    for ranks in args.ranks:
        for collective in args.collectives:
            for name in series(collective):
                found, missing = ratios_of(points, [name], ranks, args)
                line = f"  {name:<26} {ranks:>3} ranks: " + mean_text(
                    found, missing)
                if found:
                    _, size = weakest = min(
                        found, key=lambda at: found[at].interval[0])
                    line += (f"; {size_name(size)}: "
                             f"{ratio_text(found[weakest])} "
                             f"({found[weakest].peer})")
                lines.append(line)
    return lines


def target_text(wanted, found, missing):
    """Is the geometric mean so high, and no point's interval below 1?"""
    mean = mean_of(found.values()) if found else None
    if not mean:
        return mean_text(found, missing)
    interval, rounds = mean
    told = verdict(interval, rounds, wanted)
    if missing and told == "met":
        told = "not shown"
    return (f"{interval_text(interval)}, wanted {wanted}: {told} "
            f"({interval[0] / wanted - 1:+.0%}); "
            + points_text(found, missing))


def points_text(found, missing):
    places = [ratio.place() for ratio in found.values()]
    behind = sorted((at for at in found if found[at].place() == "behind"),
                    key=lambda at: found[at].interval[0])
    text = f"points behind: {len(behind)} of {len(places)}: " + (
        "MISSED" if behind else "met")
    if not behind and (missing or "few" in places):
        text = "points behind: not shown"
    if missing:
        text += f", {missing} not measured"
    if "few" in places:
        text += f", {places.count('few')} with fewer than {ENOUGH} rounds"
    return text + "".join(
        f"\n      {name}, {size_name(size)}: {ratio_text(found[name, size])} "
        f"({found[name, size].peer})" for name, size in behind)


def targets(points, args):
    """The targets of blocking calls, one at a time; and of all patterns."""
    lines = []
    groups: list = [("single blocking calls", [name for name in args.collectives
                                         if name in COLLECTIVES + REDUCTIONS],
               TARGETS),
              ("single reduce-scatters and scans", [
                  name for name in args.collectives if name in PARTIAL],
               dict.fromkeys(args.ranks, PARTIAL_TARGET)),
              ("single calls with unequal blocks", [
                  name for name in args.collectives if name in UNEQUAL],
               dict.fromkeys(args.ranks, PARTIAL_TARGET)),
              ("all patterns", [name for name in args.collectives
                                if is_irregular(name)],
               dict.fromkeys(args.ranks, PATTERNS_TARGET))]
    for what, names, wanted in groups:
        if not names:
            continue
        lines.append(f"Targets: {what}, best peer's time / ours: geometric "
                     f"mean over the sizes of {', '.join(names)}; no point "
                     "whose interval is below 1")
        for ranks in args.ranks:
            found = ratios_of(points, names, ranks, args)
            lines.append(f"  {ranks:>3} ranks: " + (
                target_text(wanted[ranks], *found) if ranks in wanted
                else mean_text(*found) + ", no target"))
    return lines


def heading(rounds, args):
    record = next(iter(rounds.records.values()))
    machine, cores = record["machine"], len(allowed_cores())
    lines = [f"Collectives: {OURS} and its peers, {record['date'][:10]}",
             f"{machine['host']}: {machine['cpu']}, {machine['kernel']}, "
             f"{machine['libc']}; {cores} cores; rank r on core r mod {cores}",
             f"Rounds of all programs in turn: {len(rounds.seconds)}, "
             f"{REPETITIONS} repetitions each. Noise: {rounds.noise.text()}."]
    if rounds.least() < ENOUGH:
        lines.append(f"Fewer than {ENOUGH} rounds (at least {rounds.least()} "
                     "of each point): intervals hold less than 95 %.")
    if max(args.ranks) > cores:
        lines.append(f"More than {cores} ranks share the cores.")
    return lines + [
        "The last columns are ratios to the best peer at this point, of the "
        "same rounds, with their interval: ahead or behind is what is so as a "
        f"whole. Few: fewer than {ENOUGH} rounds.",
        "Memory: pages of each program's own, plain where calls are blocking; "
        "ours of persistent requests"
        + (" and of alltoallv" if any(map(is_irregular, args.collectives))
           else "") + " is drail_mem_alloc's.",
        "Of single calls ranks tell each other by an all-gather of ours, and "
        "an all-reduce of MPI's.",
        "Warm-up: until so many calls are known to last about 10 ms, and one "
        "before each repetition."]


def report(points, programs, rounds, search, remarks, args):
    lines = heading(rounds, args)
    names = [program.name for program in programs]
    for ranks in args.ranks:
        for collective in args.collectives:
            lines += ["", *table(points, collective, ranks, names)]
    lines += ["", *means(points, args), "", *targets(points, args), ""]
    if "persistent" in args.calls:
        remarks = [*remarks, *(
            f"{program.name}: has no persistent collectives (MPI 3.1)"
            for program in programs if not program.persistent)]
    remarks = [*remarks, *(
        f"{program.name}: single calls that began late in some rank, which is "
        f"in their time: {program.late.told()}"
        for program in programs if program.late.told())]
    lines += peers.told(programs, [*remarks, *rounds.failures()], search)
    return "\n".join(lines) + "\n"


def csv_of(points):
    rows = [["test", "program", "ranks", "bytes", "latency_us",
             "latency_us_lo", "latency_us_hi", "best_peer_over_ours",
             "best_peer", "best_peer_over_ours_lo", "best_peer_over_ours_hi"]]
    for (name, ranks, size), (figures, found) in points.items():
        peer, interval = found[:2] if found else ("", ())
        values = [f"{value:.4g}" for value in interval] or [""] * 3
        rows += [[name, program, ranks, size]
                 + [f"{number:.6g}" for number in figure]
                 + [values[0], peer, *values[1:]]
                 for program, figure in figures.items()]
    return csv_text(rows)


def csv_of_samples(samples):
    return csv_text([["test", "program", "ranks", "bytes", "round",
                      "latency_us"]] + [
        [collective, program, ranks, size, number, f"{us:.6g}"]
        for (collective, ranks, size, program), values in samples.items()
        for number, us in values.items()])


def json_of(points, collective, ranks, programs, record):
    """For scripts/plot, in the form of railbench's results."""
    element = record["options"].get("element", 1)
    names = [program.name for program in programs]
    results = [{"bytes": size * element, "elements": size,
                "configuration": names.index(program), "collective": {
                    "latency_us": dict(zip(("median", "lo", "hi"), figure))}}
               for (what, n, size), (figures, _) in points.items()
               if (what, n) == (collective, ranks)
               for program, figure in figures.items()]
    result = {name: record[name] for name in
              ("version", "revision", "date", "options", "machine", "rails")}
    result.update(
        schema="dapl_rail.p2p/1", test=collective.split("-")[0], partial=False,
        series=describe(collective), results=results, configurations=[
            {"index": index, "label": program.name, "engine": "", "rails": "",
             "polls": program.polls,
             "pattern": (collective + "-").split("-")[1]}
            for index, program in enumerate(programs)])
    return json.dumps(result, indent=1) + "\n"


# --------------------------------------------------------------- options ---

def rank_list(text):
    found = [int(word) if re.fullmatch(r"\d{1,2}", word) else 0
             for word in text.split(",")]
    if not all(2 <= ranks <= 64 for ranks in found) or \
            len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of numbers from 2 to 64")
    return sorted(found)


def element_sizes(text):
    found = text.split(",")
    if not all(re.fullmatch(r"[1-9]\d{0,4}", word) and int(word) <= 65536
               for word in found) or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of numbers from 1 to 65536")
    return found


def options():
    parser = Parser(prog="scripts/compare-coll", description=__doc__)
    parser.add_argument("--quick", action="store_true",
                        help="to see that all of them run: other defaults ("
                             + ", ".join(f"--{name} {value}" for name, value
                                         in QUICK.items()) + ")")
    peers.add_search(parser)
    add_rounds(parser)
    parser.add_argument("--ranks", metavar="N,...", type=rank_list,
                        default="2,4,8,16", help="(default %(default)s)")
    parser.add_argument("--sizes", metavar="a,b", type=sizes,
                        default="4,32,256,1K,4K,16K,64K,256K,1M",
                        help="block sizes (default %(default)s); of "
                             "reductions those of whole doubles")
    parser.add_argument("--collectives", metavar="C,...",
                        type=chosen_of(
                            COLLECTIVES + REDUCTIONS + PARTIAL
                            + tuple(UNEQUAL) + PATTERNS,
                            {IRREGULAR: PATTERNS}),
                        default=",".join(COLLECTIVES),
                        help="(default %(default)s); "
                             f"{', '.join(REDUCTIONS + PARTIAL)}; "
                             f"{', '.join(UNEQUAL)}, whose blocks grow with "
                             "the rank; "
                             f"{IRREGULAR}: all patterns")
    parser.add_argument("--calls", metavar="C,...", type=chosen_of(CALLS),
                        default=CALLS[0],
                        help="blocking, persistent (default %(default)s)")
    parser.add_argument("--elements", metavar="a,b", type=sizes,
                        default="1,4,16,64,256,1K,4K",
                        help=f"of {IRREGULAR}: the most from one rank to "
                             "another (default %(default)s)")
    parser.add_argument("--element", metavar="BYTES,...", type=element_sizes,
                        default="48", help="... bytes of one (default 48)")
    peers.add_peers(parser, PROGRAMS)
    add_pictures(parser)
    parser.add_argument("dir", metavar="DIR", nargs="?", default=os.path.join(
        ROOT, "results",
        f"{platform.node()}-{time.strftime('%Y-%m-%d')}-coll"),
        help="where to put the result")
    args = parser.parse_args()
    if args.quick:
        parser.set_defaults(**QUICK)
        args = parser.parse_args()
    if not all(lengths_of(args, name) for name in args.collectives):
        parser.error("--sizes: none is of whole doubles, as reductions "
                     "need")
    settle_rounds(args)
    args.collectives = [name for collective in args.collectives for name in (
        [f"{collective}-{element}" for element in args.element]
        if is_irregular(collective) else
        [collective + (PERSISTENT if call == CALLS[1] else "")
         for call in args.calls])]
    return args


def write(folder, rounds, programs, search, remarks, args):
    points = summarize(rounds.samples)
    text = report(points, programs, rounds, search, remarks, args)
    files = {"coll.csv": csv_of(points),
             "coll-samples.csv": csv_of_samples(rounds.samples),
             "coll.txt": text}
    if search.figures:
        files["coll-settings.csv"] = csv_text(search.rows())
    for (collective, ranks), record in rounds.records.items():
        files[f"{collective}-{ranks}.json.gz"] = json_of(
            points, collective, ranks, programs, record)
    for name, content in files.items():
        replace(os.path.join(folder, name), content)
    tell(f"round {len(rounds.seconds)} of {args.repeat}: "
         f"{rounds.seconds[-1]:.0f} s, about {rounds.left(args) / 60:.0f} min "
         f"to go; results so far: {folder}")
    return text


def tell(text):
    print(text, file=sys.stderr, flush=True)


def settle(programs, search, args):
    for ranks in args.ranks:
        search.settle(programs, ranks, lambda program, ranks: program.figure(
            args, ranks))
    if search.figures:
        tell(f"settings: {search.seconds:.0f} s")


def go(folder, rounds, programs, search, remarks, args):
    """All rounds. @return the text, None if nothing could be measured."""
    text = None
    settle(programs, search, args)
    while another_round(args, rounds.seconds):
        measure(programs, args, rounds)
        if rounds.records:
            text = write(folder, rounds, programs, search, remarks, args)
    for line in rounds.failures():
        tell(f"scripts/compare-coll: {line}")
    return text


def main():
    args = options()
    search = peers.search_of(args, "geometric mean of single calls, µs")
    programs, remarks = peers.choose(PROGRAMS, args)
    rounds = Rounds()
    folder = claim(args.dir)  # with nothing before the try that may fail
    try:
        text = go(folder, rounds, programs, search, remarks, args)
    except KeyboardInterrupt:
        progress("")
        # it may have come just before this
        if rounds.seconds and rounds.records:
            write(folder, rounds, programs, search, remarks, args)
        tell("scripts/compare-coll: interrupted; complete rounds: "
             f"{len(rounds.seconds)}")
        return 1
    finally:
        leave(folder)
    if not text:
        return 1
    print(text)
    print(f"results: {folder}", flush=True)
    drawn = draw(folder, args.pictures)
    return 1 if rounds.tries.always_failed() else drawn
