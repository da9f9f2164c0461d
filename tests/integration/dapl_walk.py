#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A seeded random walk over the options of Debian's genuine dapltest, dtest,
dtestx and dtestcm, over any IA. Each command must end well, in time and without
a word of trouble. The IA is one of $DAT_OVERRIDE.

Left out, because the programs can't do it, or the IA need not:
- dapltest -Q: its man page says that it does not work yet
- dapltest -T F -f queryinfo, cases 3, 16 and 17: a PSP that creates EPs, which
  an IA may refuse (attribute ep_creator); 9: an RMR, which an IA need not have;
  13 and 15: libdat2 crashes on the handle that it is given
- dapltest -T T -V, RDMA of several segments that are no multiples of 256 bytes:
  it looks for the data where only such segments would be
- more than four segments: an IA may have fewer (max_iov_segments_per_dto)
- dapltest -R BE of a server and with -T F: they take it for a word that is none
- dapltest -T L -w with tests that make EPs: they mix the objects of two IAs
- dtest -S greater than 100: more suppressed requests than the queue of its EP
- dtest -D together with -a: bytes of the size before look like arrivals
- dtest -i less than 3: sizes overlap, with the same effect
- dtest -c together with -p, -W or -D: those do not wait by the CNO
- dtestx -u, -U and -m: unreliable datagrams, which are an adapter's
- dtestx -q: a query without an open IA, by a function that libdat2 finds in
  Debian's own providers only
- dtest -W and -D where processes do not share memory: each side spins on its
  memory, where the provider's thread needs a core
- dtestcm -c greater than 1: if a connection ends before the last one is
  established, its server takes one event for the other
- dtestcm -u; -d (it sleeps a second for each connection); -q and -l, which it
  does not know
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import IO

BAD = re.compile(r"error|fail|mismatch|\bbad |cannot|could not|swallowing|no memory|"
                 r"unexpected|_ERR", re.I)
# a run of less than a clock tick; the description of a case; what dtest counts
HARMLESS = re.compile(r"cannot calculate stats|^\s*Description:|[Ff]ails? with|"
                      r"passing a bad parameter|counters|getaddrinfo")
SECONDS = 60
MEETING = "00000000:3DD4 00000000:0000 0A"  # the TCP port of dtest and dtestx
# dapltest: its threads wait until one counter of all is 0, and a thread that is
# done sets it anew. A thread that sleeps meanwhile waits in vain. The negative
# count tells that all messages have come.
MISSED_ZERO = "FAIL: -"
TOO_EARLY = "0x4003"  # DAT_CONNECTION_EVENT_NON_PEER_REJECTED: no PSP yet


@dataclasses.dataclass
class Rail:
    """An IA, and what decides which commands are for it."""
    name: str
    atomics: bool
    shares_memory: bool  # the processes of both sides


@dataclasses.dataclass
class Command:
    """A client, and the server that it needs, if any."""
    client: list[str]
    server: list[str] | None
    wanted: str  # in the output of a good client, and of a good dtest's server
    script: bool = False  # the client's arguments come from a file

    @property
    def is_dapltest(self) -> bool:
        return self.client[0] == "dapltest"

    def __str__(self) -> str:
        texts = [shlex.join(c) for c in (self.server, self.client) if c]
        return " & ".join(texts) + (" (by -f)" if self.script else "")


# --------------------------------------------------------------- dapltest --

SIZES = [1, 4, 7, 8, 63, 64, 65, 256, 1000, 4096, 4097, 16384, 65536, 262144, 1048576]


def server_of(r: random.Random, rail: Rail, port: int) -> list[str]:
    words = ["-R", r.choice(["HT", "LL", "EC", "PM"])] if r.random() < .2 else []
    words += ["-d"] if r.random() < .1 else []
    return ["dapltest", "-T", "S", "-D", rail.name, "-n", str(port), *words]


