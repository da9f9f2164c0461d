#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/compare-p2p: bad input, and a short run with the peers that are
# built (make peers); those that are not are named.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

compare=$SOURCE/scripts/compare-p2p
export BUILD

# refused OPTION ARGUMENTS…: status 2 and one line that names the option
refused()
{
    local option=$1
    shift
    timeout -k 10 30 "$compare" "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
        grep -q -- "$option" "$work/err"
}

check 'unknown option' refused --nonsense --nonsense
check 'no rounds' refused --repeat --repeat 0
check 'unknown peer' refused --peers --peers openmpi,nonsense
check 'size twice' refused --bw-sizes --bw-sizes 4K,4096
check 'size that is none' refused --lat-sizes --lat-sizes 8,4Q
check 'one core' refused --cores --cores 0
check 'no buffers' refused --buffers --buffers 0
check 'too many buffers' refused --buffers --buffers 65537

# A peer that fails once keeps its other rounds; a peer that always fails is
# soon left out.
goes_on()
{
    python3 -B - "$SOURCE/tools" <<'PY'
import sys
from argparse import Namespace
sys.path.insert(0, sys.argv[1])
from railtools import compare_p2p as p2p


class Fake:
    hidden = {}

    def __init__(self, name, fails):
        self.name, self.fails, self.launches = name, fails, 0

    def measure(self, kind, sizes, cores):
        assert cores == [0, 1]
        self.launches += 1
        if self.launches in self.fails:
            raise p2p.Failure("no luck")
        return [("send", size, 1.0, 2.0) for size in sizes]


good, unlucky, broken = fakes = [
    Fake("good", []), Fake("unlucky", [2]), Fake("broken", range(9))]
samples, _, tries, rounds = p2p.measure(fakes, [("lat", [8])], Namespace(
    repeat=5, time=None, cores=[0, 1]))
assert list(samples[("lat", 8, "good", "send")]) == [1, 2, 3, 4, 5]
assert list(samples[("lat", 8, "unlucky", "send")]) == [1, 3, 4, 5]
assert broken.launches == 3 and ("lat", 8, "broken", "send") not in samples
told = dict(tries.failures(5))
assert told["unlucky", "lat"] == "failed in 1 of 5 rounds: no luck", told
assert told["broken", "lat"].startswith("failed in each of 3"), told
assert [p2p.in_turn("abc", n) for n in range(4)] == [
    "abc", "bca", "cab", "abc"]
rows = p2p.summarize(samples)
assert {row["program"]: row["repeats"] for row in rows} == {
    "good": 5, "unlucky": 4}, rows
PY
}
check 'a launch that fails' goes_on

# Each test of a peer gets the setting that is best for it, methods of the same
# setting go together, and another run can take what was found.
settings()
{
    python3 -B - "$SOURCE/tools" "$work" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from railtools import compare_p2p as p2p

USUAL, EAGER, LONG = (), ("X=eager",), ("X=1", "Y=a b")
us = {"send": {USUAL: 2, EAGER: 1, LONG: 3},
      "put": {USUAL: 2, EAGER: 3, LONG: 1}}


class Fake(p2p.Tuned):
    name, key = "fake", "ucx"
    tests = {"lat": {"send": ""}, "bw": {"send": "", "put": ""}}

    def __init__(self):
        super().__init__(None)
        self.settings, self.launches = (USUAL, EAGER, LONG), []

    def launch(self, kind, methods, lengths, cores, words):
        self.launches.append((kind, words, methods))
        return [(method, size, us[method][words], size / us[method][words])
                for method in methods for size in lengths]


def settled(search):
    fake = Fake()
    p2p.settle([p2p.Ours(None), fake], [("lat", [8]), ("bw", [64, 128])],
               search, [0, 1])
    tried, fake.launches = len(fake.launches), []
    fake.measure("lat", [8], [0, 1])
    fake.measure("bw", [64], [0, 1])
    return fake, tried


search = p2p.peers.Search(2, "µs")
fake, tried = settled(search)
best = [("lat", EAGER, ["send"]), ("bw", EAGER, ["send"]),
        ("bw", LONG, ["put"])]
assert tried == 18 and fake.launches == best, fake.launches
assert "lat send: X=eager: 1; as it comes: 2" in "".join(search.told(fake))
path = sys.argv[2] + "/p2p-settings.csv"
p2p.write_settings(path, search)
again = p2p.peers.Search(0, "µs")
again.load(path)
fake, tried = settled(again)
assert tried == 0 and fake.launches == best, fake.launches
fake, tried = settled(p2p.peers.Search(0, "µs"))
assert tried == 0 and fake.launches[1:] == [("bw", USUAL, ["send", "put"])]
assert set(p2p.SETTINGS) == {kind.key for kind in p2p.PROGRAMS[1:]}
PY
}
check 'settings of peers' settings
printf 'program,setting\nx,y\n' >"$work/none.csv"
check 'settings that are none' refused --settings --settings "$work/none.csv"
check 'no settings' refused --settings --settings "$work/absent.csv"

