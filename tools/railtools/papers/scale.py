# SPDX-License-Identifier: BSD-3-Clause
"""What each collective costs on a present-day cluster from 16 to thousands of
ranks, and which algorithm is the best at each size and scale. Not a program.

A run each for number of ranks and algorithm, so that one which takes too much
memory or time leaves the others."""
from railtools.papers.predicted import Across, Figure, Map, Pick, Run

PLATFORM = "ndr400-2rail"
SHAPES = {16: 4, 64: 8, 256: 16, 1024: 32, 4096: 64}  # ranks: ranks a node
DEFAULT, DEFAULT_HOLLOW = 64, 1024  # without --no-payload: memory, and time
# of those with a message for each pair of ranks: as asked for, and by default
MOST_DIRECT, DEFAULT_DIRECT = 1024, 256
HOLLOW = "--no-payload"
SIZES = ("8", "64", "512", "4K", "32K")
SHOWN = {"8": 8, "4K": 4096}  # one picture each
TIME = "collective.latency_us.median"

# Algorithms of few messages, and algorithms with one for each pair or each
# rank.
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


def curves(test, limits, options):
    """{algorithm: [(ranks, curve over bytes)]}"""
    return {name: [one(test, ranks, name, options) for ranks in SHAPES
                   if ranks <= limit]
            for names, limit in zip(COLLECTIVES[test][1:], limits)
            for name in names}


def left_out(test, limits):
    """The limits of a picture."""
    return "; ".join(f"{', '.join(names)}: to {limit} ranks of {max(SHAPES)}"
                     for names, limit in zip(COLLECTIVES[test][1:], limits)
                     if limit < max(SHAPES))


def most_ranks(given, hollow):
    """Of algorithms of few messages, and of those of one for each pair."""
    if given:
        return given, min(given, MOST_DIRECT)
    most = DEFAULT_HOLLOW if hollow else DEFAULT
    return most, min(most, DEFAULT_DIRECT)


def figures(given, hollow):
    """@given: most ranks, or None; @hollow: railbench can leave payload out."""
    limits = most_ranks(given, hollow)
    options = (HOLLOW,) if hollow else ()
    for test, (text, _, _) in COLLECTIVES.items():
        lines, note = curves(test, limits, options), left_out(test, limits)
        for ending, size in SHOWN.items():
            yield Figure(
                f"scale-{test}-{ending}", f"{text} of {ending} bytes on "
                f"{PLATFORM}, about as many ranks a node as nodes",
                "Time (µs)", {name: Across(tuple(line), size)
                              for name, line in lines.items()},
                unit="Number of ranks", note=note)
        yield Map(f"scale-{test}-best", f"{text} on {PLATFORM}: the best "
                  "algorithm", lines, note=note)
