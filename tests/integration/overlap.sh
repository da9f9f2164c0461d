#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench COLLECTIVE --overlap: what is refused, what it says, and that it
# tells calls which go on by themselves from ones that need their rank.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench

refused 'with single calls' "--overlap '--each' one of the two" \
    "$bench" allgather --overlap --each
refused 'of blocking calls' "--call 'blocking' persistent" \
    "$bench" gather --overlap --call persistent,blocking
refused 'tests without overlap' "--overlap-tests '3' --overlap" \
    "$bench" alltoall --overlap-tests 3
refused 'tests without number' "--overlap-tests 'some' 0 1000000" \
    "$bench" alltoall --overlap --overlap-tests some
refused 'a value' "--overlap 'yes'" "$bench" bcast --overlap=yes
refused 'of messages' '--overlap' "$bench" bw --overlap
refused 'of what tunes' '--overlap' "$bench" tune --overlap

# run TEST OPTION…: its CSV and JSON
run()
{
    timeout -k 10 100 "$bench" "$@" --iterations 2 --warmup 1 \
        --save "$work/r.csv,$work/r.json" >"$work/out" 2>"$work/err" || {
        echo "status $?"
        cat "$work/err"
        return 1
    }
}

# holds 'PYTHON ASSERTIONS': of each row r; of points, the JSON's
holds()
{
    python3 - "$work/r.csv" "$work/r.json" "$1" <<'PY'
import csv, json, sys
with open(sys.argv[1], newline="") as f:
    rows = list(csv.DictReader(f))
with open(sys.argv[2]) as f:
    points = json.load(f)["results"]
assert rows and len(rows) == len(points)
for r, point in zip(rows, points):
    try:
        exec(sys.argv[3])
    except AssertionError:
        sys.exit(f"{r} {point.get('overlap')}")
PY
}

# Holds on any machine, however busy.
sound='
pure, compute, total, percent = (float(r[c]) for c in
    ("pure_us", "compute_us", "total_us", "overlap_pct"))
assert pure > 0 and compute > 0 and total >= compute, "times"
assert 0 <= percent <= 100, "percent"
for c in ("pure_us", "compute_us", "total_us", "overlap_pct"):
    low, high = float(r[c + "_lo"]), float(r[c + "_hi"])
    assert low <= float(r[c]) <= high, c
    of = point["overlap"][c]
    assert abs(of["median"] - float(r[c])) <= 1e-3 * of["median"] + 1e-3, c
assert 0 <= float(r["overlap_pct_lo"]) <= float(r["overlap_pct_hi"]) <= 100
assert int(r["overlap_tests"]) == point["overlap"]["tests"]
assert point["overlap"]["calls"] >= 5 * point["overlap"]["overlap_pct"]["repeats"]'

for test in gather allgather alltoall bcast scatter allreduce barrier; do
    size=8,20000
    [ $test != barrier ] || size=0
    check "$test" run $test --overlap --ranks 3 --ppn 2 --sizes $size --repeat 3
    check '... is sound' holds "$sound"
done
check 'with tests, by two algorithms and engines' run allgather --overlap \
    --overlap-tests 10 --ranks 3 --ppn 1 --algorithm ring,bruck --validate \
    --engine single,nonthreaded --sizes 4,100K --repeat 2
check '... is sound' holds "$sound"
check '... and valid' holds \
    'assert r["valid"] == "yes" and r["overlap_tests"] == "10"'
for interface in counts elements neighbors; do
    for form in '' --bounded --persistent; do
        # calls between neighbors have no bounds
        [ "$interface$form" != neighbors--bounded ] || continue
        check "alltoallv with $interface ${form:-that agrees}" run alltoallv \
            --overlap --overlap-tests 2 --ranks 3 --ppn 2 --pattern uniform \
            --interface $interface --elements 4,1K --repeat 2 $form
        check '... is sound' holds "$sound"
    done
done
check 'a rank that is alone' run allgather --overlap --ranks 1 --sizes 64 \
    --repeat 2
check '... is sound' holds "$sound"
check 'single and back-to-back calls go without' run allgather --each \
    --sizes 64 --repeat 2
check '... its columns are empty' holds \
    'assert not any(r[c] for c in r if "overlap" in c), "overlap"
assert r["compute_us"] == r["pure_us"] == r["total_us"] == "", "times"'
check 'it is in the table' run allgather --overlap --sizes 64 --repeat 2
check '... explained' grep -q '^# pure us: .*overlap%: 100 (1 - ' "$work/out"
check '... as columns' grep -q 'pure us *compute *total *overlap% ' "$work/out"

needs_simulation

# simulated ALGORITHM TESTS OPTION…: in virtual time a rank that computes does nothing
# else; four nodes
simulated()
{
    local algorithm=$1 tests=$2
    shift 2
    run allgather --overlap --overlap-tests "$tests" --rails sim:connectx-4x4 \
        --ranks 4 --ppn 1 --algorithm "$algorithm" --sizes 256K "$@"
}

overlapped()
{
    python3 -c 'import csv, sys
print(next(csv.DictReader(open(sys.argv[1])))["overlap_pct"])' "$work/r.csv"
}

check 'simulated: all is posted at the start' simulated direct 0 --zero-copy off
check '... computation takes just as long as the call did' holds '
pure, compute = float(r["pure_us"]), float(r["compute_us"])
assert abs(compute - pure) < 1e-3 * pure, "compute"'
check '... and hides what is no copy' holds \
    'assert 20 < float(r["overlap_pct"]) <= 100'
check 'simulated: a ring' simulated ring 0
check '... goes on in its rank only' holds \
    'assert float(r["overlap_pct"]) < 60, "overlap"'
none=$(overlapped)
check 'simulated: a ring that is looked after' simulated ring 20
check '... hides more' holds \
    "assert float(r['overlap_pct']) > $none + 10, 'overlap'"
