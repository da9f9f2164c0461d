# SPDX-License-Identifier: BSD-3-Clause
"""The machine's other load during a measurement."""
import contextlib
import csv
import os
import resource
import statistics
import time

from railtools.paths import RAILBENCH
from railtools.programs import Failure, run

LOOK_S = 0.5


def busy_seconds(cores):
    """Time that the cores were busy with whatever it was."""
    total = 0
    with open("/proc/stat", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[0] in [f"cpu{core}" for core in cores]:
                ticks = list(map(int, words[1:9]))
                total += sum(ticks) - ticks[3] - ticks[4]  # idle, iowait
    return total / os.sysconf("SC_CLK_TCK")


def busy_share():
    """How busy the cores are while this process sleeps."""
    cores = sorted(os.sched_getaffinity(0))
    before = busy_seconds(cores)
    time.sleep(LOOK_S)
    return (busy_seconds(cores) - before) / (LOOK_S * len(cores))


def shares_text(shares):
    """Of busy_share() before each round."""
    return (f"others took {statistics.median(shares):.0%} of the cores "
            f"(median; at most {max(shares):.0%})")


def own_seconds():
    return sum(usage.ru_utime + usage.ru_stime for usage in (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN)))


def lines_ns(cores):
    """The time of a cache line from one of these cores to another, for each
    pair and kind; of virtual machines it may change by the minute."""
    text = run(["taskset", "-c", ",".join(map(str, cores)), RAILBENCH,
                "limits", "--sizes", "8", "--repeat", "1", "--format", "csv"])
    return [float(row["latency_us"]) * 1e3
            for row in csv.DictReader(text.splitlines())
            if row.get("lines") == "1"]


class Noise:
    """The machine's state in each round: the share of the cores that others
    took, and the times of its caches."""

    def __init__(self, cores):
        self.cores, self.shares, self.lines = cores, [], []

    def begin(self):
        with contextlib.suppress(Failure):  # a remark, no result
            self.lines += lines_ns(self.cores)
        self.start = (time.monotonic(), busy_seconds(self.cores),
                      own_seconds())

    def end(self):
        now = (time.monotonic(), busy_seconds(self.cores), own_seconds())
        wall, busy, own = (b - a for a, b in zip(self.start, now))
        self.shares.append(max(0, busy - own) / (wall * len(self.cores)))

    def text(self):
        text = (f"other processes took {statistics.median(self.shares):.0%} "
                f"of the cores (median of the rounds; at most "
                f"{max(self.shares):.0%})")
        if self.lines:
            text += (f"; a cache line took {statistics.median(self.lines):.0f} "
                     f"ns from core to core ({min(self.lines):.0f} to "
                     f"{max(self.lines):.0f} ns)")
        return text
