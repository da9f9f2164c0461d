# SPDX-License-Identifier: BSD-3-Clause
"""Runs of railbench on simulated clusters: several at a time, each made once,
within limits of time and memory; which of them reaches one beside others runs
again alone, so that the number of jobs decides nothing. Not a program."""
import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from railtools.files import replace
from railtools.options import progress
from railtools.papers import open_ranges
from railtools.paths import RAILBENCH, ROOT
from railtools.programs import Failure, output_of, signal_group, start, stop

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
    """The program that results depend on, besides the command and the
    platform."""
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


def memory_for_all():
    return int(SHARE * os.sysconf("SC_PHYS_PAGES")
               * os.sysconf("SC_PAGE_SIZE"))


def kept(path):
    """A result; None: there is none that is whole."""
    try:
        return json.loads(read(path))
    except (FileNotFoundError, ValueError):
        return None


def tidy(folder):
    """Takes away what scripts that were killed have begun to write."""
    for path in glob.glob(os.path.join(glob.escape(folder), "*")):
        own = re.search(r"\.(\d+)\.\d+\.(json|new)$", path)
        if own and not os.path.exists(f"/proc/{own[1]}"):
            with contextlib.suppress(OSError):
                os.remove(path)


class Limit(Failure):
    """A run has reached a limit, which it need not when it is alone."""


class Runner:
    """@memory: bytes that all runs together may take."""

    def __init__(self, jobs, memory=None, limit=LIMIT_S):
        self.jobs, self.program, self.limit = jobs, program(), limit
        self.memory = memory or memory_for_all()
        self.running, self.ended = set(), False
        self.lock = threading.Lock()
        os.makedirs(os.path.join(ROOT, KEPT), exist_ok=True)
        tidy(os.path.join(ROOT, KEPT))

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

    def watched(self, process, command, memory):
        """Waits for its end, for which it may not take too much."""
        begin = time.monotonic()
        while not self.ended:
            try:
                return output_of(process, command,
                                 *process.communicate(timeout=LOOK_S))
            except subprocess.TimeoutExpired:
                pass
            if time.monotonic() - begin > self.limit:
                raise Limit(f"no end within {self.limit} s")
            if group_bytes(process.pid) > memory:
                raise Limit(f"needs more than {memory / 1e9:.3g} GB of memory")
        raise Failure("interrupted")

    def run(self, command, jobs=1):
        """@jobs: how many share the memory."""
        with self.lock:
            if self.ended:
                raise Failure("interrupted")
            process = start(dying(command), environment())
            self.running.add(process)
        try:
            self.watched(process, command, self.memory // jobs)
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

    def one(self, wanted, changes=(), jobs=1):
        name, text = self.platform(wanted.platform, changes)
        command = wanted.command(RAILBENCH, name)
        path = os.path.join(ROOT, KEPT, digest(self.program, text, *command)
                            + ".json")
        result = kept(path)
        if result is not None:
            return result
        partial = f"{path}.{os.getpid()}.{threading.get_ident()}.json"
        try:
            self.run([*command, "--save", partial, "--output", "/dev/null"],
                     jobs)
            result = kept(partial)
            if result is None:
                raise Failure("its result can't be read")
            os.replace(partial, path)
            return result
        except Failure as error:
            raise type(error)(
                f"`{' '.join(wanted.command('railbench', name))}`: {error}"
            ) from None
        finally:
            with contextlib.suppress(OSError):
                os.remove(partial)

    def several(self, wanted, jobs, what):
        """({key: result}, {key: why there is none}), so many at a time."""
        results, failed, going = {}, {}, {}
        begin = time.monotonic()
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for key, (run, changes) in sorted(wanted.items(), key=str):
                    going[pool.submit(self.one, run, changes, jobs)] = key
                for done, future in enumerate(as_completed(going), 1):
                    key = going[future]
                    try:
                        results[key] = future.result()
                    except Failure as error:
                        failed[key] = error
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
        return results, failed

    def all(self, wanted, failed, what):
        """{key: result} of {key: (run, changes)}; why some have none goes to
        @failed."""
        results, why = self.several(wanted, self.jobs, what)
        again = {key: wanted[key] for key, error in why.items()
                 if isinstance(error, Limit)} if self.jobs > 1 else {}
        if again:
            more, still = self.several(again, 1, f"{what}, one at a time")
            results |= more
            why = {key: error for key, error in why.items()
                   if key not in again} | still
        failed |= {key: str(error) for key, error in why.items()}
        return results
