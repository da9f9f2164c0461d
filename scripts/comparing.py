# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share: running programs, noise, intervals, the command
line. Not a program."""
import argparse
import contextlib
import csv
import gzip
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from math import comb, exp, log

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# programs run in ROOT, so that the commands tell no path of this machine
BIN = os.path.join(os.environ.get("BUILD", "build"), "bin")
RAILBENCH = os.path.join(BIN, "railbench")
LIMIT_S = 60  # for one program
TRIES = 3  # what fails in so many rounds, and in no other, is left out then
NAME = os.path.join("scripts", os.path.basename(sys.argv[0]))


class Failure(Exception):
    """A program that could not be run to its end."""


# ------------------------------------------------------------- processes ---

# A parent may ignore SIGCHLD: then every program seems to end with status 0.
signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def start(command, environment=None):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            cwd=ROOT, start_new_session=True, env=environment)


def signal_group(process, number):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


@contextlib.contextmanager
def uninterrupted():
    """Who is impatient waits until what is begun is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (
        signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stop(process):
    """Ends a program, politely first: launchers tidy up. Then what is left of
    its group, which would take part in the noise."""
    with uninterrupted():
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process.poll() is None:
                signal_group(process, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.communicate(timeout=3)
        signal_group(process, signal.SIGKILL)


def result_of(process, command, limit=LIMIT_S):
    """What the program wrote to standard output."""
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failure(f"{command[0]}: no end within {limit} s") from None
    return output_of(process, command, out, err)


def output_of(process, command, out, err):
    """... which has ended."""
    if process.returncode:
        lines = (err.strip() or out.strip()).splitlines()
        raise Failure(f"{command[0]}: exit status {process.returncode}"
                      f"{': ' + lines[0] if lines else ''}")
    return out


def run(command, limit=LIMIT_S):
    process = start(command)
    try:
        return result_of(process, command, limit)
    finally:
        stop(process)


def run_until(command, complete):
    """What the program has said when complete(text) holds, or at its end;
    for one that may not end."""
    process, text = start(command), ""
    watch = threading.Timer(LIMIT_S, signal_group, [process, signal.SIGKILL])
    watch.start()
    try:
        for line in process.stdout:
            text += line
            if complete(text):
                return text
        return text + result_of(process, command)
    finally:
        watch.cancel()
        stop(process)


def first_line(command):
    return (run(command).strip().splitlines() or ["unknown version"])[0]


# ------------------------------------------------------------- measuring ---

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


def own_seconds():
    return sum(usage.ru_utime + usage.ru_stime for usage in (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN)))


def lines_ns(cores):
    """What a cache line takes from one of these cores to another, for each pair
    and kind; of virtual machines it may change by the minute."""
    text = run(["taskset", "-c", ",".join(map(str, cores)), RAILBENCH, "limits", "--sizes", "8", "--repeat", "1",
                "--format", "csv"])
    return [float(row["latency_us"]) * 1e3
            for row in csv.DictReader(text.splitlines())
            if row.get("lines") == "1"]


class Noise:
    """What the machine was like in each round: how much of the cores others
    took, and its cache."""

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


class Tries:
    """How often each launch has been tried, and why it failed."""

    def __init__(self):
        self.tried, self.failed = Counter(), {}

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


def ratios(above, below):
    """{round: ratio} of those that both have: of two {round: value}."""
    return {number: above[number] / below[number]
            for number in sorted(set(above) & set(below))}


def paired(above, below):
    """((median, lo, hi) of the ratios in the rounds that both have, how many
    these are), or None: of two {round: value}."""
    found = ratios(above, below)
    return (median_interval(found.values()), len(found)) if found else None


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


def progress(text):
    """What is being done, where somebody may look at it; "" takes it away."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


# --------------------------------------------------------------- results ---

def replace(path, text):
    """Writes a file of which the old one is left until the new one is whole.
    Several may do so at once: the last one's is left. Compressed, if it is to
    end in .gz: the same text always gives the same bytes."""
    new = f"{path}.{os.getpid()}.{threading.get_ident()}.new"
    content = text.encode(errors="replace")  # names of hosts are bytes
    if path.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    try:
        with open(new, "wb") as file:
            file.write(content)
        os.replace(new, path)
    finally:
        with contextlib.suppress(OSError):
            os.remove(new)


def hide(text, paths):
    """Without paths of this machine: {path: what it is called}."""
    for path, name in paths.items():
        text = text.replace(path, name)
    return text


def size_name(size):
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


# --------------------------------------------------------------- options ---

def wrong(text):
    print(f"{NAME}: {text}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        wrong(f"{message}; see --help")


def parse_size(text):
    """Bytes, 0 if it is wrong."""
    units = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    match = re.fullmatch(r"([1-9]\d{0,9})([KMG]?)", text)
    return int(match[1]) * units[match[2]] if match else 0


def sizes(text):
    found = [parse_size(word) for word in text.split(",")]
    if not all(1 <= size <= 64 << 20 for size in found) or \
            len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of distinct sizes from 1 to "
            "64M (K, M: powers of 1024)")
    return sorted(found)


def count(text):
    if not re.fullmatch(r"\d{1,3}", text) or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a number from 1 to 100")
    return int(text)


def duration(text, unit):
    """A time with or without a unit, in @unit; None if it is wrong."""
    seconds = {"ms": 0.001, "s": 1, "min": 60, "m": 60, "h": 3600}
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|min|m|h|)", text)
    return (float(match[1]) * seconds[match[2] or unit] / seconds[unit]
            if match else None)


def minutes(text):
    found = duration(text, "min")
    if found is None or not 0.001 <= found <= 9999:
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a number of minutes, 0.001 to 9999, "
            "or with a unit: 90s, 2min, 1h")
    return found


def chosen_of(names, several=()):
    """@several: what stands for which names."""
    def parse(text):
        found = [name for word in text.split(",")
                 for name in dict(several).get(word, [word])]
        if not set(found) <= set(names) or len(set(found)) < len(found):
            raise argparse.ArgumentTypeError(
                f"'{text}' is wrong; allowed: a list of {', '.join(names)}")
        return found
    return parse


def claim(path):
    """Makes a folder that nobody else has. mkdir without -p tells."""
    base = os.path.normpath(path)  # without a slash at its end
    number, name = 1, base
    try:
        os.makedirs(os.path.dirname(os.path.abspath(base)), exist_ok=True)
        while True:
            try:
                os.mkdir(name)
                return name
            except FileExistsError:
                number += 1
                name = f"{base}-{number}"
    except OSError as error:
        return wrong(f"DIR: '{path}' is wrong: {error.strerror}; allowed: a "
                     "folder that can be created")


def leave(folder):
    """Takes away a folder that was claimed, if nothing is in it."""
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def add_pictures(parser):
    parser.add_argument("--pictures", choices=("svg", "png", "both"),
                        default="svg",
                        help="format of the pictures (default svg)")


def draw(folder, args):
    """@return the exit status of scripts/plot."""
    return subprocess.run([os.path.join(ROOT, "scripts", "plot"), "--quiet",
                           "--format", args.pictures, folder],
                          check=False).returncode


def conclude(main):
    """Runs a script to its end. What ends it before is told in one line."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        why = "interrupted"
    except (Failure, OSError) as error:
        why = error
    progress("")
    print(f"{NAME}: {why}", file=sys.stderr)
    sys.exit(1)
