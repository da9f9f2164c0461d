#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages on a user's mistakes: words, times, launched ranks that differ, two
# jobs on the same cores.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench

# --- what disturbs ----------------------------------------------------------

# other tests may measure there, too
told() { grep -q 'warning: process .* the same cores' "$work/err"; }
first=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
# each looks when it begins and when it ends
job=(taskset -c "$first" "$bench" lat --sizes 8 --engine single
    --output /dev/null --precision 0.01 --time-budget)
"${job[@]}" 3 2>"$work/err" &
ends=$!
sleep 1
"${job[@]}" 100 2>/dev/null &
stays=$!
background+=("$ends" "$stays")
check 'a job on one core' wait "$ends"
check '... is told of one that begins later' told
"${job[@]}" 1 2>"$work/err"
check 'a third one is told, too' told
kill "$stays"
wait "$stays"

# --- launched ranks -----------------------------------------------------------

export DRAIL_SECRET=of-sixteen-characters
different() # OPTION TEST FOR-RANK-0 FOR-RANK-1
{
    local option=$1 test=$2 port
    shift 2
    port=$(free_port)
    local at=(--ranks 2 --rendezvous "127.0.0.1:$port" --connect-time 15s)
    timeout 30 "$bench" "$test" "${at[@]}" --rank 1 "$2" 2>"$work/err.1" &
    timeout 30 "$bench" "$test" "${at[@]}" --rank 0 "$1" 2>"$work/err"
    [ $? -eq 2 ] || return 1
    wait $!
    [ $? -eq 2 ] && [ ! -s "$work/err.1" ] &&
        grep -q -- "$option: rank 1 .* allowed: the same" "$work/err"
}
for test in bw allgather dsm; do
    check "$test: different sizes are refused" different --sizes $test \
        --sizes=8K --sizes=16K
done
check 'different iterations are refused' different --iterations lat \
    --iterations=5 --iterations=6
check 'a warm-up that differs' different --warmup lat \
    --warmup=9 --warmup=8
unset DRAIL_SECRET
alone=("$bench" bw --rank 0 --ranks 2 --rendezvous 127.0.0.1:1)
refused 'no name of a secret' 'DRAIL_SECRET_FILE empty' \
    env DRAIL_SECRET_FILE= "${alone[@]}"
(umask 077 && : >"$work/secret")
refused 'an empty secret' 'DRAIL_SECRET_FILE empty' \
    env DRAIL_SECRET_FILE="$work/secret" "${alone[@]}"

# --- words ----------------------------------------------------------------------

refused 'a word like an option' 'size.*Did.you.mean.--sizes' "$bench" bw --size 8
refused 'two letters swapped' 'Did.you.mean.--iterations' \
    "$bench" bw --iteartions=8
refused 'a word like a test' 'Did.you.mean.allgather' "$bench" allgahter
for time in 1s 0.5s 500ms 0.01min 0.5; do
    check "a time of $time" "$bench" bw --sizes 8 --engine single \
        --time-budget $time --connect-time $time --output /dev/null
done
for time in 1x s 1ss 1e9 -1s 0 nan inf; do
    refused "a time of $time" '--time-budget allowed seconds' \
        "$bench" bw --time-budget $time
done

# --- figures that surprise ------------------------------------------------------

# long interruptions raise the median over repeats above p99 of iterations
explained()
{
    timeout -k 5 60 "$bench" lat --sizes 8 --engine single \
        --iterations 100 --repeat 3 --format json \
        --output "$work/r.json" 2>/dev/null || return 1
    python3 - "$work/r.json" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
below = sum(loop["percentiles_us"]["p99"] < loop["latency_us"]["median"]
            for row in r["results"] for name, loop in row.items()
            if name == "batch")
told = [note for note in r["notes"] if "p99 below the median" in note]
print(f"{below} of {len(r['results'])} rows:", *told)
assert len(told) == bool(below) and (not told or told[0].startswith(f"{below} "))
PY
}
check 'a p99 below the median is explained' explained
