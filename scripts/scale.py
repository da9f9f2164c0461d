# SPDX-License-Identifier: BSD-3-Clause
"""What each collective costs on a present-day cluster from 16 to thousands of
ranks, and which algorithm is the best at each size and scale. Not a program.

A run each for number of ranks and algorithm, so that one which takes too much
memory or time leaves the others."""
from predicted import Across, Figure, Map, Pick, Run

PLATFORM = "ndr400-2rail"
SHAPES = {16: 4, 64: 8, 256: 16, 1024: 32, 4096: 64}  # ranks: ranks a node
MOST_DIRECT = 1024  # a message for each pair of ranks
DEFAULT, DEFAULT_HOLLOW = 64, 4096  # without --no-payload: memory, and time
HOLLOW = "--no-payload"
SIZES = ("8", "64", "512", "4K", "32K")
SHOWN = {"8": 8, "4K": 4096}  # one picture each
TIME = "collective.latency_us.median"

# Those of few messages, and those with one for each pair or each rank.
COLLECTIVES = {
    "allgather": ("All-gather", ("bruck", "doubling", "gather-bcast",
                                 "smp-bruck", "smp-direct",
                                 "smp-gather-bcast-tree"), ("direct",)),
    "alltoall": ("All-to-all", ("bruck", "smp-bruck", "smp-direct",
                                "smp-gather-scatter"), ("direct",)),
    "gather": ("Gather", ("binomial", "smp-gather"), ("direct",)),
    "bcast": ("Broadcast", ("binomial", "smp-bcast"), ("direct",)),
    "scatter": ("Scatter", ("binomial",), ("direct",)),
}


def one(test, ranks, name, options):
    run = Run(test, PLATFORM, (
        "--ranks", str(ranks), "--ppn", str(SHAPES[ranks]), "--algorithm",
        name, "--sizes", ",".join(SIZES), "--warmup", "1", "--iterations",
        "1", *options))
    return ranks, Pick(run, TIME, (("algorithm", name),))


def curves(test, most, options):
    """{algorithm: [(ranks, curve over bytes)]}"""
    _, few, each = COLLECTIVES[test]
    return {name: [one(test, ranks, name, options) for ranks in SHAPES
                   if ranks <= limit]
            for names, limit in ((few, most), (each, min(most, MOST_DIRECT)))
            for name in names}


def left_out(test, most):
    """What a picture does not show."""
    few, each = (", ".join(names) for names in COLLECTIVES[test][1:])
    lines = []
    if most < max(SHAPES):
        lines.append(f"{few}: to {most} ranks of {max(SHAPES)}")
    if min(most, MOST_DIRECT) < max(SHAPES):
        lines.append(f"{each}: to {min(most, MOST_DIRECT)} ranks")
    return "; ".join(lines)


def most_ranks(given, hollow):
    return given or (DEFAULT_HOLLOW if hollow else DEFAULT)


def figures(given, hollow):
    """@given: most ranks, or None; @hollow: railbench can leave payload out."""
    most = most_ranks(given, hollow)
    options = (HOLLOW,) if hollow else ()
    for test, (text, _, _) in COLLECTIVES.items():
        lines, note = curves(test, most, options), left_out(test, most)
        for ending, size in SHOWN.items():
            yield Figure(
                f"scale-{test}-{ending}", f"{text} of {ending} bytes on "
                f"{PLATFORM}, about as many ranks a node as nodes",
                "Time (µs)", {name: Across(tuple(line), size)
                              for name, line in lines.items()},
                unit="Number of ranks", note=note)
        yield Map(f"scale-{test}-best", f"{text} on {PLATFORM}: the best "
                  "algorithm", lines, note=note)
