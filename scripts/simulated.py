# SPDX-License-Identifier: BSD-3-Clause
"""Runs of railbench on simulated clusters: several at a time, each made once,
within limits of time and memory. Not a program."""
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import open_ranges
from comparing import (RAILBENCH, ROOT, Failure, output_of, progress, replace,
                       signal_group, start, stop)

KEPT = os.path.join(os.environ.get("BUILD", "build"), "papers")
PLATFORMS = os.path.join("providers", "sim", "platforms")
LIMIT_S = 900  # for one run
LOOK_S = 0.5  # between two looks at its memory
SHARE = 0.8  # of the machine's memory is for all runs together
# what the caller's shell says of rails and launchers is not for these runs
FOREIGN = ("DRAIL_", "DAT_", "PMI_", "PMIX_", "OMPI_", "SLURM_")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def program():
    """What results depend on besides the command and the platform."""
    found = hashlib.sha256()
    folder = os.path.join(os.path.dirname(RAILBENCH), "..", "lib")
    paths = [RAILBENCH] + sorted(
        os.path.join(where, name)
        for where, _, names in os.walk(os.path.join(ROOT, folder))
        for name in names if ".so" in name)
    for path in paths:
        with open(os.path.join(ROOT, path), "rb") as file:
            found.update(file.read())
    return found.hexdigest()


def environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(FOREIGN)}


def dying(command):
    """The command, ended when this program is killed: it can't do that then."""
    return (["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv")
            else []) + command


def group_bytes(group):
    """Memory of a process and of those that it has forked."""
    pages = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError):
            if os.getpgid(int(name)) == group:
                with open(f"/proc/{name}/statm", encoding="ascii") as file:
                    pages += int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def memory_for_each(jobs):
    return int(SHARE * os.sysconf("SC_PHYS_PAGES")
               * os.sysconf("SC_PAGE_SIZE") / jobs)


class Runner:
    """@memory: bytes that one run may take."""

    def __init__(self, jobs, memory=None, limit=LIMIT_S):
        self.jobs, self.program, self.limit = jobs, program(), limit
        self.memory = memory or memory_for_each(jobs)
        self.running, self.ended = set(), False
        self.lock = threading.Lock()
        os.makedirs(os.path.join(ROOT, KEPT), exist_ok=True)

    def platform(self, name, changes):
        """A platform's name, or the path of a changed one; and its text."""
        text = read(os.path.join(PLATFORMS, f"{name}.platform"))
        if not changes:
            return name, text
        for what, value in changes:
            text = open_ranges.changed(text, what, value)
        path = os.path.join(KEPT, f"{name}-{digest(text)}.platform")
        replace(os.path.join(ROOT, path), text)
        return path, text

    def watched(self, process, command):
        """Waits for its end, for which it may not take too much."""
        begin = time.monotonic()
        while not self.ended:
            try:
                return output_of(process, command,
                                 *process.communicate(timeout=LOOK_S))
            except subprocess.TimeoutExpired:
                pass
            if time.monotonic() - begin > self.limit:
                raise Failure(f"no end within {self.limit} s")
            if group_bytes(process.pid) > self.memory:
                raise Failure("needs more than "
                              f"{self.memory / 1e9:.3g} GB of memory")
        raise Failure("interrupted")

    def run(self, command):
        with self.lock:
            if self.ended:
                raise Failure("interrupted")
            process = start(dying(command), environment())
            self.running.add(process)
        try:
            self.watched(process, command)
        finally:
            stop(process)
            with self.lock:
                self.running.discard(process)

    def end(self):
        """Nothing is started any more, and what runs is asked to end."""
        with self.lock:
            self.ended = True
            for process in self.running:
                if process.poll() is None:
                    signal_group(process, signal.SIGTERM)

    def one(self, wanted, changes=()):
        name, text = self.platform(wanted.platform, changes)
        command = wanted.command(RAILBENCH, name)
        path = os.path.join(ROOT, KEPT, digest(self.program, text, *command)
                            + ".json")
        if not os.path.exists(path):
            partial = f"{path}.{os.getpid()}.{threading.get_ident()}.json"
            try:
                self.run([*command, "--save", partial, "--output",
                          "/dev/null"])
                os.replace(partial, path)
            except Failure as error:
                raise Failure(f"`{' '.join(wanted.command('railbench', name))}"
                              f"`: {error}") from None
            finally:
                with contextlib.suppress(OSError):
                    os.remove(partial)
        return json.loads(read(path))

    def all(self, wanted, failed, what):
        """{key: result} of {key: (run, changes)}; why some have none goes to
        @failed."""
        results, begin = {}, time.monotonic()
        with ThreadPoolExecutor(self.jobs) as pool:
            going = {pool.submit(self.one, *how): key
                     for key, how in sorted(wanted.items(), key=str)}
            try:
                for done, future in enumerate(as_completed(going), 1):
                    key = going[future]
                    try:
                        results[key] = future.result()
                    except Failure as error:
                        failed[key] = str(error)
                    minutes = (time.monotonic() - begin) / 60
                    progress(f"{what}: {done} of {len(going)} runs in "
                             f"{minutes:.0f} min: " + " ".join(
                                 wanted[key][0].command("railbench"))[:60])
            except BaseException:
                for future in going:
                    future.cancel()
                self.end()
                raise
        progress("")
        return results
