# SPDX-License-Identifier: BSD-3-Clause
"""Testbeds with workers beside their hosts, and the runs that they share."""
import json
import os
import subprocess
import sys
import threading
import time
from math import inf

from railtools.degrade_any import report
from railtools.degrade_any.run import longest, seconds
from railtools.files import replace
from railtools.options import progress
from railtools.paths import ROOT
from railtools.peers import WHEELS
from railtools.programs import Failure, stop

STEM = "degrade-any"  # of the result's files
WRITES_S = 30  # between writings of the result


class Bed:
    """A testbed, and the worker beside its hosts."""

    def __init__(self, args):
        self.limit = longest(args.outage)
        self.process = subprocess.Popen(
            [os.path.join(ROOT, "scripts", "testbed"), "--hosts", "2",
             "--rails", "2", "--rate", f"{args.rate}mbit",
             os.path.join(ROOT, "scripts", "degrade-any"), "--work", "--rate",
             str(args.rate)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd=ROOT,
            start_new_session=True)

    def run(self, task):
        """The worker's answer; Failure: there is none."""
        assert self.process.stdin and self.process.stdout
        watch = threading.Timer(self.limit, self.close)
        watch.start()
        try:
            print(json.dumps(task), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except (OSError, ValueError):
            line = ""
        finally:
            watch.cancel()
        if not line:
            raise Failure(self.said())
        return json.loads(line)

    def said(self):
        assert self.process.stderr
        self.close()
        try:
            lines = self.process.stderr.read().strip().splitlines()
        except ValueError:
            lines = []
        return lines[-1] if lines else "the testbed is gone"

    def close(self):
        """With all that runs in it."""
        stop(self.process)


class Runs:
    """All that is to be done, and what has been."""

    def __init__(self, args, record, folder):
        self.args, self.record, self.folder = args, record, folder
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.why = ""  # the worker that could not go on
        self.begin, self.written = time.monotonic(), -inf
        done = report.done(record)
        self.tasks = [
            {"library": setup["key"], "kind": kind, "fault": number,
             "seed": args.seed, "outage": args.outage, "bytes": args.bytes,
             "window": args.window}
            for number in range(args.faults) for kind in args.kinds
            for setup in record["configurations"]
            if (setup["key"], kind, number) not in done]
        self.total = len(self.tasks)

    def next(self):
        with self.lock:
            late = self.args.time and \
                time.monotonic() - self.begin > 60 * self.args.time
            if self.ended.is_set() or late or not self.tasks:
                return None
            task = self.tasks.pop(0)
            progress(f"run {self.total - len(self.tasks)} of {self.total}: "
                     f"{task['library']}, {task['kind']}, fault "
                     f"{task['fault'] + 1}; about "
                     f"{self.minutes_left():.0f} min left")
            return task

    def minutes_left(self):
        made = self.total - len(self.tasks) - self.args.jobs
        each = (time.monotonic() - self.begin) / made if made > 0 else \
            (seconds(self.args.outage) + 2) / self.args.jobs
        return (len(self.tasks) + 1) * each / 60

    def add(self, task, row):
        with self.lock:
            report.add(self.record, task, row)
            if time.monotonic() - self.written > WRITES_S:
                self.write()
                made = len(self.record["results"])
                progress("")
                print(f"{made} of {report.planned(self.record)} runs, about "
                      f"{self.minutes_left():.0f} min left; results so far: "
                      f"{self.folder}", file=sys.stderr, flush=True)

    def write(self):
        complete = not self.tasks and \
            len(self.record["results"]) == report.planned(self.record)
        self.record["partial"] = not complete
        record = report.hidden(self.record, {WHEELS: "WHEELS", ROOT: "."})
        path = os.path.join(self.folder, STEM)
        replace(f"{path}.json.gz", json.dumps(record, indent=1) + "\n")
        replace(f"{path}.md", report.text(record))
        self.written = time.monotonic()

    def work(self, bed):
        """One thread's part."""
        try:
            while task := self.next():
                self.add(task, bed.run(task))
        except Failure as failure:
            if not self.ended.is_set():
                self.why = str(failure)
            self.ended.set()


def make(runs):
    """All runs; ends early by an interrupt, which goes on."""
    beds = [Bed(runs.args) for _ in range(runs.args.jobs)]
    threads = [threading.Thread(target=runs.work, args=[bed]) for bed in beds]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        runs.ended.set()
        for bed in beds:
            bed.close()
        progress("")
