# SPDX-License-Identifier: BSD-3-Clause
"""What a run's traces say: did the stream go on, how long was it still, what
was lost."""
import bisect
from dataclasses import dataclass, field

GOES_ON, WAITS, ENDS, HANGS = OUTCOMES = ("goes on", "waits", "ends", "hangs")
WORDS = {
    GOES_ON: "the longest stall was shorter than half of the fault",
    WAITS: "the stream stood still for half of the fault or longer, and went "
           "on by itself",
    ENDS: "the library reported an error, or a process ended",
    HANGS: "it stood still long after the fault, and nothing was reported",
}
WINDOW_S, STEP_S = 0.25, 0.025  # over which rates are taken
HOLDS = 0.8  # of the rate that the remaining rails can have


@dataclass
class Trace:
    """What a rank has written; see bench/peers/stream.h."""

    messages: list = field(default_factory=list)  # (time, number, wrong)
    end: float | None = None
    failed: tuple | None = None  # (time, text)


def read(path):
    trace = Trace()
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")[:-1]  # only whole ones
    except FileNotFoundError:
        return trace
    for line in lines:
        kind, at, *rest = line.split(" ", 2)
        if kind == "message":
            number, wrong = rest[0].split()
            trace.messages.append((float(at), int(number), int(wrong)))
        elif kind == "end":
            trace.end = float(at)
        elif kind == "failed":
            trace.failed = (float(at), rest[0] if rest else "")
    return trace


class Rates:
    """Of messages, by the times at which they came."""

    def __init__(self, times, bytes):
        self.times, self.bytes = times, bytes

    def between(self, begin, end):
        """MB/s."""
        count = bisect.bisect_left(self.times, end) - bisect.bisect_left(
            self.times, begin)
        return count * self.bytes / 1e6 / (end - begin)

    def windows(self, begin, end):
        """Beginnings of those that end before @end."""
        count = int((end - begin - WINDOW_S) / STEP_S) + 1
        return [begin + STEP_S * index for index in range(max(count, 0))]

    def first(self, begin, end, wanted):
        """When the first window begins that has this rate, as has all that
        follows it; or None."""
        return next((at for at in self.windows(begin, end) if min(
            self.between(at, at + WINDOW_S),
            self.between(at, end)) >= wanted), None)


def longest_gap(times, begin, end):
    """(from, to) without a message."""
    points = [begin, *(at for at in times if begin < at < end), end]
    return max(zip(points, points[1:]), key=lambda gap: gap[1] - gap[0])


def damage(sent, came, what):
    """Messages that came again, that never came, and that had other bytes. An
    error says by itself that some may not come."""
    numbers = [number for _, number, _ in came]
    begun = {number for _, number, _ in sent}
    return {"doubled": len(numbers) - len(set(numbers)),
            "lost": 0 if what == ENDS else len(begun - set(numbers)),
            "wrong": sum(wrong for _, _, wrong in came)}


def outcome(stall, outage, ended_well, reported):
    """@reported: was its end, by the library?"""
    if not ended_well:
        return ENDS if reported else HANGS
    return WAITS if stall >= outage / 2 else GOES_ON


def judge(traces, task, began, mended, over, rails, reported):
    """A row of the result. @traces: of both ranks. @over: when they ended, or
    were looked at last. @rails: how many the library uses."""
    sent, came = (trace.messages for trace in traces)
    times = [at for at, _, _ in came]
    rates = Rates(times, task["bytes"])
    ended_well = traces[1].end is not None
    end = times[-1] if ended_well else over
    before = rates.between(max(times[0], began - 1), began)
    wanted = HOLDS * before
    left = (rails - 1) / rails if rails > 1 else 1
    gap = longest_gap(times, began, end)
    settled = rates.first(began, mended, wanted * left)
    back = rates.first(mended, end, wanted)
    what = outcome(gap[1] - gap[0], task["outage"], ended_well, reported)

    def after(moment, since):
        return None if moment is None else round((moment - since) * 1e3, 1)
    return {"outcome": what, "messages": len(came), **damage(sent, came, what),
            "stall_ms": after(gap[1], gap[0]) if ended_well else None,
            "settled_ms": after(settled, began) if ended_well else None,
            "back_ms": after(back, mended) if ended_well else None,
            "ended_ms": after(over, began) if what == ENDS else None,
            "before_MBps": round(before, 2),
            "meanwhile_pct": round(100 * rates.between(began, mended)
                                   / before, 1) if before else None}
