#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/reproduce: bad input, what its table computes, and that a row comes out
# the same each time.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

reproduce=$SOURCE/scripts/reproduce
refused 'a row that there is not' '--only: .xyz' "$reproduce" --only xyz
refused 'no row' '--only: ..' "$reproduce" --only ''
refused 'no runs at a time' '--jobs.*0.*1 to 256' "$reproduce" --jobs 0
refused 'that many ranks' '--ranks.*17.*16, 64' "$reproduce" --ranks 17
refused 'an option that there is not' '--nonsense' "$reproduce" --nonsense
check 'a list of some' sh -c '"$0" --list --only 002-allgather |
    grep -qx 002-allgather-4' "$reproduce"

# says 'PYTHON ASSERTIONS'
says()
{
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SOURCE/scripts python3 -c "
from predicted import *
class Line:
    def __init__(self, **points):
        self.line = {int(x[1:]): y for x, y in points.items()}
    def runs(self):
        return set()
    def points(self, results):
        return self.line
$1" "${@:2}"
}

check 'by how much one is better' says '
base, other, ours = Line(_4=8.0, _8=9.0), Line(_4=4.0), Line(_4=2.0)
row = Factor("", "", "", 2.5, base, other, ours, 4)
found = row.found({})
assert (found.predicted, found.ours, found.same) == (2.0, 4.0, True)
assert abs(found.deviation + 0.2) < 1e-9 and not found.behind
assert Factor("", "", "", 2, base, ours, other, 4).found({}).behind
assert Factor("", "", "", 2, base, other, ours, 8).found({}).predicted is None
assert Factor("", "", "", 2, other, base, base, 4).found({}).same is False
rates = Factor("", "", "", 2, other, base, base, None, rate=True).found({})
assert rates.predicted == 9 / 4, rates'
check 'who wins from where to where' says '
low = Line(_4=1.0, _8=2.0, _16=4.0, _32=8.0)
high = Line(_4=2.0, _8=2.0, _16=3.0, _32=4.0)
def row(*ranges, ours=low):
    return Winner("", "", "", ranges, {"l": low, "h": high}, ours)
exact = row((4, 8, "l"), (16, 32, "h")).found({})
assert exact.predicted == "l 4–8, h 16–32" and exact.same, exact
assert exact.ours == 0.5 and exact.behind, exact
near = row((4, 16, "l"), (32, 64, "h"), ours=high).found({})
given = Winner("", "", "", ((4, 8, "l"), (16, 32, "h")),
               {"l": low, "h": high}, low, given=True)
assert given.found({}).same is None and "input" in given.found({}).detail
assert not any("winners" in line for line in summary([given], {
    "": given.found({})}))
assert near.same and near.detail.startswith("3 of 4") and not near.same is None
assert not row((4, 32, "l")).found({}).same
assert row((64, 64, "l")).found({}).predicted is None
apart = row((4, 64, "l"), (128, 128, "h"))
apart.curves = {"l": Line(_4=1.0, _64=2.0), "h": Line(_4=2.0, _64=1.0)}
assert apart.found({}).same, apart.found({})
apart.ranges = (4, 128, "l"), (256, 256, "h")
assert not apart.found({}).same  # the neighbour in the list is no step
gap = Winner("", "", "", ((4, 8, "l"),), {
    "l": Line(_4=1.0), "h": Line(_4=2.0, _8=2.0)}, low).found({})
assert gap.detail.endswith("not compared: 8") and not gap.same, gap'
check 'what an application spends' says '
from itertools import product
run = Run("radix", "", ())
results = {run: {"options": {"ranks": 16}, "results": [
    {"algorithm": name, "a": {"median": 1.0 * n}, "b": {"median": 2.0}}
    for n, name in enumerate(("x", "y"))]}}
def spent(name, parts):
    return Spent(run, parts, (("algorithm", name),))
assert spent("y", "a+b").points(results) == {16: 3.0}
assert Sum((spent("y", "a"), spent("x", "b"))).points(results) == {16: 3.0}
assert Sum((spent("y", "a"), spent("z", "b"))).points(results) == {}
bars = Bars("", "", "", {name: {"b": spent(name, "b")} for name in "xz"}, 16)
assert bars.drawn(results) == [("x", {"b": 2.0})]'
check 'a cluster that no paper has' says '
row = Reach("", "", "", {"l": Line(_4=2.0, _8=8.0), "h": Line(_4=4.0, _8=4.0)},
            Line(_4=1.0, _8=4.0))
