#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the steps of docs/tutorial.md.

usage: tutorial.py [--with NEED] [--show] TUTORIAL

A step is a block ```console: lines after `$ ` are commands, others what they
print, with any figures; `…` is anything. Without --with, the blocks run that
are not marked; with --with X, those after `<!-- needs X -->`; in both cases
those after `<!-- always -->`. All commands go to one shell, in the present
folder. --show prints what the commands print."""

import argparse
import os
import re
import socket
import subprocess
import sys

MARK = "@@@"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def blocks(text):
    """Of each console block: what it needs, and its lines."""
    pattern = r"(?:<!-- (?:needs )?(\w+) -->\n)?```console\n(.*?)```"
    return [(m[1], m[2].splitlines()) for m in re.finditer(pattern, text, re.S)]


def commands(lines):
    """Pairs of a command, and the lines that it should print."""
    found, more = [], False
    for line in lines:
        if more:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], []])
        else:
            found[-1][1].append(line)
        more = line.endswith("\\") and (more or line.startswith("$ "))
    return found


def run(steps):
    """Runs the commands; the output and the exit status of each."""
    port = str(free_port())
    script = "exec 2>&1\n"
    for i, (command, _) in enumerate(steps):
        script += f"printf '\\n{MARK}{i}\\n'\n"
        script += command.replace("7777", port) + "\n"
        # a shell that was begun or left has said nothing yet
        script += f"printf '{MARK}= %s\\n' $?\n"
    # testbed begins $SHELL, or sh, which reads ahead: it would take the steps
    # after its own exit
    out = subprocess.run(["bash"], input=script, text=True, check=False,
                         env={**os.environ, "SHELL": "/bin/bash"},
                         stdout=subprocess.PIPE).stdout
    said = [("", None)] * len(steps)
    for part in re.split(rf"\n{MARK}(?=\d+\n)", out)[1:]:
        number, _, rest = part.partition("\n")
        text, _, status = rest.partition(f"{MARK}= ")
        said[int(number)] = text, status.split()[0] if status else None
    return said


def plain(line):
    """A line without its figures and the width of its columns."""
    line = re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "0", line)
    line = re.sub(r"#{2,}", "#", line)
    return " ".join(line.split())


def missing(wanted, said):
    """The first wanted line that was not printed, or None."""
    lines = iter([plain(line) for line in said.splitlines()])
    for line in wanted:
        if line.strip() in ("…", ""):
            continue
        start, more, _ = plain(line).partition(" …")
        if not any(x.startswith(start) if more else x == start for x in lines):
            return line
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--with", dest="need")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("tutorial")
    args = parser.parse_args()
    with open(args.tutorial, encoding="utf-8") as f:
        text = f.read()
    chosen = [lines for need, lines in blocks(text)
              if need in ("always", args.need)]
    steps = [step for lines in chosen for step in commands(lines)]
    wrong = 0
    for (command, wanted), (said, status) in zip(steps, run(steps)):
        if args.show:
            print(f"$ {command}\n{said}", end="")
            continue
        gone = missing(wanted, said)
        good = gone is None and status in ("0", None)
        print(f"{'ok' if good else 'NOT OK'} - {command.splitlines()[0]}")
        if not good:
            wrong += 1
            print(f"status {status}; not printed: {gone}\n{said}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
