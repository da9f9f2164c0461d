# SPDX-License-Identifier: BSD-3-Clause
"""N-BODY and RADIX, as Qian and Afsahi 2008 has them in its table 1: rows and a figure.
Not a program.

Messages between two ranks are the transport's in all of them, striped. Only
the all-gather differs: the paper's SMP-aware one, or the native one that 000,
3.1 describes for blocks of that size. Where that uses a single rail, what its
all-gathers take is from a run over one rail, all else from one over two."""
from railtools.papers.figures import (
    NATIVE,
    NODES,
    OURS,
    QSNET,
    STRIPED,
    WHOLE,
    schemes,
)
from railtools.papers.predicted import Bars, Best, Factor, Run, Spent, Sum

RANKS = 16
COMPUTE, GATHERED, SENT = "compute_us", "allgather_us", "p2p_us"
COMMUNICATION = f"{GATHERED}+{SENT}"
PARTS = {"computation": COMPUTE, "all-gather": GATHERED,
         "point to point": SENT}


def app(test, *options):
    return Run(test, QSNET, ("--ranks", str(RANKS), "--ppn",
                             str(RANKS // NODES), *options))


def spent(run, algorithm, parts):
    return Spent(run, parts, (("algorithm", algorithm),))


class Application:
    """@chosen: the paper's all-gather, @native: 000, 3.1's, for the sizes that
    it uses; @whole: over a single rail, whatever its length."""

    def __init__(self, test, chosen, native, whole):
        def ways(algorithm, *how):
            return schemes(lambda *more: app(
                test, "--algorithm", algorithm, "--paced", *how, *more))
        self.chosen = [(run, chosen) for run in ways(chosen, *STRIPED)]
        striped = ways(native, "--ports", "1", *STRIPED)
        one_rail = ways(native, "--ports", "1", *WHOLE) if whole else striped
        self.native = [(run, lone, native)
                       for run, lone in zip(striped, one_rail)]
        self.ours_of = (*schemes(lambda *more: app(
            test, "--algorithm", "all", *STRIPED, *more)),
            *(run for run, _ in self.chosen))

    def of_chosen(self, parts):
        return Best(tuple(spent(run, name, parts)
                          for run, name in self.chosen))

    def of_native(self, parts):
        """The all-gather's part from one run, the others' from the other."""
        others = "+".join(part for part in parts.split("+")
                          if part != GATHERED)
        curves = []
        for run, lone, name in self.native:
            several = [spent(run, name, others)] if others else []
            if GATHERED in parts:
                several.append(spent(lone, name, GATHERED))
            curves.append(Sum(tuple(several)))
        return Best(tuple(curves))

    def ours(self, parts):
        """The best of all algorithms as the library runs them, and of the
        paper's way."""
        return Fastest(self.ours_of, parts)

    def bars(self):
        ways = {NATIVE: self.of_native, "the paper's": self.of_chosen,
                OURS: self.ours}
        return {label: {part: way(key) for part, key in PARTS.items()}
                for label, way in ways.items()}


class Fastest:
    """The parts' time by the algorithm, of any of the runs, with the least
    communication."""

    def __init__(self, several, parts):
        self.several, self.parts = several, parts

    def needed_runs(self):
        return set(self.several)

    def points(self, results):
        if not all(run in results for run in self.several):
            return {}
        ways = {(run, row["algorithm"]) for run in self.several
                for row in results[run]["results"]}
        least = min(ways, key=lambda way: (*spent(
            way[0], way[1], COMMUNICATION).points(results).values(), str(way)))
        return spent(least[0], least[1], self.parts).points(results)


APPLICATIONS = {
    # 000, 7.4.1: 91 % of its blocks are below 64 bytes, none of 1 KB
    "N-BODY": (Application("nbody", "smp-gather-bcast",
                           "smp-gather-bcast-tree", False),
               "SMP-aware gather and broadcast", 1.09, 1.01),
    # blocks of 4 KB
    "RADIX": (Application("radix", "smp-bruck", "gather-bcast", True),
              "SMP-aware Bruck", 1.47, 1.13)}
NOTES = {
    "000-radix-communication": "The native all-gather ends in a tree of puts "
    "here and takes 4.3 times as long as the paper's way. By a broadcast in "
    "hardware it would be 2.5 times (000-allgather-4K), and this 1.26. What "
    "ranks send to one another beside, which is the same, is 82 % of the "
    "communication by the paper's way; the paper does not say what it is "
    "there."}
WHOLE_NOTE = ("Neither the paper's rate of computation nor its problem are "
              "known: how much of the time is communication is ours "
              "(railbench's --rate, --bodies, --keys).")


def rows():
    for name, (one, how, communication, whole) in APPLICATIONS.items():
        test = name.lower().replace("-", "")
        for what, parts, paper in (
                ("communication", COMMUNICATION, communication),
                ("whole time", "+".join(PARTS.values()), whole)):
            row = f"000-{test}-{what.split()[0]}"
            yield Factor(
                row, "000, table 1",
                f"{what} of {name} by {how} over the native all-gather",
                paper, one.of_native(parts), one.of_chosen(parts),
                Best((one.ours(parts), one.of_chosen(parts))), RANKS,
                headline=parts == COMMUNICATION, note=NOTES.get(
                    row, "" if parts == COMMUNICATION else WHOLE_NOTE))


def figures():
    for name, (one, *_) in APPLICATIONS.items():
        yield Bars(f"000-table-1-{name.lower().replace('-', '')}",
                   f"{name}, {RANKS} ranks on {NODES} nodes, as table 1 of "
                   "Qian and Afsahi 2008", "Time (µs), mean over ranks", one.bars(),
                   RANKS)
