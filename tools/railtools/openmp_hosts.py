# SPDX-License-Identifier: BSD-3-Clause
"""scripts/compare-openmp --hosts: a rank on each of two hosts of
scripts/testbed, over one rail, over two, and over two with a thread for each,
beside the program alone on one host."""
import os
import secrets
import shlex
from typing import NamedTuple

from railtools.files import hide
from railtools.hosts import on
from railtools.openmp_programs import COMMUNICATION, ended
from railtools.openmp_samples import cell, ratio
from railtools.programs import start, stop
from railtools.rounds import paired

HOSTS = 2
CORES = sorted(os.sched_getaffinity(0))
FOLDER = "/run"  # all hosts of a testbed share it
MUCH = 1 << 20  # bytes that a region moves each time: then two rails should ...
WANTED = 1.8    # ... take so much less time for the communication
TITLE = "communication"


class HostsLaunch(NamedTuple):
    """Over which rails, and by which engine; no rails: one host alone."""
    rails: str
    engine: str
    compiler: str = "railomp"

    def name(self):
        if not self.rails:
            return "one host"
        rails = ("one rail", "two rails")[self.rails.count(",")]
        return f"{rails}{', threaded' if self.engine == 'threaded' else ''}"

    def settings(self, rank, port):
        words = ["OMP_NUM_THREADS=1", "RAILOMP_STATS=1"]
        if self.rails:
            words += [f"DRAIL_RAILS={self.rails}",
                      f"DRAIL_ENGINE={self.engine}",
                      f"DRAIL_RENDEZVOUS=n1:{port}", f"DRAIL_RANKS={HOSTS}",
                      f"DRAIL_RANK={rank}"]
        return words

    def command(self, path, rank, port):
        return on(f"n{rank + 1}", [
            "env", *self.settings(rank, port), "taskset", "-c",
            str(CORES[rank % len(CORES)]), path])

    def run(self, folder, program, samples, limit_s):
        """(standard output, standard error) of rank 0."""
        path = os.path.join(folder, f"{program}.{self.compiler}")
        port = 20000 + len(samples.seconds) % 1000 * 32 + \
            int.from_bytes(secrets.token_bytes(1), "big") % 32
        commands = [self.command(path, rank, port)
                    for rank in range(HOSTS if self.rails else 1)]
        samples.commands[hide(" & ".join(map(shlex.join, commands)), {
            folder + "/": ""}).replace(str(port), "PORT")] = None
        processes = []
        try:
            processes = [start(command) for command in commands]
            return [ended(process, limit_s) for process in processes][0]
        finally:
            for process in processes:
                stop(process)


ALONE = HostsLaunch("", "")
ONE = HostsLaunch("tcp-rail0", "single")
TWO = [HostsLaunch("tcp-rail0,tcp-rail1", engine)
       for engine in ("nonthreaded", "threaded")]
LAUNCHES = [ALONE, ONE, *TWO]


# --------------------------------------------------------------- figures ---

def moved(region):
    """Bytes, each time."""
    return ((region["fetched_bytes"] + region["put_bytes"]) /
            max(1, region["times"]))


def waited(region):
    """Seconds of a rank."""
    return sum(region[title] for title in COMMUNICATION) / 1000 / HOSTS


def communication_of(regions):
    """{figure: seconds}: of all regions, and of each that moves much."""
    if not regions:
        return {}
    return {TITLE: sum(map(waited, regions.values()))} | {
        f"{TITLE} {name}": waited(region) for name, region in regions.items()
        if moved(region) > MUCH}


# ---------------------------------------------------------------- tables ---

def shares(costs):
    return [f"{costs[title]:.0f}%" if title in costs else "-"
            for title in ("efficiency", "coverage")]


def programs_table(samples, programs):
    lines = ["NPB, a rank of one thread on each of two hosts: seconds of the "
             "program, and of its communication (faults, fetching in advance,",
             "barriers, locks; mean of the ranks, in all regions); median "
             "[95 % interval]. Ratios above 1: this is faster. Efficiency and "
             "coverage",
             "of fetching in advance: of the latest round, wanted at least 91 "
             "and 79 %",
             f"{'program':<7} {'':<19} {'seconds':>25} {'one host : this':>20} "
             f"{TITLE + ', s':>24} {'one rail : this':>20} {'efficiency':>10} "
             f"{'coverage':>8}"]
    for program in programs:
        for launch in LAUNCHES:
            part = (cell(samples, (program, TITLE, launch), 3),
                    ratio(samples, program, TITLE, ONE, launch))
            lines.append(
                f"{program:<7} {launch.name():<19} "
                f"{cell(samples, (program, 's', launch), 4):>25} "
                f"{ratio(samples, program, 's', ALONE, launch):>20} "
                f"{part[0] if launch.rails else '-':>24} {part[1]:>20} "
                "{:>10} {:>8}".format(*shares(
                    samples.costs.get((program, launch), {}))))
    return [*lines, ""]


def told(samples, program, figure, launch):
    """one rail : two rails, and whether that is as wanted."""
    found = paired(samples.figures.get((program, figure, ONE), {}),
                   samples.figures.get((program, figure, launch), {}))
    if not found:
        return "-"
    met = "met" if found[0][0] >= WANTED else "MISSED"
    return f"{ratio(samples, program, figure, ONE, launch)} {met}"


def regions_table(samples, programs):
    lines = [f"Regions that move more than {MUCH >> 20} MB each time: "
             "communication over one rail : over two rails, wanted at least "
             f"{WANTED}",
             f"{'program':<7} {'region':<28} {'times':>6} {'MB each time':>12} "
             f"{'one rail, s':>24} " + " ".join(
                 f"{launch.name():>27}" for launch in TWO)]
    for program in programs:
        for name, region in samples.regions.get((program, ONE), {}).items():
            figure = f"{TITLE} {name}"
            if moved(region) <= MUCH:
                continue
            lines.append(
                f"{program:<7} {name:<28} {region['times']:>6.0f} "
                f"{moved(region) / MUCH:>12.1f} "
                f"{cell(samples, (program, figure, ONE), 3):>24} " + " ".join(
                    f"{told(samples, program, figure, launch):>27}"
                    for launch in TWO))
    return [*lines, ""]


def tables(samples, programs):
    return (programs_table(samples, programs) +
            regions_table(samples, programs))


def begin():
    """The ranks of a launch know each other by it."""
    os.environ["DRAIL_SECRET"] = secrets.token_hex(16)
