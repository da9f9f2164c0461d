#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/degrade-any: the stream of dapl_rail goes on while a rail is cut, that
# of libfabric, which has one rail, waits; and what is left of a run that is
# ended early.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
[ "$(id -u)" -eq 0 ] || skip 'it needs root (hosts are network namespaces)'
for name in stream_drail stream_fi; do
    [ -x "$BUILD/bin/peers/$name" ] || skip "no $name (make deps-peers peers)"
done
any=$SOURCE/scripts/degrade-any
export BUILD
"$testbed" true 2>"$work/err" || {
    cat "$work/err"
    exit 77
}

# run_cuts DIR LIBRARIES OPTION…: faults of a second; replaces the shell: call it
# in the background or in ( )
run_cuts()
{
    exec "$any" --kinds cut --outage 1 --jobs 2 --libraries "$2" "${@:3}" \
        "$work/$1" >"$work/$1.out" 2>"$work/$1.err"
}

# one_each LIBRARIES: a fault of each
one_each()
{
    (run_cuts one "$1" --faults 1) &
    await_exit $! 60
}

# holds DIR 'PYTHON ASSERTIONS': rows by the label of their library
holds()
{
    zcat "$work/$1/degrade-any.json.gz" | python3 -c "
import json, sys
result = json.load(sys.stdin)
labels = [setup['label'] for setup in result['configurations']]
rows = {labels[row['configuration']]: row for row in result['results']}
$2" && return 0
    cat "$work/$1.err" "$work/$1"/*.md
    return 1
}

run_cuts early dapl_rail --faults 9 &
early=$!
background=("$early")
check 'one fault' one_each dapl_rail,libfabric
check 'dapl_rail goes on over the other rail' holds one '
row = rows["dapl_rail"]
assert not result["partial"] and row["outcome"] == "goes on", row
assert row["stall_ms"] < 900 and 20 < row["meanwhile_pct"] < 90, row
assert not row["lost"] and not row["doubled"] and not row["wrong"], row
assert row["rails"] == ["rail0", "rail1"] and row["messages"] > 100, row'
check 'libfabric waits for its only rail' holds one '
row = rows["libfabric"]
assert row["outcome"] == "waits" and row["stall_ms"] > 900, row
assert not row["lost"] and not row["doubled"] and not row["wrong"], row
assert row["rails"] == ["rail0"] and row["rail"] == "rail0", row'
check 'the table' grep -q '| cut | dapl_rail | 1 | 1 | - | - | - |' \
    "$work/one/degrade-any.md"
check 'the picture' [ -s "$work/one/degrade-any.svg" ]

check 'a row of another run' soon [ -e "$work/early/degrade-any.md" ]
kill -TERM $early
await_exit $early 20
check 'interrupted' [ $? -eq 1 ]
check '… is said at last' grep -q interrupted <(tail -n 1 "$work/early.err")
check '… the table is marked' grep -q 'Not complete: .* of 9 runs' \
    "$work/early/degrade-any.md"