# Ratios are of the same rounds, to the best peer of each side.
pairs()
{
    python3 -B - "$SOURCE/tools" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from railtools import compare_p2p as p2p


def rounds(*figures):
    return {number: (figure, figure) for number, figure in enumerate(figures)
            if figure}


# a machine whose phases change from round to round: only pairs tell
samples = {
    ("lat", 8, p2p.OURS, "single"): rounds(1, 9, 1, 9, 1, 9, 1, 9),
    ("lat", 8, "slow", "send"): rounds(4, 36, 4, 36, 4, 36, 4, 36),
    ("lat", 8, "near", "send"): rounds(2, 18, 2, 18, 2, 18, 2, None),
    ("lat", 8, "near", "put"): rounds(.5, 4.5, .5, 4.5, .5, 4.5, .5, 4.5),
    ("bw", 4096, p2p.OURS, "single"): rounds(3, 3, 3, 3, 3, 3, 3),
    ("bw", 4096, "near", "send"): rounds(2, 2, 2, 4, 4, 4, 3)}
rows = p2p.summarize(samples)
ours = {row["kind"]: row for row in rows if row["program"] == p2p.OURS}
peer, interval, number = ours["lat"]["ratios"]["send"]
assert (peer["program"], interval, number) == (
    "near", (0.5, 0.5, 0.5), 7), interval
assert ours["lat"]["ratios"]["put"][1] == (2, 2, 2)
assert ours["bw"]["ratios"]["put"] is None
assert p2p.place((.5, .5, .5), 5, less=True) == "few"
assert [p2p.place((1, low, high), 6, less=True) for low, high in (
    (.5, .9), (.9, 1.1), (1.1, 2))] == ["ahead", "level", "behind"]
assert [p2p.place((1, low, high), 6) for low, high in (
    (.5, .9), (.9, 1.1), (1.1, 2))] == ["behind", "level", "ahead"]
for kind, side, bound, end in (("lat", "send", 0.7, "met"),
                               ("lat", "put", 1, "MISSED"),
                               ("bw", "send", 1, "not shown")):
    text = p2p.target(ours[kind], side, bound)
    assert "of near, " in text and text.endswith(
        " of the best of each round: " + end), text
# level with the best median, yet behind the best program of each round
found = ours["lat"]["of_round"]
found["send"], right = ((1.2, 1.1, 1.3), 8), found["send"]
assert p2p.target(ours["lat"], "send", 0.7).endswith(": MISSED")
found["send"] = right
assert "ahead" in p2p.ratio_text(ours["lat"], "send")

# our ranks' cores are checked, too
program = p2p.Ours(None)
result = {"version": "", "revision": "", "configurations": [], "results": []}
for cores in [0, 1], [0, -1]:
    program.run = lambda _command: p2p.json.dumps(
        {**result, "pinning": [{"main_core": core} for core in cores]})
    try:
        program.measure("lat", [8], [0, 1])
        assert cores == [0, 1], "taken"
    except p2p.Failure as failure:
        assert cores != [0, 1] and "not on cores" in str(failure), failure
PY
}
check 'pairs of rounds' pairs

