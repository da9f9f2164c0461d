# SPDX-License-Identifier: BSD-3-Clause
"""One run, beside the hosts of a testbed: a library's stream, and a fault in its
middle. A worker makes one after the other, as it is told by lines of JSON."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

from railtools.degrade_any import faults, judge
from railtools.degrade_any.libraries import LIBRARIES
from railtools.paths import ROOT
from railtools.programs import Failure, run, stop

STARTS_S = 20  # until the first message
WARM_S = 1  # of the stream before a fault may come
AFTER_S = 2  # of the stream behind the fault
# After that, what is still is a hang. TCP tries again after pauses that double:
# behind a long outage, after as long again.
LIMIT_S, LIMIT_OF_OUTAGE = 10, 1.1
LEAVES_S = 3  # a process whose stream is over
LOOK_S = 0.02
RANKS = (0, 1)


def seconds(outage):
    """That rank 0 sends for."""
    return math.ceil(WARM_S + faults.DELAY_S[1] + outage + AFTER_S)


def limit(outage):
    """From the end of a fault."""
    return AFTER_S + LIMIT_S + LIMIT_OF_OUTAGE * outage


def longest(outage):
    """That a run may take, with all that is bounded in it."""
    return STARTS_S + seconds(outage) + limit(outage) + 4 * LEAVES_S + 30


def begun(command, path):
    """A process that never waits for somebody to read what it says."""
    with open(path + ".out", "wb") as out, open(path + ".err", "wb") as err:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                stderr=err, cwd=ROOT, start_new_session=True)


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Launch:
    """The processes of a stream, and their traces."""

    def __init__(self, library, folder, words):
        self.trace = os.path.join(folder, "trace")
        self.commands = list(library.commands(
            [*map(str, words), self.trace]))
        self.said_to = [os.path.join(folder, f"said.{index}")
                        for index in range(len(self.commands))]
        self.processes = [begun(*each) for each in zip(self.commands,
                                                       self.said_to)]

    def traces(self):
        return [judge.read(f"{self.trace}.{rank}") for rank in RANKS]

    def ended(self):
        return [process for process in self.processes
                if process.poll() is not None]

    def await_any(self, condition, limit, what):
        """Until it holds of the traces; a process that ends is a failure."""
        deadline = time.monotonic() + limit
        while not condition(self.traces()):
            if self.ended() or time.monotonic() > deadline:
                raise Failure(f"{what}: {self.said() or f'not in {limit} s'}")
            time.sleep(LOOK_S)

    def await_end(self, deadline):
        """Until the stream has ended in both ranks, well or not, or hangs.
        @return (when, was it reported)"""
        while time.monotonic() < deadline:
            traces = self.traces()
            if all(trace.end for trace in traces):
                return traces[1].end, False
            failed = [trace.failed[0] for trace in traces if trace.failed]
            if failed or any(process.returncode for process in self.ended()):
                return min(failed, default=time.monotonic()), True
            if len(self.ended()) == len(self.processes):
                return time.monotonic(), True
            time.sleep(LOOK_S)
        return time.monotonic(), False

    def leave(self):
        """Do they end by themselves?"""
        deadline = time.monotonic() + LEAVES_S
        while time.monotonic() < deadline:
            if len(self.ended()) == len(self.processes):
                return True
            time.sleep(LOOK_S)
        return False

    def stop(self):
        """Also what launchers have started: nothing else is on these hosts."""
        for process in self.processes:
            stop(process)
        run(["on", "all", "sh", "-c", "kill -KILL -1 2>&- || :"])

    def said(self):
        """Of what the library reported, and of the last lines that processes
        wrote to standard error."""
        failed = [trace.failed[1] for trace in self.traces() if trace.failed]
        last = [line for path in self.said_to
                for line in text_of(path + ".err").strip().splitlines()[-1:]]
        return "; ".join(dict.fromkeys([*failed, *last]))[:200]

    def version(self):
        """What rank 0 has said when its stream began."""
        text = "\n".join(text_of(path + ".out") for path in self.said_to)
        found = re.search(r"^# (.*)", text, re.M)
        return " ".join(found[1].split()) if found else ""


def disturbed(launch, fault, outage, wires):
    """The stream runs, and a fault comes and goes. @return (when it began, when
    it was mended, the rails that are used, the one that was disturbed)"""
    launch.await_any(lambda traces: traces[1].messages, STARTS_S,
                     "no first message")
    before = faults.carried()
    time.sleep(WARM_S)
    rails = faults.used(before, faults.carried())
    if not rails:
        raise Failure("no rail carries anything")
    time.sleep(fault.delay)
    rail = fault.rail(rails)
    began = wires.begin(fault, rail)
    try:
        wires.flap(fault, rail)
        time.sleep(max(0, began + outage - time.monotonic()))
    finally:
        mended = wires.mend(fault, rail)
    return began, mended, rails, rail


def one(library, task, wires):
    """A row of the result."""
    fault = faults.drawn(task["seed"], task["kind"], task["fault"],
                         task["outage"])
    with tempfile.TemporaryDirectory(dir="/run/testbed") as folder:
        launch = Launch(library, folder, [
            task["bytes"], task["window"], seconds(task["outage"])])
        try:
            began, mended, rails, rail = disturbed(
                launch, fault, task["outage"], wires)
            over, reported = launch.await_end(
                mended + limit(task["outage"]))
            left = launch.leave()
            row = judge.judge(launch.traces(), task, began, mended, over,
                              len(rails), reported)
            row |= {"rails": rails, "rail": rail, "leaves": left,
                    "host": fault.host if fault.kind == faults.SILENT else "",
                    "why": launch.said() if reported else "",
                    "version": launch.version()}
        finally:
            launch.stop()
        return row | {"commands": [
            library.hide(command).replace(folder, "FOLDER")
            for command in launch.commands]}


def work(mbit):
    """Answers each line of standard input, a task, with a line: a row, or why
    there is none."""
    libraries = {kind.key: kind() for kind in LIBRARIES}
    wires = faults.Wires(mbit)
    try:
        for line in sys.stdin:
            task = json.loads(line)
            try:
                row = one(libraries[task["library"]], task, wires)
            except (Failure, OSError, ValueError) as error:
                row = {"failed": str(error)[:300]}
            print(json.dumps(row), flush=True)
    finally:
        wires.close()
    return 0
