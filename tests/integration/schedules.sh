#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench verify and the drawings of schedules.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
draw() { "$SOURCE/scripts/draw-schedule" --railbench "$bench" "$@"; }

# status WANTED TEXT COMMAND…: exit status, and one line on stderr with TEXT
status()
{
    local wanted=$1 text=$2 got
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$wanted" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
        grep -qF -- "$text" "$work/err" && return 0
    echo "exit status $got: $(cat "$work/err")"
    return 1
}

# --- verify -----------------------------------------------------------------

# Nothing but refusals and correct schedules; some of the latter.
all_correct()
{
    "$bench" verify "$@" --format csv >"$work/rows.csv" &&
        python3 -c "
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert {r['verdict'] for r in rows} <= {'correct', 'refuses'}
assert sum(r['verdict'] == 'correct' for r in rows) >= 20" "$work/rows.csv"
}

check "all algorithms, 9 ranks" all_correct --ranks 9 --ports 2
check "uneven nodes" all_correct --nodes 3,1,5 --ports 3 --zero-copy on
check "in place, several sizes" \
    all_correct --ranks 12 --ppn 4 --in-place --sizes 0,1,8,1K

# cost terms of Qian and Afsahi 2008: ⌈log3 9⌉ = 2 startups, (9 - 1) / 2 = 4 blocks
costs()
{
    "$bench" verify --ranks 9 --ports 2 --collective allgather \
        --algorithm bruck --format json >"$work/bruck.json" &&
        python3 -c "
import json, sys
r = json.load(open(sys.argv[1]))['results'][0]
assert (r['steps'], r['startups'], r['blocks']) == (2, 2, 4), r" \
            "$work/bruck.json"
}
check "steps and costs" costs

# ⌈log3 9⌉ = 2 steps at least; for 3 nodes with 3 * 2 ports 1; 8 / 2 blocks
least()
{
    "$bench" verify --ranks 9 --ppn 3 --ports 2 \
        --algorithm bruck,pat,smp-bruck,smp-bruck-all \
        --collective reduce_scatter_block,allreduce,allgather \
        --format json >"$work/least.json" &&
        python3 -c "
import json, sys
rows = {(r['collective'], r['algorithm']): r
        for r in json.load(open(sys.argv[1]))['results']}
def of(*key):
    return [rows[key].get(n) for n in ('steps', 'steps_least', 'blocks',
                                   'blocks_least', 'commutes')]
assert of('reduce_scatter_block', 'bruck') == [2, 2, 4, 4, True], rows
assert of('allreduce', 'bruck')[:2] == [4, 2], rows
assert of('allgather', 'smp-bruck')[:2] == [1, 1], rows
assert of('reduce_scatter_block', 'pat') == [2, 2, 4, 4, True], rows
assert of('allgather', 'pat') == [2, 2, 4, 4, False], rows
assert of('allgather', 'smp-bruck-all')[:2] == [1, 1], rows" \
            "$work/least.json"
}
check "steps and blocks beside the fewest" least

# rounds: the table by N and k of docs/collectives.md is what prove prints, for
# the algorithms that are said to take as many steps, or twice as many
rounds()
{
    python3 - "$bench" "$SOURCE/docs/collectives.md" <<'PY'
import csv
import re
import subprocess
import sys
bench, doc = sys.argv[1:]
HALVES = {("allgather", "bruck"): 1, ("allgather", "pat"): 1,
          ("reduce_scatter_block", "bruck"): 1,
          ("reduce_scatter_block", "pat"): 1,
          ("scan", "doubling"): 1, ("exscan", "doubling"): 1,
          ("allreduce", "bruck"): 2, ("bcast", "scatter-allgather"): 2}
def prove(ranks, ports, size, collectives, algorithms):
    out = subprocess.run(
        [bench, "prove", "--ranks", ranks, "--ppn", "1", "--ports", ports,
         "--sizes", str(size), "--draws", "0", "--format", "csv",
         "--collective", ",".join(collectives),
         "--algorithm", ",".join(algorithms)],
        check=True, text=True, stdout=subprocess.PIPE).stdout
    return {(r["collective"], r["algorithm"]): r
            for r in csv.DictReader(out.splitlines())}
with open(doc, encoding="utf-8") as f:
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) "
                      r"\|$", f.read(), re.M)
for n, *of_ports, circulant in rows:
    for k, steps in enumerate(of_ports, 1):
        got = {}
        for whole in 1, 2: # slices need longer blocks
            of = [key for key in HALVES if HALVES[key] == whole]
            got.update(prove(n, str(k), 8 if whole == 1 else 64 * int(n),
                             {c for c, _ in of}, {a for _, a in of}))
        for key, halves in HALVES.items():
            r = got[key]
            assert r["verdict"] == "correct", (n, k, r)
            assert int(r["steps"]) == halves * int(steps), (n, k, r)
            assert int(r["steps_least"]) == int(steps), (n, k, r)
    for collective in "bcast", "reduce":
        r = prove(n, "1", 8, [collective], ["circulant"])
        assert r[collective, "circulant"]["steps"] == circulant, (n, r)