# a second Ctrl-C while a program is being ended ends it all the same
impatient()
{
    timeout -k 5 60 python3 -B - "$SOURCE/tools" <<'PY'
import os
import signal
import sys
sys.path.insert(0, sys.argv[1])
from railtools import programs
signal.signal(signal.SIGINT, signal.default_int_handler)
process = programs.start(["sh", "-c", "trap '' TERM; echo up; sleep 100"])
assert process.stdout.readline() == "up\n"
real = programs.signal_group
def interrupted_within(process, number):
    os.kill(os.getpid(), signal.SIGINT)
    real(process, number)
programs.signal_group = interrupted_within
try:
    programs.stop(process)
    sys.exit("it was not interrupted")
except KeyboardInterrupt:
    pass
assert process.poll() == -signal.SIGKILL, process.poll()
PY
}
check 'interrupted twice' impatient

# ranks that are not where they should be are no figure
misplaced()
{
    python3 -B - "$SOURCE/tools" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from railtools import peers
peer = peers.Peer(None)
peer.name = "x"
text = "# Library 1\n# cores 0 {}\nwhat,bytes\nlat,8\n"
assert peer.read(text.format(1), [0, 1]) == [{"what": "lat", "bytes": "8"}]
try:
    peer.read(text.format(-1), [0, 1])
except peers.Failure as failure:
    assert "not on cores [0, 1]" in str(failure), failure
else:
    sys.exit("taken")
PY
}
check 'misplaced ranks' misplaced

short_run()
{
    timeout -k 10 200 "$compare" --repeat 1 --lat-sizes 8 --bw-sizes 64K \
        --search 0 "$work/p2p" >"$work/out" 2>"$work/err" || {
        cat "$work/out" "$work/err"
        return 1
    }
    python3 - "$work/p2p" <<'PY'
import csv, sys
folder = sys.argv[1]
text = open(folder + "/p2p.txt", encoding="utf-8").read()
with open(folder + "/p2p.csv", newline="") as file:
    rows = list(csv.DictReader(file))
kinds = {(row["program"], row["test"], row["method"]) for row in rows}
assert {("dapl_rail", "lat", "single"), ("dapl_rail", "bw", "single"),
        ("dapl_rail", "bw", "threaded"), ("dapl_rail", "bw", "auto")} \
    <= kinds, kinds
assert text.count("Settings of peers were not searched:") == 1, text
for row in rows:
    assert float(row["latency_us"]) > 0, row
    assert float(row["bandwidth_MBps"]) > 0, row
for peer in ("Open MPI", "MPICH", "Open MPI (wheel)", "MPICH (wheel)",
             "Intel MPI", "UCX", "UCX (wheel)", "libfabric"):
    measured = any(row["program"] == peer for row in rows)
    assert measured != (f"{peer}: left out" in text), peer
PY
}
[ "$(nproc)" -ge 2 ] || skip 'one core: nothing was compared'
check 'a short run' short_run

# buffers in turn, which the target reads: bandwidth alone, of all but UCX
other_memory()
{
    timeout -k 10 200 "$compare" --repeat 1 --bw-sizes 64K --buffers 100 \
        --search 0 --read "$work/memory" >"$work/out" 2>"$work/err" &&
        grep -q '^Messages take turns in 100 buffers, .* reads each' \
            "$work/out" &&
        grep -q '^UCX.*: left out: ' "$work/out" &&
        grep -q ' bw .*--buffers 100 --read' "$work/out" &&
        ! grep -q '^lat' "$work/memory/p2p.csv" &&
        awk '/taskset.*mpi_p2p/ && !/bw:65536:[0-9]*:100:read/ { exit 1 }' \
            "$work/out" || {
        cat "$work/out" "$work/err"
        return 1
    }
}
check 'other memory' other_memory
# what is measured beside us: programs other than dapl_rail
[ "$(tail -n +2 "$work/p2p/p2p.csv" | cut -d, -f2 | sort -u | wc -l)" -ge 2 ] ||
    skip 'no peer: nothing was compared (make deps)'
