#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench without payload: the same times as with it, no memory for what is not
# moved, and no test that would look at it.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
export DRAIL_SIM_PATH=$SOURCE/tests/platforms
needs_simulation

# run NAME TEST CLUSTER OPTION…: its CSV, as NAME.csv
run()
{
    local name=$1 test=$2 cluster=$3
    shift 3
    timeout -k 1 100 "$bench" "$test" --rails "sim:$cluster" \
        --save "$work/$name.csv,$work/$name.json" --iterations 2 --repeat 1 \
        "$@" >"$work/$name.out" 2>"$work/err" || {
        echo "status $?"
        cat "$work/err"
        return 1
    }
}

# alike TEST CLUSTER OPTION…: both ways to run it differ in one column, and that
# of the command, and in no nanosecond of any repeat, which JSON has whole
alike()
{
    run with "$@" && run without "$@" --no-payload &&
        python3 -c 'import csv, json, sys
with_, without = (list(csv.DictReader(open(f + ".csv"))) for f in sys.argv[1:])
assert with_ and {r.pop("payload") for r in with_} == {"yes"}, with_
assert {r.pop("payload") for r in without} == {"no"}, without
for a, b in zip(with_, without, strict=True):
    assert b.pop("command").endswith(" --no-payload") and a.pop("command"), b
    assert a == b, {k: (a[k], b[k]) for k in a if a[k] != b[k]}
with_, without = (json.load(open(f + ".json"))["results"]
                  for f in sys.argv[1:])
for a, b in zip(with_, without, strict=True):
    assert all(r["ns"] > 0 for r in a["collective"]["repeats"]), a
    assert a == b, (a, b)' "$work/with" "$work/without"
}

# Flags carry up to 56 bytes; from 16 KB on blocks go to their final memory.
for test in gather allgather alltoall bcast scatter; do
    check "$test: the same times" alike $test qsnet2-4x4 --ranks 16 \
        --algorithm all --sizes 24,32K
    check "$test: ... by threads, in steps" alike $test qsnet2-4x4 --ranks 8 \
        --algorithm all --sizes 20000 --engine threaded --paced \
        --zero-copy on
done
check 'barrier: the same times' alike barrier qsnet2-4x4 --ranks 16 \
    --algorithm all
check 'mbw: the same times' alike mbw qsnet2-4x4 --ranks 16 --sizes 64,32K
check 'in place: the same times' alike allgather qsnet2-4x4 --ranks 16 \
    --algorithm all --sizes 4000 --in-place
check '64 ranks: the same times' alike allgather many --ranks 64 \
    --algorithm bruck,smp-bruck,gather-bcast --sizes 24,4K
check '... of what all ranks send to all' alike alltoall many --ranks 64 \
    --algorithm bruck,direct --sizes 256

check 'the report says so' grep -q '^# note: no payload' "$work/without.out"
check '... in JSON, too' grep -q '"payload": *false' "$work/without.json"
check '... and else the contrary' grep -q '"payload": *true' "$work/with.json"
check 'tune, and its table says so' "$bench" tune --rails sim:qsnet2-4x4 \
    --collective bcast --sizes 64 --ranks 4 --no-payload --output "$work/table"
check '... in words' grep -q '^# policy even, without payload' "$work/table"

# Without a sanitizer, which needs more than that for itself.
limited()
{
    local limit=unlimited
    grep -q __asan_init "$bench" || limit=4000000
    (ulimit -d $limit && run large "$@" --warmup 0 --no-payload)
}
check '64 GB of blocks in a process of 4 GB' limited allgather vast \
    --ranks 256 --algorithm smp-bruck --sizes 1M
check '... which are more than this machine would give' sh -c \
    "! '$bench' alltoall --rails sim:vast --ranks 256 \
        --sizes 1G 2>'$work/err'"
check '... says who asks for them' grep -q -- "--sizes.*need" "$work/err"

refused 'real rails' '--no-payload simulated.rails' \
    "$bench" allgather --no-payload
refused 'bytes to check' '--no-payload --validate' "$bench" allgather \
    --rails sim:qsnet2-4x4 --no-payload --validate
for test in alltoallv check bw bibw lat breakdown; do
    refused "$test" "--no-payload '$test' allowed" \
        "$bench" $test --rails sim:qsnet2-4x4 --no-payload
done
for test in nbody radix degrade; do
    refused "$test" "'--no-payload' allowed" \
        "$bench" $test --rails sim:qsnet2-4x4 --no-payload
done
