# SPDX-License-Identifier: BSD-3-Clause
"""The papers' ways on a present-day cluster, and ours beside them: rows that no
paper has. Not a program.

The papers' ways run as they describe them, ours as the library does it: with
all its algorithms, copying or not, but without the papers' pace, teams and
waits, so that ours may be behind."""
from railtools.papers.figures import (
    ALLGATHER,
    ALLTOALL,
    FEW,
    GATHER,
    LATENCY,
    PAPER_WAYS,
    RATE,
    SINGLE,
    STRIPED,
    TIME,
    better,
    schemes,
)
from railtools.papers.predicted import Best, Each, Pick, Reach, Run

PLATFORM = "ndr400-2rail"
RANKS, PPN = 16, 4
SIZES = "8,64,512,4K,32K"
# 002's ways are of all-gathers
MULTI = {"gather-based": "mc-gather", "1-group": "mc-single",
         "2-group": "mc-2group", "4-group": "mc-allgroup",
         "recursive doubling": "doubling"}
WAYS = {"gather": ("Gather", GATHER),
        "allgather": ("All-gather", ALLGATHER | MULTI),
        "alltoall": ("All-to-all", ALLTOALL)}
IRREGULAR = ("a1", "a1-n1", "a2", "a2-n1", "a3", "a3-n1", "a4", "a4-n1",
             "a4-n2")


def collective(test, *options):
    return Run(test, PLATFORM, ("--ranks", str(RANKS), "--ppn", str(PPN),
                                "--sizes", SIZES, *FEW, *options))


def collectives():
    for test, (text, algorithms) in WAYS.items():
        names = ",".join(sorted(algorithms.values()))
        paced = schemes(lambda *how, test=test, names=names: collective(
            test, "--algorithm", names, "--paced", *STRIPED, *how))
        free = schemes(lambda *how, test=test: collective(
            test, "--algorithm", "all", *how))
        yield Reach(f"ndr400-{test}", "000–002",
                    f"{text}, {RANKS} ranks on {RANKS // PPN} nodes, beside "
                    "the papers' algorithms", {
                        label: better(paced, name)
                        for label, name in algorithms.items()},
                    Best(tuple(Each(run, TIME) for run in free)))


def irregular(pattern):
    run = Run("alltoallv", PLATFORM, (
        "--ranks", str(RANKS), "--ppn", str(PPN), "--engine", "nonthreaded",
        "--pattern", pattern, "--element", "48",
        "--elements", "16,64,256,1024", "--algorithm", "all",
        "--warmup", "1", "--iterations", "1"))
    return Reach(f"ndr400-alltoallv-{pattern}", "003",
                 f"irregular all-to-all, {pattern}, {RANKS} ranks on "
                 f"{RANKS // PPN} nodes, beside A1 to A4", {
                     name: Pick(run, TIME, (("algorithm", name),), "elements")
                     for name in IRREGULAR},
                 Best(tuple(Pick(run, TIME, (("algorithm", name),), "elements")
                            for name in OURS)))


OURS = ("smp-alltoallv", "direct", "a1-n2", "a2-n2", "a3-n2", "mesh",
        "mesh-n1", "mesh-n2")


def pair(test, text, figure, sizes, rate):
    def run(*options):
        return Run(test, PLATFORM, ("--sizes", sizes, *FEW, *options))
    papers = run("--engine", "single,nonthreaded,threaded", "--team",
                 "forkjoin", "--wait", "serial", "--notify-by", "send",
                 "--threshold", "0")
    ways = {label: Pick(papers, figure, where)
            for label, where in PAPER_WAYS.items()}
    ours = run("--engine", "single,nonthreaded,threaded,auto")
    return Reach(f"ndr400-{test}", "004", f"{text}, beside {SINGLE}, "
                 "non-threaded and threaded as the paper has them", ways,
                 Each(ours, figure, "label", rate), rate)


def rows():
    yield from collectives()
    yield from map(irregular, ("spike", "transpose"))
    yield pair("lat", "latency of a write", LATENCY, "8:4K", False)
    yield pair("bw", "bandwidth", RATE, "8:2M", True)
    yield pair("bibw", "both-way bandwidth", RATE, "8:2M", True)