assert len(rows) > 10 and int(rows[-1][0]) == 128, rows
PY
}
check "the table of rounds is what prove prints" rounds

# auto copies below the bound of zero copy, and as it runs, it is proven
copied()
{
    "$bench" prove --ranks 4 --ppn 1 --algorithm auto --sizes 256K --draws 0 \
        --collective allreduce --zero-copy "$1" --format json >"$work/copied.json" &&
        python3 -c "
import json, sys
row, = json.load(open(sys.argv[1]))['results']
assert row['zero_copy'] == (sys.argv[2] == 'on'), row" "$work/copied.json" "$1"
}
check "what auto runs with copies" copied off
check "what auto runs without" copied on

# one rank has a port, the others two: at most 1.15 times the cut bound
unequal()
{
    "$bench" prove --ranks 4 --ppn 1 --rank-ports 1,2 --sizes 16M --draws 0 \
        --collective allreduce --algorithm shares,halving --element 8192 \
        --format json >"$work/unequal.json" && python3 -c "
import json, sys
shares, halving = json.load(open(sys.argv[1]))['results']
assert shares['verdict'] == halving['verdict'] == 'correct', (shares, halving)
assert shares['blocks_least'] == 1, shares
assert shares['blocks'] <= 1.15 < 1.4 < halving['blocks'], (shares, halving)" \
        "$work/unequal.json"
}
check "an all-reduce of ranks with different numbers of ports" unequal
check "it runs, and auto takes it" "$bench" allreduce --rank-ports 1,2 --ranks 4 \
    --ppn 1 --algorithm shares,auto --sizes 8,64K,1M --validate --repeat 1 \
    --iterations 3 --output "$work/run"
check "too many ports of a rank" status 2 "at most 16 ports" "$bench" prove \
    --rank-ports 1,17 --ranks 4
check "ports of more ranks than there are" status 2 "no more numbers" "$bench" \
    prove --rank-ports 1,2,1 --ranks 2
check "ports of ranks, twice" status 2 "without --ports" "$bench" prove \
    --rank-ports 1,2 --ports 2 --ranks 4
check "ports that are no numbers" status 2 "a list of numbers" "$bench" prove \
    --rank-ports 1,,2 --ranks 4

# --- GOAL -------------------------------------------------------------------

# 8 ranks: 3 steps, each of o + L + o and of a gap for the bytes
goal()
{
    "$bench" prove --goal --collective bcast --algorithm binomial --ranks 8 \
        --ports 1 --sizes 1K --output "$work/bcast.goal" &&
        "$bench" goal "$work/bcast.goal" --latency 100 --overhead 10 --gap 20 \
            --byte 1 --format csv >"$work/goal.csv" &&
        python3 -c "
import csv, sys
r, = csv.DictReader(open(sys.argv[1]))
got = [float(r[n]) for n in ('ranks', 'messages', 'bytes', 'steps', 'time')]
assert got == [8, 7, 7 * 1024, 3, 3 * (120 + 1024)], got" "$work/goal.csv"
}
check "a schedule as GOAL, and back" goal
printf 'num_ranks 1\nrank 0 {\njump\n}\n' >"$work/wrong.goal"
check "GOAL that is wrong" status 2 "line 3: 'jump'" "$bench" goal "$work/wrong.goal"
check "GOAL that is missing" status 2 "No such file" "$bench" goal "$work/none"
check "GOAL of several schedules" status 2 "one --collective" "$bench" prove --goal
check "GOAL without shared memory" status 2 "share no memory" "$bench" prove \
    --goal --collective bcast --algorithm shm-bcast --ranks 2 --sizes 8
check "GOAL without irregular sizes" status 2 "run time only" "$bench" prove \
    --goal --collective alltoallv --algorithm a1 --ranks 4 --sizes 8

check "GOAL on a full disk" status 1 "No space left" "$bench" prove --goal \
    --collective bcast --algorithm binomial --ranks 8 --sizes 1K --output /dev/full
goal_to_full() { "$bench" prove --goal --collective bcast --algorithm binomial >/dev/full; }
check "GOAL to a full standard output" status 1 "No space left" goal_to_full

# ranks run ahead of a slow root by 256 starts, of 4K blocks by less
depths()
{
    "$bench" verify --ranks 6 --collective gather --sizes 8,4K,16K \
        --algorithm shm-gather --format json >"$work/depths.json" &&
        python3 -c "
import json, sys
rows = json.load(open(sys.argv[1]))['results']
assert [r['depth'] for r in rows] == [256, 16, 4], rows" "$work/depths.json"
}
check "the depths that run" depths

# ⌈log3 9⌉ steps, in each of which two blocks come and are combined; slices of
# whole elements: 72 bytes are 3 of 24 and 9 of 8
reductions()
{
    "$bench" verify --ranks 9 --ports 2 --collective allreduce \
        --algorithm doubling,halving --sizes 576 --element "$1" \
        --format json >"$work/reduced.json" &&
        python3 -c "
import json, sys
doubling, halving = json.load(open(sys.argv[1]))['results']
assert doubling['element'] == int(sys.argv[2]), doubling
assert (doubling['steps'], doubling['combined']) == (2, 4), doubling
assert round(halving['combined'], 3) == float(sys.argv[3]), halving" \
            "$work/reduced.json" "$1" "$2"
}
check "reductions of 72 elements" reductions 8 0.889
check "reductions of 3 elements" reductions 192 1.333

