# SPDX-License-Identifier: BSD-3-Clause
"""What each collective costs on a present-day cluster from 16 to 4096 ranks,
and which algorithm is the best at each size and scale. Not a program."""
from predicted import Across, Figure, Map, Pick, Run

PLATFORM = "ndr400-2rail"
SHAPES = {16: 4, 64: 8, 256: 16, 1024: 32, 4096: 64}  # ranks: ranks a node
MOST_DIRECT = 1024  # a message for each pair of ranks
DEFAULT = 64  # more take long
SIZES = ("8", "64", "512", "4K", "32K")
SHOWN = {"8": 8, "4K": 4096}  # one picture each
TIME = "collective.latency_us.median"

# A run each: those of few steps, and those with a message for each pair.
COLLECTIVES = {
    "allgather": ("All-gather", ("bruck", "doubling", "gather-bcast",
                                 "smp-bruck", "smp-gather-bcast-tree"),
                  ("direct", "smp-direct")),
    "alltoall": ("All-to-all", ("bruck", "smp-bruck", "smp-gather-scatter"),
                 ("direct", "smp-direct")),
    "gather": ("Gather", ("binomial", "smp-gather"), ("direct",)),
    "bcast": ("Broadcast", ("binomial", "smp-bcast"), ("direct",)),
    "scatter": ("Scatter", ("binomial",), ("direct",)),
}


def curves(test, most):
    """{algorithm: [(ranks, curve over bytes)]}"""
    found = {}
    for names, limit in zip(COLLECTIVES[test][1:], (most,
                                                    min(most, MOST_DIRECT))):
        for ranks, ppn in SHAPES.items():
            run = Run(test, PLATFORM, (
                "--ranks", str(ranks), "--ppn", str(ppn), "--algorithm",
                ",".join(names), "--sizes", ",".join(SIZES),
                "--warmup", "1", "--iterations", "1"))
            for name in names if ranks <= limit else ():
                found.setdefault(name, []).append(
                    (ranks, Pick(run, TIME, (("algorithm", name),))))
    return found


def figures(most):
    for test, (text, _, _) in COLLECTIVES.items():
        lines = curves(test, most)
        for ending, size in SHOWN.items():
            yield Figure(
                f"scale-{test}-{ending}", f"{text} of {ending} bytes on "
                f"{PLATFORM}, as many ranks a node as nodes", "Time (µs)",
                {name: Across(tuple(line), size)
                 for name, line in lines.items()}, unit="Number of ranks")
        yield Map(f"scale-{test}-best", f"{text} on {PLATFORM}: the best "
                  "algorithm", lines)
