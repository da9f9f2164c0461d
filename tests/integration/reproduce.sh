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
    grep -x 002-allgather-4 >/dev/null' "$reproduce"

# says 'PYTHON ASSERTIONS'
says()
{
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SOURCE/tools python3 -c "
from railtools.papers.predicted import *
class Line:
    def __init__(self, **points):
        self.line = {int(x[1:]): y for x, y in points.items()}
    def needed_runs(self):
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
assert rates.predicted == 9 / 4, rates
level = Line(_4=7.9)
ratio = Factor("r", "", "", 1.3, base, level, ours, 4, tie=0.02, group="all")
assert ratio.found({}).same is False
ratio.tie = 0
assert ratio.found({}).same
told = summary([row, ratio], {"": found, "r": ratio.found({})})
assert told[:2] == [
    "1 of 2 headline numbers are within 20% of the paper\x27s.",
    "Of all: 0 of 1."], told'
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
from railtools.papers import sensitivity
run = Run("bw", "", ("--sizes", "4:64", "--algorithm", "x,y,z"))
x, y = (Pick(run, "", (("algorithm", name),)) for name in "xy")
row = Winner("", "", "", ((4, 8, "x"), (16, 64, "y")), {"x": x, "y": y}, x)
def narrowed(row):
    return [one.options for one in sensitivity.narrowed(
        [sensitivity.limited(row, {})]).values()]
assert narrowed(row) == [("--sizes", "8,16", "--algorithm", "x,y")]
row = Factor("", "", "", 2, x, Across(((2, y), (3, x)), 32), x, 32)
assert narrowed(row) == [("--sizes", "32", "--algorithm", "x")]'
# the output of a run of the platform as it is and of all others, and failures
check 'what open ranges become holds the prediction, and nothing failed' says '
from railtools.papers import sensitivity
open_ranges = {("rail", "rate", "2"): ("1", "3"), ("rail", "gap", "5"): "67"}
sensitivity.open_ranges.ranges = lambda text: open_ranges
sensitivity.read = lambda path: ""
runs = [Run("bw", "p", ("--algorithm", name, "--sizes", "4:2M"))
        for name in "xyz"]
x, y, z = (Pick(run, "y", (("algorithm", run.options[1]),)) for run in runs)
def result(run, **points):
    return {"configurations": [{"index": 0, "algorithm": run.options[1]}],
            "results": [{"configuration": 0, "bytes": int(at[1:]), "y": value}
                        for at, value in points.items()]}
class Fake:
    def all(self, wanted, failed, what):
        assert all("8," in run.options[3] for run, _ in wanted.values())
        return {key: result(key[0], _8=4.0 + int(key[2]) * (
            key[0].options[1] == "x"), _512=1.0)
            for key in wanted if key[0].options[1] + key[2] not in fails}
nominal = {run: result(run, _8=8.0 if run == runs[0] else 4.0, _512=1.0)
           for run in runs}
row = Factor("f", "", "", 2, x, Best((y, z)), x, MOST)
def told():
    return sensitivity.lines([row], nominal, Fake(), {})
fails = ()
assert sensitivity.spread(told()) == {"f": "1.25–2.75"}, told()
fails = "y7", "z3"
assert sensitivity.spread(told()) == {"f": "1.25–2.5"}, told()
assert [(one.key, one.end) for one in told()] == [
    ("as it is", ""), ("rail.rate", "1"), ("rail.gap", "6")]
open_ranges = {("rail", "rate", "2"): "12"}
sensitivity.open_ranges.ranges = lambda text: open_ranges
fails = ()
assert sensitivity.spread(told()) == {"f": "1.25–2"}, told()
del nominal[runs[2]]
assert told() == []'
check 'a result that is another than what is asked of it' says '
from railtools.programs import Failure
run = Run("bw", "", ())
x, y = (Pick(run, "y", (("algorithm", name),)) for name in "xy")
results = {run: {"configurations": [{"index": 0, "algorithm": "x"}],
                 "results": [{"configuration": 0, "bytes": 4, "y": 1.0}]}}
assert x.points(results) == {4: 1.0} and x.points({}) == {}
try:
    raise SystemExit(y.points(results))
except Failure as error:
    assert "nothing of" in str(error)'
check 'the best of all, or nothing' says '
from railtools.papers import applications
runs = [Run("radix", "", (name,)) for name in "xy"]
def result(time):
    return {"options": {"ranks": 16}, "results": [{"algorithm": "a", **{
        part: {"median": time} for part in applications.PARTS.values()}}]}
results = {run: result(n + 1.0) for n, run in enumerate(runs)}
best = (Best(tuple(Spent(run, "p2p_us", (("algorithm", "a"),))
                   for run in runs)),
        applications.Fastest(tuple(runs), "p2p_us"))
assert [one.points(results) for one in best] == [{16: 1.0}] * 2
del results[runs[0]]
assert [one.points(results) for one in best] == [{}] * 2
for one, *_ in applications.APPLICATIONS.values():
    parts = applications.COMMUNICATION
    assert one.of_chosen(parts).needed_runs() <= one.ours(parts).needed_runs()'
check 'blocks that go together' says '
from railtools.papers import sensitivity
run = Run("lat", "", ("--sizes", "16:128"))
pick = Pick(run, "y", x="bytes")
results = {run: {"configurations": [{"index": 0}], "results": [
    {"configuration": 0, "bytes": x, "y": x / 2} for x in (8, 64, 70, 128)]}}
four = Together(pick, 16)
assert four.points(results) == {4: 32.0, 8: 64.0}, four.points(results)
assert Sum((four, Line(_8=1.0))).points(results) == {8: 65.0}
row = Factor("", "", "", 2, Sum((four,)), four, four, 4)
assert [one.options for one in sensitivity.narrowed(
    [sensitivity.limited(row, {})]).values()] == [("--sizes", "64")]'
check 'a library that switches' says '
line = Pieces(((4, Line(_4=1.0, _8=1.0)), (8, Line(_4=2.0, _8=2.0)),
               (99, Line(_16=3.0))))
assert line.points({}) == {4: 1.0, 8: 2.0, 16: 3.0}
assert Best((line, Line(_4=0.5, _32=7.0))).points({}) == {
    4: 0.5, 8: 2.0, 16: 3.0, 32: 7.0}
assert Across(((2, line), (3, Line())), 8).points({}) == {2: 2.0}'
check 'what a platform leaves open' says '
from railtools.papers import open_ranges
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
import glob, os
from railtools.papers import open_ranges
paths = glob.glob(os.path.join(glob.escape(os.environ["SOURCE"]), "providers",
                               "sim", "platforms", "*.platform"))
assert paths
for path in paths:
    with open(path, encoding="utf-8") as file:
        text = file.read().partition("[cluster]")[2]
    found, sums = open_ranges.ranges(text), open_ranges.sums(text)
    lines = [line for line in text.splitlines() if "open:" in line]
    known = [line for line in lines if open_ranges.RANGE.search(line)
             or open_ranges.SUM.search(line)]
    assert lines == known and len(found) > 1, (path, set(lines) - set(known))'

rest_is_simulated

# A run by itself: what it may take, and what it does not see.
mkdir -p "$work/build"
ln -sfn "$BUILD/bin" "$BUILD/lib" "$work/build/"
check 'a run that takes too much' says '
import os, sys
os.environ.update(BUILD=sys.argv[1], DRAIL_EPS="2", DAT_OVERRIDE="no")
from railtools.papers import simulated
from railtools.programs import Failure
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
check 'a run that takes too much beside others runs again alone' says '
import os, sys
os.environ.update(BUILD=sys.argv[1])
from railtools.papers import simulated
from railtools.programs import Failure
class Scarce(simulated.Runner):
    def one(self, wanted, changes, jobs):
        asked.append((wanted.test, jobs))
        if wanted.test == "broken":
            raise Failure("is broken")
        if wanted.test == "large" or jobs > 1 and wanted.test == "middle":
            raise simulated.Limit(f"too much for {jobs}")
        return wanted.test
def outcome(jobs):
    failed = {}
    names = "broken", "large", "middle", "small"
    results = Scarce(jobs).all({
        name: (Run(name, "", ()), ()) for name in names}, failed, "")
    assert set(results.values()) == set(results), results
    return sorted(results), failed
asked = []
why = {"broken": "is broken", "large": "too much for 1"}
assert outcome(2) == (["middle", "small"], why)
assert sorted(asked[4:]) == [("large", 1), ("middle", 1)], asked
asked = []
assert outcome(1) == (["middle", "small"], why) and len(asked) == 4' \
    "$work/build"
check 'what a script that was killed has left' says '
import os, sys
os.environ.update(BUILD=sys.argv[1])
from railtools.papers import simulated
from railtools.programs import Failure
class Fake(simulated.Runner):
    def platform(self, name, changes):
        return name, ""
    def run(self, command, jobs):
        runs.append(command)
        with open(command[command.index("--save") + 1], "w") as file:
            file.write(writes)
runs, run = [], Run("lat", "", ())
gone = os.fork() or os._exit(0)
os.waitpid(gone, 0)
folder = os.path.join(sys.argv[1], "papers")
os.makedirs(folder, exist_ok=True)
left = [os.path.join(folder, f"a.{pid}.7.json") for pid in (gone, os.getpid())]
for path in left:
    open(path, "w").close()
runner = Fake(1)
assert list(map(os.path.exists, left)) == [False, True]
writes = "{\"x\": 1}"
before = set(os.listdir(folder))
assert runner.one(run) == runner.one(run) == {"x": 1} and len(runs) == 1
(kept,) = set(os.listdir(folder)) - before
kept = os.path.join(folder, kept)
os.truncate(kept, 3)
assert runner.one(run) == {"x": 1} and len(runs) == 2, "it is damaged"
writes = "no JSON"
os.truncate(kept, 3)
try:
    raise SystemExit(runner.one(run))
except Failure as error:
    assert "can" in str(error), error' "$work/build"

# A railbench that tells its process and then takes long.
mkdir -p "$work/slow/bin"
cat >"$work/slow/bin/railbench" <<END
#!/bin/bash
case \$* in *--help) exit ;; esac
echo \$\$ >"$work/pid.new"
mv "$work/pid.new" "$work/pid"
exec sleep 300
END
chmod +x "$work/slow/bin/railbench"

