# SPDX-License-Identifier: BSD-3-Clause
"""Interleaved rounds: which launches failed, and intervals of the ratios."""
import statistics
from collections import Counter
from math import comb, exp, log

TRIES = 3  # what fails in so many rounds, and in no other, is left out then


class Tries:
    """How often each launch has been tried, and why it failed."""

    def __init__(self):
        self.tried: Counter = Counter()
        self.failed: dict = {}

    def add(self, where, why=None):
        self.tried[where] += 1
        if why is not None:
            self.failed.setdefault(where, []).append(why)

    def never(self, where):
        """Has it failed each time?"""
        return len(self.failed.get(where, [])) == self.tried[where]

    def hopeless(self, where):
        """A launch that fails may take long."""
        return self.tried[where] >= TRIES and self.never(where)

    def always_failed(self):
        return any(map(self.never, self.failed))

    def failures(self, rounds):
        """(where, "failed …") of each that has: how often in so many rounds,
        and why at last."""
        for where, why in self.failed.items():
            times = f"in {len(why)} of {rounds} rounds"
            if self.never(where):
                left_out = ", then left out" if len(why) < rounds else ""
                times = f"in each of {len(why)} rounds{left_out}"
            yield where, f"failed {times}: {why[-1]}"


def median_interval(values):
    """(median, lo, hi): ranks k and n-1-k of the sorted values hold the median
    with 95 % unless there are fewer than 6 (as in bench/stats/stats.c)."""
    values = sorted(values)
    n = len(values)
    k, below = 0, 1
    while k + 1 < n and 2 * (below + comb(n, k + 1)) <= 0.05 * 2 ** n:
        k += 1
        below += comb(n, k)
    return statistics.median(values), values[k], values[n - 1 - k]


ENOUGH = 6  # rounds that give an interval of 95 %


def few_rounds(number):
    """The lines that warn of fewer rounds than ENOUGH: one, or none."""
    if number >= ENOUGH:
        return []
    return [f"Fewer than {ENOUGH} rounds: the intervals hold less than 95 %."]


def ratios(above, below):
    """{round: ratio} of those that both have: of two {round: value}."""
    return {number: above[number] / below[number]
            for number in sorted(set(above) & set(below))}


def paired(above, below):
    """((median, lo, hi) of the ratios in the rounds that both have, how many
    these are), or None: of two {round: value}."""
    found = ratios(above, below)
    return (median_interval(found.values()), len(found)) if found else None


def interval_text(interval, digits):
    return "{:.{d}f} [{:.{d}f}, {:.{d}f}]".format(*interval, d=digits)


def target_line(text, interval, wanted, least=True):
    """Is the median as wanted? @interval: None if nothing was measured."""
    if interval is None:
        return f"  {text}: not measured"
    met = interval[0] >= wanted if least else interval[0] <= wanted
    return (f"  {text}: {interval_text(interval, 3)}, wanted "
            f"{'>=' if least else '<='} {wanted}: {'met' if met else 'MISSED'}")


def place(interval, rounds, bound=1, less=False):
    """Which side of the bound the whole interval is on, if it is one. @less:
    the lower side is ahead."""
    _, low, high = interval
    if rounds < ENOUGH:
        return "few"
    if low <= bound <= high:
        return "level"
    return "ahead" if (high < bound) == less else "behind"


def verdict(interval, rounds, bound, less=False):
    """Met and missed are where the whole interval is so."""
    return {"ahead": "met", "level": "not shown", "behind": "MISSED",
            "few": f"not shown by {rounds} rounds"}[
                place(interval, rounds, bound, less)]


def geometric_mean(values):
    return exp(statistics.fmean(map(log, values)))


def in_turn(programs, number):
    """Each round begins with another one."""
    first = number % len(programs)
    return programs[first:] + programs[:first]
