# SPDX-License-Identifier: BSD-3-Clause
"""Running programs: to their end, within a time, and with nothing left of
them."""
import contextlib
import os
import signal
import subprocess
import threading

from railtools.paths import ROOT

LIMIT_S = 60  # for one program


class Failure(Exception):
    """A program that could not be run to its end."""


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
    """Holds back signals until the present step is done."""
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
    """The program's standard output."""
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


def run_until(command, complete, limit=LIMIT_S):
    """The output so far when complete(text) holds, or at the program's end;
    for a program that may not end."""
    process, text = start(command), ""
    watch = threading.Timer(limit, signal_group, [process, signal.SIGKILL])
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