def common(r: random.Random, kind: str, rail: Rail, port: int) -> list[str]:
    words = ["dapltest", "-T", kind, "-D", rail.name, "-n", str(port)]
    if r.random() < .2:
        words += ["-R", r.choice(["HT", "LL", "EC", "PM"] + ["BE"] * (kind != "F"))]
    return words


def operation(r: random.Random, kinds: list[str], largest: int,
              validate: bool = False) -> list[str]:
    words = [r.choice(kinds)]
    if r.random() < .9:
        size = r.choice([s for s in SIZES if s <= largest])
        words.append(str(size))
        if r.random() < .6 and not (validate and words[0] != "SR" and size % 256):
            words.append(str(r.randint(1, 4)))
    return words


def transaction(r: random.Random, rail: Rail, port: int) -> Command:
    words = common(r, "T", rail, port) + ["-s", "localhost"]
    threads, eps = r.choice([1, 1, 1, 2, 4]), r.choice([1, 1, 2, 5, 8])
    largest = r.choice([4096, 65536, 1048576])
    most = {4096: 400, 65536: 60, 1048576: 6}[largest]
    words += ["-i", str(r.randint(1, max(1, most // (threads * eps))))]
    words += ["-t", str(threads)] if threads > 1 or r.random() < .3 else []
    words += ["-w", str(eps)] if eps > 1 or r.random() < .3 else []
    words += [o for o in ("-V", "-P", "-r", "-d") if r.random() < {"-V": .6, "-d": .1}.get(o, .4)]
    ops: list[list[str]] = []
    for _ in range(r.randint(0, 8)):
        ops.append([r.choice(["client", "server"]),
                    *operation(r, ["RR", "RW", "SR"], largest, "-V" in words)])
    for side in ("client", "server"):  # it must have a send of each
        if not any(op[:2] == [side, "SR"] for op in ops):
            ops.insert(r.randint(0, len(ops)), [side, "SR"])
    for _ in range(r.choice([0, 0, 1, 2])):  # the client reaps its send later
        ops.append(["client", *operation(r, ["SR"], largest), "-f"])
        ops.append(["server", *operation(r, ["SR"], largest), "-f"])
    words += sum(ops, [])
    return Command(words, server_of(r, rail, port), "End of Work", r.random() < .2)


def performance(r: random.Random, rail: Rail, port: int) -> Command:
    words = common(r, "P", rail, port) + ["-s", "localhost"]
    words += ["-m", r.choice("bp")] if r.random() < .8 else []
    largest = r.choice([4096, 65536, 1048576])
    words += ["-i", str(r.randint(1, {4096: 1000, 65536: 300, 1048576: 20}[largest]))]
    words += ["-p", str(r.choice([1, 2, 3, 8, 32, 1000]))] if r.random() < .7 else []
    words += ["-d"] if r.random() < .1 else []
    words += operation(r, ["RR", "RW"], largest)
    return Command(words, server_of(r, rail, port), "End of Work", r.random() < .2)


LIMITS = ["ia", "pz", "cno", "evd", "ep", "rsp", "psp", "lmr", "rpost", "size_lmr"]
WIDE_LIMITS = ["ia", "pz", "cno", "evd"]  # they need no EP


def limits(r: random.Random, rail: Rail, port: int) -> Command:
    words = common(r, "L", rail, port) + ["-m", str(r.choice([1, 5, 20, 60]))]
    words += ["-d"] if r.random() < .1 else []
    if r.random() < .4:
        words += ["-w", str(r.randint(2, 4))]
        words += ["limit_" + name for name in r.sample(WIDE_LIMITS, r.randint(1, 4))]
    elif r.random() < .9:
        words += ["limit_" + name for name in r.sample(LIMITS, r.randint(1, 4))]
    return Command(words, None, "END|created|opened|per EP|Largest|LMR of")


# feature: its cases
FEATURES = {"hwconn": list(range(4)), "endpoint": list(range(3)), "pz": list(range(3)),
            "mem": list(range(5)), "connmgt": list(range(2)),
            "queryinfo": [c for c in range(18) if c not in (3, 9, 13, 15, 16, 17)]}


def features(r: random.Random, rail: Rail, port: int) -> Command:
    feature = r.choice(list(FEATURES))
    words = common(r, "F", rail, port) + ["-f", feature, "-s", "localhost"]
    for option in ("-i", "-t", "-v"):
        words += [option, str(r.randint(1, 1000))] if r.random() < .2 else []
    cases = FEATURES[feature]
    if feature == "queryinfo" or r.random() < .6:
        cases = sorted(r.sample(cases, r.randint(1, len(cases))))
        words += [f"case{c}" for c in cases]
    return Command(words, None, "Result: (PASS|UNSUPP)")


# --------------------------------------------------- dtest, dtestx, dtestcm --

def both(program: str, rail: Rail, words: list[str], wanted: str) -> Command:
    return Command([program, "-P", rail.name, "-h", "localhost", *words],
                   [program, "-P", rail.name, "-s", *words], wanted)


def dtest(r: random.Random, rail: Rail, _port: int) -> Command:
    words = ["-v"] if r.random() < .1 else []
    words += ["-t"] if r.random() < .3 else []
    words += ["-d", "1"] if r.random() < .1 else []
    if rail.shares_memory and r.random() < .4:
        spin = r.choice(["-W", "-D"])
        words += [spin, "-b", str(r.choice([4, 63, 64, 1000, 4096, 65536])),
                  "-B", str(r.choice([1, 10, 100, 500]))]
        if spin == "-W":
            sizes = r.choice([[], ["-a"], ["-i", str(r.randint(3, 4000))]])
            if sizes:  # -a goes up to the next power of two
                words[words.index("-b") + 1] = "8192"
            words += sizes
        return both("dtest", rail, words, "PASSED")
    burst = r.choice([1, 7, 10, 99, 100, 300])
    words += ["-b", str(r.choice([64, 100, 4096, 65536, 262144])), "-B", str(burst)]
    words += ["-S", str(r.randint(1, 100))] if r.random() < .5 else []
    words += ["-w"] if r.random() < .3 else []
    words += ["-u"] if r.random() < .3 else []
    words += r.choice([["-c"], ["-p"], []])
    return both("dtest", rail, words, "PASSED")


def dtestx(r: random.Random, rail: Rail, _port: int) -> Command:
    words = ["-b", str(r.choice([64, 128, 4096, 65536]))] if r.random() < .8 else []
    words += [o for o in ("-v", "-p") if r.random() < .2]
    return both("dtestx", rail, words, "PASSED")


def dtestcm(r: random.Random, rail: Rail, _port: int) -> Command:
    words = ["-c", "1", "-b", "1"]
    words += [o for o in ("-m", "-w", "-v") if r.random() < .3]
    words += ["-p", str(r.randint(20000, 30000))] if r.random() < .3 else []
    return both("dtestcm", rail, words, "ALL 1 CONNECTED")


KINDS: list[tuple[int, Callable[[random.Random, Rail, int], Command]]] = [
    (8, transaction), (4, performance), (2, limits), (2, features), (4, dtest), (1, dtestx),
    (1, dtestcm)]


def command_of(seed: int, number: int, rail: Rail, port: int) -> Command:
    """The same for the same seed and number, whatever came before."""
    r = random.Random(f"{seed}:{number}")
    kinds = [(n, k) for n, k in KINDS if rail.atomics or k is not dtestx]
    kind = r.choices([k for _, k in kinds], [n for n, _ in kinds])[0]
    return kind(r, rail, port)


# ---------------------------------------------------------------- running --

def until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> bool:
    for _ in range(2000):
        if condition():
            return True
        if process.poll() is not None:
            return False
        time.sleep(.005)
    return False


def read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def trouble(text: str) -> list[str]:
    return [line for line in text.splitlines()
            if BAD.search(line) and not HARMLESS.search(line)]


class Run:
    """One run of a command; what is wrong with it, and its output."""

    def __init__(self, command: Command, folder: str) -> None:
        self.command = command
        self.wrong: list[str] = []
        self.paths = {side: os.path.join(folder, side) for side in ("client", "server")}
        self.output = {side: "" for side in self.paths}

    def start(self, side: str, words: list[str], out: IO[bytes]) -> subprocess.Popen[bytes]:
        if side == "client" and self.command.script:
            script = self.paths[side] + ".script"
            with open(script, "w", encoding="utf-8") as file:
                file.write("\n".join(words[1:]) + "\n")
            words = [words[0], "-f", script]
        return subprocess.Popen(["timeout", "-k", "5", str(SECONDS), *words],
                                stdout=out, stderr=subprocess.STDOUT)

    def ready(self) -> bool:
        if self.command.is_dapltest:
            return "Service Point Ready" in read(self.paths["server"])
        return MEETING in read("/proc/net/tcp")

    def end_server(self, server: subprocess.Popen[bytes]) -> None:
        if self.command.is_dapltest:
            quit_words = ["dapltest", "-T", "Q", *self.command.client[3:7], "-s", "localhost"]
            done = subprocess.run(["timeout", "30", *quit_words], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode:
                self.wrong.append(f"quit: status {done.returncode}")
        elif TOO_EARLY in read(self.paths["client"]):
            server.terminate()
        status = server.wait(SECONDS + 10)
        if status:
            self.wrong.append(f"server: status {status}")

    def run(self) -> None:
        server = None
        with open(self.paths["server"], "wb") as out, open(self.paths["client"], "wb") as into:
            if self.command.server:
                server = self.start("server", self.command.server, out)
                if not until(self.ready, server):
                    self.wrong.append("the server is not ready")
            status = self.start("client", self.command.client, into).wait()
            if status:
                self.wrong.append(f"client: status {status}")
            if server:
                self.end_server(server)
        self.judge()

    def judge(self) -> None:
        for side, path in self.paths.items():
            text = self.output[side] = read(path)
            self.wrong += [f"{side}: {line.strip()}" for line in trouble(text)]
            needed = side == "client" or (self.command.server and
                                          not self.command.is_dapltest)
            if needed and not re.search(self.command.wanted, text):
                self.wrong.append(f"{side}: no '{self.command.wanted}'")

    def again(self) -> bool:
        """The programs themselves failed: dtest's client came before the
        server's PSP, or threads of dapltest missed each other."""
        word = MISSED_ZERO if self.command.is_dapltest else TOO_EARLY
        return word in self.output["client"]


def try_command(command: Command) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(20):
            run = Run(command, folder)
            run.run()
            if not run.again():
                break
        return run


def rail_of(railinfo: str, ia: str) -> Rail:
    text = subprocess.run([railinfo, ia], check=False, stdout=subprocess.PIPE, text=True).stdout
    return Rail(ia, atomics=re.search(r"^ *atomics +yes", text, re.M) is not None,
                shares_memory=re.search(r"^ *reaches +ranks of its host", text, re.M) is not None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--ia", default="shm0")
    parser.add_argument("--commands", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", type=int, help="the number of the one command to run")
    parser.add_argument("--seconds", type=float, default=1e9,
                        help="begin no command after this time")
    parser.add_argument("--railinfo", default="railinfo", help="the program")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    numbers = [options.only] if options.only is not None else range(options.commands)
    rail = rail_of(options.railinfo, options.ia)
    port = 20000 + os.getpid() % 20000
    began, failed, ran = time.monotonic(), 0, 0
    for number in numbers:
        if time.monotonic() - began > options.seconds:
            break
        command = command_of(options.seed, number, rail, port)
        run = try_command(command)
        ran += 1
        print(f"{'NOT OK' if run.wrong else 'ok'} - {number}: {command}", flush=True)
        if run.wrong:
            failed += 1
            print("\n".join("  " + line for line in run.wrong[:10]))
            for side, text in run.output.items():
                print("".join(f"  {side}> {line}\n" for line in text.splitlines()[-30:]), end="")
            print(f"again: {sys.argv[0]} --ia {options.ia} --seed {options.seed} --only {number}",
                  flush=True)
    print(f"{ran} commands over {options.ia}, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