found = row.found({})
assert (found.predicted, found.ours) == ("l 4, h 8", 1.0), found
assert not found.behind and "at most 2" in found.detail
row.ours = Line(_4=1.0, _8=5.0)
assert row.found({}).behind'
check 'no more runs than what is open needs' says '
import sensitivity
run = Run("bw", "", ("--sizes", "4:64", "--algorithm", "x,y,z"))
x, y = (Pick(run, "", (("algorithm", name),)) for name in "xy")
row = Winner("", "", "", ((4, 8, "x"), (16, 64, "y")), {"x": x, "y": y}, x)
assert [one.options for one in sensitivity.narrowed([row]).values()] == [
    ("--sizes", "8,16", "--algorithm", "x,y")]
row = Factor("", "", "", 2, x, Across(((2, y), (3, x)), 32), x, 32)
assert [one.options for one in sensitivity.narrowed([row]).values()] == [
    ("--sizes", "32", "--algorithm", "x")]'
check 'blocks that go together' says '
import sensitivity
run = Run("lat", "", ("--sizes", "16:128"))
pick = Pick(run, "y", x="bytes")
results = {run: {"configurations": [{"index": 0}], "results": [
    {"configuration": 0, "bytes": x, "y": x / 2} for x in (8, 64, 70, 128)]}}
four = Together(pick, 16)
assert four.points(results) == {4: 32.0, 8: 64.0}, four.points(results)
assert Sum((four, Line(_8=1.0))).points(results) == {8: 65.0}
row = Factor("", "", "", 2, Sum((four,)), four, four, 4)
assert [one.options for one in sensitivity.narrowed([row]).values()] == [
    ("--sizes", "64")]'
check 'a library that switches' says '
line = Pieces(((4, Line(_4=1.0, _8=1.0)), (8, Line(_4=2.0, _8=2.0)),
               (99, Line(_16=3.0))))
assert line.points({}) == {4: 1.0, 8: 2.0, 16: 3.0}
assert Best((line, Line(_4=0.5, _32=7.0))).points({}) == {
    4: 0.5, 8: 2.0, 16: 3.0, 32: 7.0}
assert Across(((2, line), (3, Line())), 8).points({}) == {2: 2.0}'
check 'what a platform leaves open' says '
import open_ranges
text = """[rail a]
rate = 2 GB/s   # open: 1 to 3 GB/s
duplex_rate = 2 GB/s
# open: post + latency + notification is 2 to 4 us
latency = 1 us
[rail b]
rate = 2 GB/s
[memory]
# open: 5 to 9 MB/s for one
copy_rate = 6 MB/s, 8 MB/s
[message]
post = 0.5 us
"""
found = open_ranges.ranges(text)
assert found == {
    ("rail", "rate", "2 GB/s"): ("1 GB/s", "3 GB/s"),
    ("rail", "latency", "1 us"): ("1.5 us", "3.5 us"),
    ("memory", "copy_rate", "6 MB/s, 8 MB/s"): ("5 MB/s", "9 MB/s")}, found
what = {one[1]: one for one in found}
assert open_ranges.changed(text, what["rate"], "3 GB/s").count("= 3 GB/s") == 3
assert "= 9 MB/s, 9 MB/s" in open_ranges.changed(
    text, what["copy_rate"], "9 MB/s")
text = """[rail a]
# open: post + latency + notification is 2 us
latency = 1.5 us
[message]
post = 0.5 us # open: 0 to 2 us
"""
(what, ends), = open_ranges.ranges(text).items()
assert (what[1], ends) == ("post", ("0 us", "2 us"))
assert "latency = 2 us" in open_ranges.changed(text, what, ends[0])
assert "latency = 0 us" in open_ranges.changed(text, what, ends[1])'
check 'every value that is open has its range' says '
import glob, open_ranges, re
for path in glob.glob("providers/sim/platforms/*.platform"):
    with open(path, encoding="utf-8") as file:
        text = file.read().partition("[cluster]")[2]
    found, sums = open_ranges.ranges(text), open_ranges.sums(text)
    lines = [line for line in text.splitlines() if "open:" in line]
    known = [line for line in lines if open_ranges.RANGE.search(line)
             or open_ranges.SUM.search(line)]
    assert lines == known and len(found) > 1, (path, set(lines) - set(known))'