# has_ended PID: any process may wait for it
has_ended()
{
    [ ! -e "/proc/$1" ] ||
        grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null
}

# ended SIGNAL: while it runs; nothing of it is left
ended()
{
    local script run
    rm -f "$work/pid"
    BUILD=$work/slow "$reproduce" --only 004-latency-4K --jobs 1 \
        "$work/ended" >"$work/out" 2>"$work/err" &
    script=$!
    if ! soon test -e "$work/pid"; then
        kill "$script"
        return 1
    fi
    run=$(<"$work/pid")
    kill -s "$1" "$script"
    wait "$script" 2>/dev/null
    soon has_ended "$run" && [ ! -e "$work/ended" ] && return
    kill "$run" 2>/dev/null
    return 1
}
check 'a script that is ended ends its runs' ended TERM
check '... and says so' grep -q 'interrupted' "$work/err"
if command -v setpriv >/dev/null; then
    check 'a script that is killed, too' ended KILL
fi

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

# A row and a figure, twice, but what is open only once, which takes long.
twice()
{
    local take
    local -a how=()
    for take in 1 2; do
        rm -rf "$work/papers"
        mkdir -p "$work/build"
        ln -sfn "$BUILD/bin" "$BUILD/lib" "$work/build/"
        rm -rf "$work/build/papers"
        BUILD=$work/build timeout 120 "$reproduce" --only \
            004-latency-4K,004-6 "${how[@]}" "$work/papers" \
            >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
        mv "$work/papers" "$work/take$take"
        how=(--no-sensitivity)
    done
    cp -r "$work/take1" "$work/plain"
    rm "$work/plain/sensitivity.csv"
    sed -i -E 's/[0-9.]+–[0-9.]+//' "$work"/plain/table.*
    diff -r "$work/plain" "$work/take2"
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
    check '… drawn' test -s "$work/take1/figures-004-6-latency.svg"
fi
