# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries with and without libdcoll_mpi: the same program
(bench/peers/mpi_coll.c), once as it is and once with the layer preloaded.

A round launches both for each library and number of ranks, and beside them the
same calls of libdcoll itself (railbench --each), beginning with another one of
the three and with another library each time. Figures are those of
scripts/compare-coll, single calls that all ranks make at a time they have
agreed on, until the last has returned. Ratios are the time without over the
time with the layer, and that with it over libdcoll's, of the same rounds, with
the non-parametric 95 % interval of their median. What the layer has left to the
library, as it was faster there, is in the figures as it is.

DIR (default results/<host>-<date>-layer; an existing one is never touched: -2,
-3 ... is appended) gets layer.txt and layer.csv.
"""
import csv
import os
import platform
import sys
import time

from railtools import peers
from railtools.compare_coll import (
    COLLECTIVES,
    PARTIAL,
    REDUCTIONS,
    UNEQUAL,
    lengths_of,
    test_of,
)
from railtools.files import claim, hide, leave
from railtools.noise import Noise
from railtools.options import (
    Parser,
    chosen_of,
    count,
    progress,
    size_name,
    sizes,
    wrong,
)
from railtools.paths import BIN, NAME, ROOT
from railtools.peers import allowed_cores
from railtools.programs import Failure
from railtools.rounds import (
    ENOUGH,
    Tries,
    geometric_mean,
    in_turn,
    median_interval,
    paired,
    place,
)

REPETITIONS = 3
LIBRARIES = os.path.join(ROOT, os.path.dirname(BIN), "lib")
PLAIN, LAYER, DCOLL = "plain", "layer", "dcoll"  # what is launched
# of MPI alone: libdcoll knows neither datatypes nor neighbours
MPI_ONLY = ("alltoallw", "neighbor_allgather", "neighbor_allgatherv",
            "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw")
CALLS = COLLECTIVES + REDUCTIONS + PARTIAL + tuple(UNEQUAL) + MPI_ONLY


class Plain(peers.Peer):
    """A library as it is, launched as its usual setting says."""

    source, part = "mpi_coll", PLAIN

    def measure(self, ranks, runs):
        rows = self.rows(ranks, allowed_cores(), [
            f"{what}:{size}:{REPETITIONS}" for what, size in runs])
        found: dict = {}
        for row in rows:
            found.setdefault((row["what"], int(row["bytes"])), []).append(
                float(row["each_us"]))
        if set(found) != set(runs):
            raise Failure(f"{self.name}: {len(found)} of {len(runs)} results")
        return {run: median_interval(values)[0]
                for run, values in found.items()}


class Layered(Plain):
    """The same with the layer preloaded, into its ranks only."""

    part = LAYER

    def __init__(self, args):
        kind = "openmpi" if self.key.startswith("openmpi") else "mpich"
        self.library = os.path.join(LIBRARIES, f"libdcoll_mpi_{kind}.so")
        super().__init__(args)
        self.hidden = {**self.hidden, LIBRARIES: "LIB"}

    def missing(self):
        return super().missing() or (
            None if os.path.exists(self.library)
            else f"no {os.path.basename(self.library)} (make deps-peers all)")

    def launcher(self, ranks, words):
        return [*super().launcher(ranks, words), "env",
                f"LD_PRELOAD={self.library}"]


class Direct(peers.Railbench):
    """The same calls of libdcoll, by railbench."""

    part = DCOLL

    def measure(self, ranks, runs):
        found = {}
        for what in dict.fromkeys(
                what for what, _ in runs if what not in MPI_ONLY):
            lengths = [str(size) for name, size in runs if name == what]
            record = self.record_of(ranks, REPETITIONS, [
                *test_of(what), "--sizes", ",".join(lengths), "--call", "blocking",
                "--each"])
            for row in record["results"]:
                found[what, row["bytes"]] = row["each"]["latency_us"]["median"]
        return found


def launch(program, where, runs, tries):
    """{(what, bytes): us}, empty if it has failed. @where: it is, in tries."""
    try:
        found = program.measure(where[1], runs)
    except (Failure, KeyError, ValueError, OSError) as error:
        tries.add(where, hide(str(error) or repr(error), program.hidden))
        return {}
    tries.add(where)
    return found


def measure(libraries, args, runs):
    """{(library, ranks, what, bytes, part): {round: us}}; @libraries: lists of
    programs that are launched one after the other."""
    samples: dict = {}
    noise = Noise(allowed_cores())
    tries = Tries()
    for number in range(args.repeat):
        noise.begin()
        for ranks in args.ranks:
            for library in in_turn(libraries, number):
                name = library[0].name
                for program in in_turn(library, number):
                    where = (name, ranks, program.part)
                    if tries.hopeless(where):
                        continue
                    progress(f"round {number + 1} of {args.repeat}: {name}, "
                             f"{ranks} ranks, {program.part}")
                    for (what, size), us in launch(
                            program, where, runs, tries).items():
                        samples.setdefault(
                            (name, ranks, what, size, program.part),
                            {})[number + 1] = us
        noise.end()
    progress("")
    return samples, noise, tries


def over_direct(ours, direct):
    """The time with the layer over that of libdcoll, as columns."""
    found = paired(ours, direct) if direct else None
    (middle, low, high), rounds = found or (("", "", ""), 0)
    return {"dcoll_us": median_interval(direct.values())[0] if direct else "",
            "over_dcoll": middle, "over_dcoll_lo": low, "over_dcoll_hi": high,
            "over_dcoll_rounds": rounds}


def table(samples):
    """Rows of the CSV, of all that both have."""
    for (name, ranks, what, size, part), plain in samples.items():
        ours = samples.get((name, ranks, what, size, LAYER))
        found = paired(plain, ours) if ours and part == PLAIN else None
        if found:
            (middle, low, high), rounds = found
            yield {"library": name, "ranks": ranks, "collective": what,
                   "bytes": size, "rounds": rounds,
                   "plain_us": median_interval(plain.values())[0],
                   "layer_us": median_interval(ours.values())[0],
                   "ratio": middle, "ratio_lo": low, "ratio_hi": high,
                   "place": place((middle, low, high), rounds),
                   **over_direct(ours, samples.get(
                       (name, ranks, what, size, DCOLL)))}


def number(value):
    return f"{value:.2f}" if value != "" else "-"


def over_text(row):
    return number(row["over_dcoll"]) + (
        " few" if 0 < row["over_dcoll_rounds"] < ENOUGH else "")


def mean_over(found):
    """... of one number of ranks."""
    rows = [row for row in found if row["over_dcoll"] != ""]
    if not rows:
        return "; dcoll's time: not measured"
    few = sum(row["over_dcoll_rounds"] < ENOUGH for row in rows)
    mean = geometric_mean(row["over_dcoll"] for row in rows)
    return (f"; {mean:.2f} of dcoll's time, of {len(rows)} of {len(found)} "
            "points") + (f", {few} with few rounds" if few else "")


def told_direct(libraries):
    """How dcoll itself was run, once: it is the same beside each library."""
    directs = [library[-1] for library in libraries]
    version = next(filter(None, (d.version for d in directs)), "never ran")
    commands = dict.fromkeys(c for d in directs for c in d.commands)
    return [f"dcoll: {directs[0].name} {version}",
            *(f"    {command}" for command in commands), ""]


def report(rows, libraries, noise, failures):
    lines = [f"{NAME}: calls without and with libdcoll_mpi",
             f"{time.strftime('%Y-%m-%d')}, {platform.node()}; noise: "
             f"{noise.text()}",
             "Ratio: time without the layer over the time with it; over dcoll: "
             "time with it over that", "of the same call of libdcoll. Few: fewer than "
             f"{ENOUGH} rounds.", ""]
    for plain, layered, _ in libraries:
        mine = [row for row in rows if row["library"] == plain.name]
        if not mine:
            continue
        lines += [f"{plain.name}: {plain.version}",
                  f"{'ranks':>5} {'collective':<20} {'bytes':>6} {'plain us':>10}"
                  f" {'layer us':>10} {'dcoll us':>10} {'ratio':>6}  interval"
                  f"              {'over dcoll':>10}"]
        for row in mine:
            lines.append(
                f"{row['ranks']:>5} {row['collective']:<20} "
                f"{size_name(row['bytes']):>6} {row['plain_us']:>10.2f} "
                f"{row['layer_us']:>10.2f} {number(row['dcoll_us']):>10} "
                f"{row['ratio']:>6.2f}  " + ("[{:.2f}, {:.2f}] {}".format(
                    row["ratio_lo"], row["ratio_hi"], row["place"])).ljust(20)
                + f"  {over_text(row):>10}")
        for ranks in dict.fromkeys(row["ranks"] for row in mine):
            found = [row for row in mine if row["ranks"] == ranks]
            behind = sum(row["place"] == "behind" for row in found)
            lines.append(
                f"  {ranks} ranks: geometric mean "
                f"{geometric_mean(row['ratio'] for row in found):.2f}; behind "
                f"in {behind} of {len(found)} points" + mean_over(found))
        lines += [f"    {command}" for command in layered.commands] + [""]
    return "\n".join([*lines, *told_direct(libraries), *failures]) + "\n"


def options():
    keys = [kind.key for kind in peers.libraries(Plain)]
    parser = Parser(prog=NAME, description=__doc__)
    parser.add_argument("--repeat", metavar="R", type=count, default=7,
                        help="rounds (default 7)")
    parser.add_argument("--ranks", metavar="N,...", type=sizes,
                        default="2,4,8,16", help="(default %(default)s)")
    parser.add_argument("--sizes", metavar="a,b", type=sizes,
                        default="4,256,4K,64K", help="(default %(default)s)")
    parser.add_argument("--collectives", metavar="C,...",
                        type=chosen_of(CALLS), default=",".join(COLLECTIVES),
                        help="(default %(default)s); reductions of sums of "
                             f"doubles: {', '.join(REDUCTIONS + PARTIAL)}; "
                             f"{', '.join(UNEQUAL)}, whose blocks grow with "
                             f"the rank; {MPI_ONLY[0]}, between all ranks; "
                             f"{', '.join(MPI_ONLY[1:])}, between "
                             "neighbours on a line of ranks")
    parser.add_argument("--peers", metavar="P,...", type=chosen_of(keys),
                        default=",".join(keys), help="(default %(default)s)")
    peers.add_wheels(parser)
    parser.add_argument("dir", metavar="DIR", nargs="?", default=os.path.join(
        ROOT, "results",
        f"{platform.node()}-{time.strftime('%Y-%m-%d')}-layer"),
        help="where to put the result")
    args = parser.parse_args()
    if {what for what, _ in runs_of(args)} != set(args.collectives):
        parser.error("--sizes: none is of whole doubles, as reductions need")
    return args


def runs_of(args):
    """[(collective, bytes)]; those of reductions are whole doubles."""
    return [(what, size) for what in args.collectives
            for size in lengths_of(args, what)]


def choose(args):
    """[plain, with the layer, dcoll] of each library that is there."""
    found = []
    for plain, layered in zip(peers.libraries(Plain),
                              peers.libraries(Layered)):
        library = [plain(args), layered(args), Direct(args)]
        why = library[0].missing() or library[1].missing()
        if plain.key in args.peers and not why:
            found.append(library)
        elif plain.key in args.peers:
            print(f"{NAME}: {plain.name}: left out: {why}", file=sys.stderr)
    return found


def main():
    args = options()
    why = Direct(args).missing()
    if why:
        wrong(why)
    libraries = choose(args)
    if not libraries:
        raise Failure("no MPI library is there (make deps-peers peers)")
    folder = claim(args.dir)
    try:
        runs = runs_of(args)
        samples, noise, tries = measure(libraries, args, runs)
        rows = list(table(samples))
        failures = [f"{name}, {ranks} ranks, {part}: {how}"
                    for (name, ranks, part), how in
                    tries.failures(args.repeat)]
        if not rows:
            raise Failure("; ".join(failures) or "nothing was measured")
        with open(os.path.join(folder, "layer.csv"), "w", newline="",
                  encoding="utf-8") as file:
            out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            out.writeheader()
            out.writerows({name: f"{value:.5g}" if isinstance(value, float)
                           else value for name, value in row.items()}
                          for row in rows)
        text = report(rows, libraries, noise, failures)
        with open(os.path.join(folder, "layer.txt"), "w",
                  encoding="utf-8") as file:
            file.write(text)
    finally:
        leave(folder)
    print(text)
    print(f"results: {folder}", flush=True)
    return 1 if tries.always_failed() else 0
