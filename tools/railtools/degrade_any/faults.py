# SPDX-License-Identifier: BSD-3-Clause
"""Faults: what each of them is, drawn from a seed, and the wires of the testbed
that they happen to."""
import json
import random
import subprocess
import time
from dataclasses import dataclass

from railtools.programs import Failure, run, stop

CUT, SILENT, FLAPPING, SLOW, LOSSY = KINDS = (
    "cut", "silent", "flapping", "slow", "lossy")
LOSS_PERCENT = 5
WORDS = {
    CUT: "the cable is pulled: both hosts see that the carrier is gone",
    SILENT: "all that is sent to one host is lost: nobody is told",
    FLAPPING: "the cable is pulled and put back again and again",
    SLOW: "a tenth of the rate is left",
    LOSSY: f"{LOSS_PERCENT} % of the packets are lost in each direction",
}
RAILS = ("rail0", "rail1")
HOSTS = ("n1", "n2")  # of rank 0, which sends, and of rank 1
DELAY_S = (0.2, 0.7)  # of the stream before its fault
FLAP_S = (0.05, 0.5)
USED = 0.05  # a rail that carries less than this part is not used


@dataclass(frozen=True)
class Fault:
    """The same for every library: @draw picks one of the rails that it uses."""

    kind: str
    draw: float
    host: str  # silent: what is sent to it is lost
    delay: float  # s
    flaps: tuple  # s, away and back in turn

    def rail(self, used):
        return used[int(self.draw * len(used))]


def drawn(seed, kind, number, outage):
    source = random.Random(f"{seed} {kind} {number}")
    draw, host, delay = (source.random(), source.choice(HOSTS),
                         source.uniform(*DELAY_S))
    flaps: list = []
    while kind == FLAPPING and sum(flaps) < outage:
        flaps.append(source.uniform(*FLAP_S))
    return Fault(kind, draw, host, delay, tuple(flaps))


class Wires:
    """The testbed's, through one `testbed -` that waits for verbs."""

    def __init__(self, mbit):
        self.mbit = mbit
        self.process = subprocess.Popen(
            ["testbed", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, start_new_session=True)

    def close(self):
        stop(self.process)

    def verb(self, *words):
        """@return when it took effect: s of CLOCK_MONOTONIC."""
        assert self.process.stdin and self.process.stdout
        print(*words, file=self.process.stdin, flush=True)
        status, since = self.process.stdout.readline().split() or ("255", "0")
        if status != "0":
            raise Failure(f"testbed {' '.join(map(str, words))}: status "
                          f"{status}")
        return float(since)

    def begin(self, fault, rail):
        verb = {CUT: ("cut", rail), FLAPPING: ("cut", rail),
                SILENT: ("mute", rail, fault.host),
                SLOW: ("rate", rail, f"{self.mbit / 10:g}mbit"),
                LOSSY: ("lose", rail, LOSS_PERCENT)}[fault.kind]
        return self.verb(*verb)

    def flap(self, fault, rail):
        """To the last pull, behind which the fault ends."""
        for index, pause in enumerate(fault.flaps[:-1]):
            time.sleep(pause)
            self.verb("cut" if index % 2 else "mend", rail)

    def mend(self, fault, rail):
        return self.verb("rate", rail, f"{self.mbit}mbit") \
            if fault.kind == SLOW else self.verb("mend", rail)


def carried(rails=RAILS):
    """{rail: bytes that have gone to rank 1's host}."""
    found = {}
    for rail in rails:
        link = json.loads(run(["ip", "-s", "-j", "link", "show",
                               f"{HOSTS[1]}-{rail}"]))[0]
        found[rail] = link["stats64"]["tx"]["bytes"]
    return found


def used(before, after):
    """The rails that have carried something meanwhile."""
    moved = {rail: after[rail] - before[rail] for rail in after}
    return [rail for rail, bytes in moved.items()
            if bytes > USED * sum(moved.values())]