# 12 ranks of one node: of the irregular ones all but smp
irregular()
{
    "$bench" verify --ranks 12 --collective alltoallv --sizes 8,100 \
        --draws 8 --format json >"$work/irregular.json" &&
        python3 -c "
import json, sys
rows = json.load(open(sys.argv[1]))['results']
assert {r['collective'] for r in rows} == {'alltoallv'}
assert {r['bytes'] for r in rows} == {16, 112}, rows
assert {r['verdict'] for r in rows} <= {'correct', 'refuses'}, rows
assert sum(r['verdict'] == 'correct' for r in rows) >= 20, rows
a1 = [r for r in rows if r['algorithm'] == 'a1']
assert a1[0]['puts'] == 11, a1" "$work/irregular.json" &&
        "$bench" verify --ranks 12 --ppn 5 --collective alltoallv \
            --algorithm smp-alltoallv,a4-n2 --sizes 0,4K
}
check "irregular all-to-alls" irregular

# the number that a run says draws the same again (line 2: date and command)
seeds()
{
    "$bench" verify --ranks 12 --draws 5 >"$work/first.txt" &&
        seed=$(sed -n 's/.*drawn from --seed //p' "$work/first.txt") &&
        "$bench" verify --ranks 12 --draws 5 --seed "$seed" \
            >"$work/again.txt" &&
        cmp <(sed 2d "$work/first.txt") <(sed 2d "$work/again.txt")
}
check "variants that are drawn" seeds

check "elements of what is not reduced" status 2 "--element: '24'" \
    "$bench" verify --collective gather --element 24
check "a part of an element" status 2 "--sizes: '20'" \
    "$bench" verify --collective reduce --element 24 --sizes 24,20
check "unknown algorithm" status 2 "--algorithm: 'fastest'" \
    "$bench" verify --algorithm fastest
check "refused shape" status 2 "within one node only" \
    "$bench" verify --ranks 4 --ppn 2 --algorithm shm-barrier
check "nodes that are no list" status 2 "--nodes: '4,,2'" \
    "$bench" verify --nodes 4,,2
check "nodes and other ranks" status 2 "--nodes: '3,1'" \
    "$bench" verify --nodes 3,1 --ranks 5
check "nodes and ranks per node" status 2 "--nodes: '3,1'" \
    "$bench" verify --nodes 3,1 --ppn 2
check "root out of range" status 2 "--root: '4'" \
    "$bench" verify --ranks 4 --root 4

# --- drawings ---------------------------------------------------------------

# fig. 5 of Qian and Afsahi 2008: after step 1 of Bruck's all-gather, and at the end
figure_5()
{
    draw allgather bruck --ranks 9 --ports 2 >"$work/bruck.txt" &&
        grep -qE '^ +2\* 3\* 4\* 5\* 6\* 7\* 8\* 0\* 1\*$' "$work/bruck.txt" &&
        tail -n 4 "$work/bruck.txt" |
        grep -qE '^ +8\* 8\* 8\* 8\* 8\* 8\* 8\* 8\* 8\*$'
}
check "figure 5 as text" figure_5

picture()
{
    draw "$@" --output "$work/picture.svg" &&
        python3 -c "
import sys, xml.dom.minidom
svg = xml.dom.minidom.parse(sys.argv[1])
assert svg.getElementsByTagName('rect') and svg.getElementsByTagName('line')" \
            "$work/picture.svg"
}
# at the end all ranks have what all of them had, in the order of ranks
combined()
{
    draw allreduce doubling --ranks 6 >"$work/allreduce.txt" &&
        tail -n 25 "$work/allreduce.txt" |
        grep -qE '^ +0-5\*? +0-5\*? +0-5\* +0-5\*? +0-5\*? +0-5\*$'
}
check "an all-reduce as text" combined
# rank i ends with block i of all ranks; on the way sums are of ranks that are
# not consecutive
scattered()
{
    draw reduce_scatter_block pat --ranks 4 >"$work/scattered.txt" &&
        grep -qE '^ +0-3:0\*? +0-3:1\*? +0-3:2\*? +0-3:3\*?$' \
            "$work/scattered.txt" &&
        draw reduce_scatter_block bruck --ranks 5 >"$work/bruck.txt" &&
        grep -q '[0-9],[0-9]:[0-9]' "$work/bruck.txt"
}
check "a reduce-scatter as text" scattered
scanned()
{
    draw scan doubling --ranks 5 >"$work/scan.txt" &&
        grep -qE '^ +0\*? +0-1\*? +0-2\*? +0-3\*? +0-4\*?$' "$work/scan.txt"
}
check "a scan as text" scanned
check "an all-reduce as a picture" picture allreduce smp-slices \
    --nodes 2,3 --bytes 64
check "figure 6 as a picture" picture alltoall bruck --ranks 9
check "nodes as a picture" picture allgather smp-bruck --nodes 4,2,3 --ports 2