if [ ! -e "$BUILD/lib/dapl_rail/libdapl_sim.so" ]; then
    echo 'no simulated rails here: skipped'
    exit
fi

# A run by itself: what it may take, and what it does not see.
mkdir -p "$work/build"
ln -sfn "$BUILD/bin" "$BUILD/lib" "$work/build/"
check 'a run that takes too much' says '
import os, sys
os.environ.update(BUILD=sys.argv[1], DRAIL_EPS="2", DAT_OVERRIDE="no")
import simulated
from comparing import Failure
assert {"DRAIL_EPS", "DAT_OVERRIDE"}.isdisjoint(simulated.environment())
def why(runner, code):
    try:
        runner.run([sys.executable, "-c", code])
    except Failure as error:
        return str(error)
assert "GB of memory" in why(simulated.Runner(1, memory=100 << 20), """
import time
kept = bytearray(200 << 20)
time.sleep(60)""")
assert "no end within 0 s" in why(simulated.Runner(1, limit=0),
                                  "import time; time.sleep(60)")
assert "exit status 3" in why(simulated.Runner(1), "raise SystemExit(3)")
runner = simulated.Runner(1)
runner.end()
assert "interrupted" in why(runner, "")' "$work/build"

# runs_left: those that a script of this test has started
runs_left()
{
    pgrep -f "^$work/build/bin/railbench" >/dev/null
}

# ended SIGNAL: while it runs; nothing of it is left
ended()
{
    local script tries
    BUILD=$work/build "$reproduce" --only scale-allgather-4K --ranks 256 \
        --jobs 1 "$work/ended" >"$work/out" 2>"$work/err" &
    script=$!
    for ((tries = 0; tries < 300; tries++)); do
        runs_left && break
        sleep 0.1
    done
    kill -s "$1" "$script"
    wait "$script" 2>>"$work/err"
    for ((tries = 0; tries < 100; tries++)); do
        runs_left || break
        sleep 0.1
    done
    [ "$tries" -lt 100 ] && [ ! -e "$work/ended" ]
}
check 'a script that is ended ends its runs' ended TERM
check '... and says so' grep -q 'interrupted' "$work/err"
check 'a script that is killed, too' ended KILL

# no good result gives way to one of nothing
mkdir -p "$work/broken/bin" "$work/old"
printf '#!/bin/sh\ncase $* in *--help) ;; *) exit 1 ;; esac\n' \
    >"$work/broken/bin/railbench"
chmod +x "$work/broken/bin/railbench"
nothing()
{
    echo old >"$work/old/table.md"
    BUILD=$work/broken "$reproduce" --only 004-latency-4K "$work/old" \
        >"$work/out" 2>"$work/err"
    [ $? = 1 ] && grep -q 'all runs have failed' "$work/err" &&
        grep -qx old "$work/old/table.md"
}
check 'all runs fail' nothing

# A row and a figure, twice; and what is kept is not run again.
twice()
{
    local take
    for take in 1 2; do
        rm -rf "$work/papers"
        mkdir -p "$work/build"
        ln -sfn "$BUILD/bin" "$BUILD/lib" "$work/build/"
        rm -rf "$work/build/papers"
        BUILD=$work/build timeout 60 "$reproduce" --only \
            004-latency-4K,004-6 "$work/papers" \
            >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
        mv "$work/papers" "$work/take$take"
    done
    diff -r "$work/take1" "$work/take2"
}
check 'the same each time' twice
check 'a row' grep -q '^004-latency-4K,"004, 5.2",ultra24-multihca,' \
    "$work/take1/table.csv"
check '… with what is open' grep -q '^004-latency-4K,rail.gap,' \
    "$work/take1/sensitivity.csv"
check '… and its command' grep -q '^1. `railbench lat --rails sim:ultra24-multihca' \
    "$work/take1/table.md"
check 'a figure' grep -q '^004-6-latency,multi-HCA threaded,4096,' \
    "$work/take1/figures.csv"
if command -v gnuplot >/dev/null; then
    check '… drawn' test -s "$work/take1/figures-004-6-latency.png"
fi
