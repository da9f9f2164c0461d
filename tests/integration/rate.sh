#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench rate: bad input, and messages of pairs over shared memory and on a
# simulated cluster, where pairs on other adapters carry as much again.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

railbench=$BUILD/bin/railbench
refused 'a rank without a pair' "--ranks:.'3'.*an.even.number" \
    "$railbench" rate --ranks 3
refused 'reads' "--op:.'get'.*put.or.send" "$railbench" rate --op get
refused 'two operations' "--op:.'put,send'.*put.or.send" \
    "$railbench" rate --op put,send
refused 'no window' "--window:.'0'" "$railbench" rate --window 0
refused 'checked contents' "--validate:.'rate'" "$railbench" rate --validate

# measures OPTIONS…, then holds 'PYTHON ASSERTION' on each row r
measures()
{
    timeout -k 10 100 "$railbench" rate --iterations 4 --warmup 1 --repeat 1 \
        --save "$work/r.csv,$work/r.json" "$@" >"$work/out" 2>"$work/err" || {
        cat "$work/err"
        return 1
    }
}
holds()
{
    python3 -c "
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline='')))
cells = json.load(open(sys.argv[2]))['results']
assert rows and len(rows) == len(cells)
for r, cell in zip(rows, cells):
    rate, us = float(r['rate_Mmsgs']), float(r['latency_us'])
    in_json = cell['collective']
$1" "$work/r.csv" "$work/r.json"
}

for op in put send; do
    check "$op, two pairs" measures --op $op --ranks 4 --ppn 2 --window 10 \
        --sizes 1,100,40000
    check '… all of their messages count' holds '
    assert abs(rate * us / (2 * 10) - 1) < 1e-3, r
    assert abs(float(r["bandwidth_MBps"]) / rate / int(r["bytes"]) - 1) < 1e-3
    assert in_json["messages_per_iteration"] == 20, in_json
    assert abs(in_json["rate_Mmsgs"] / rate - 1) < 1e-3, in_json'
done
check 'another name, in the table' "$railbench" mbw_mr --sizes 8 --repeat 2 \
    --output "$work/table"
check '… has the rate' grep -q 'MB/s *Mmsg/s' "$work/table"

needs_simulation

# simulated RANKS, on a node each: what was measured goes to $work/RANKS
simulated()
{
    measures --rails sim:connectx-4x4 --ranks "$1" --ppn 1 --sizes 8,4K &&
        cp "$work/r.csv" "$work/$1"
}
check 'a pair, simulated' simulated 2
check 'two pairs' simulated 4
check '… carry twice as much' python3 -c '
import csv, sys
for one, two in zip(*(csv.DictReader(open(path)) for path in sys.argv[1:])):
    gain = float(two["rate_Mmsgs"]) / float(one["rate_Mmsgs"])
    assert abs(gain - 2) < 0.02, gain' "$work/2" "$work/4"
