#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks of one host whose monotonic clocks differ: restored containers are in
# time namespaces of their own.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
ahead=(unshare --time --monotonic 100000 --fork --kill-child)
"${ahead[@]}" true 2>/dev/null || skip 'no time namespaces'
export DRAIL_SECRET=of-sixteen-characters

plausible()
{
    python3 - "$work/csv" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert rows
for row in rows:
    for key, value in row.items():
        assert "_us" not in key or not value or float(value) < 1e7, row
PY
}

# meet RANK ARGUMENTS…: two ranks, the clock of one is ahead
meet()
{
    local who=$1 rank pids=() status=0 port
    shift
    port=$(free_port)
    for rank in 0 1; do
        local wrap=(env)
        [ "$rank" -ne "$who" ] || wrap=("${ahead[@]}")
        timeout -k 5 45 "${wrap[@]}" "$bench" "$@" --rank $rank --ranks 2 \
            --rendezvous 127.0.0.1:"$port" --connect-time 15 \
            --repeat 1 --iterations 3 --warmup 1 \
            --format csv --output "$work/csv" 2>>"$work/err" </dev/null &
        pids+=($!)
    done
    for rank in 0 1; do
        wait "${pids[rank]}" || status=1
    done
    return $status
}

for who in 0 1; do
    for run in 'allgather --sizes 8,4K --start time' \
        'allgather --sizes 8 --each' \
        'bw --rails ultra24-a0,ultra24-a1 --sizes 64K --op put' \
        'lat --rails ultra24-a0 --sizes 8 --op send --engine single'; do
        # shellcheck disable=SC2086
        check "the clock of rank $who is ahead: $run" meet $who $run
        check "... plausible times" plausible
    done
done
