#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/map-algorithms: a small map, again from its times, and a run that takes
# too long.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

needs_simulation
map() { "$SOURCE/scripts/map-algorithms" --railbench "$BUILD/bin/railbench" "$@"; }

small()
{
    map "$work/map" --platform ndr400-2rail --nodes 2,3 --ppn 2 --sizes 4,64K \
        --collective barrier,bcast,allreduce &&
        python3 - "$work/map/times.csv" <<'PY'
import csv
import sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert {r["state"] for r in rows} == {"simulated"}, rows
found = {(r["collective"], r["algorithm"], r["nodes"], r["bytes"]) for r in rows}
assert len(found) == len(rows)
for key in ("barrier", "smp-barrier", "3", "0"), \
        ("bcast", "smp-bcast", "2", "65536"), ("allreduce", "shares", "3", "4"):
    assert key in found, (key, found)
PY
}
check "a map of three collectives" small

drawn()
{
    grep -q '^Simulated: the fastest algorithm' "$work/map/map.txt" &&
        grep -Eq '^ +3  smp-barrier [1-9]' "$work/map/map.txt" &&
        grep -q '>Simulated: the fastest' "$work/map/map.svg" &&
        python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" \
            "$work/map/map.svg"
}
check "its table and picture say that it is simulated" drawn

# resumed: what is there is not simulated again; nor are more nodes of an
# algorithm that took too long
resumed()
{
    sed -i '/,3,2,smp-barrier,/d; s/\(,barrier,\)2\(,2,dissemination,\).*/\12\20,,limit/
        /,barrier,3,2,dissemination,/d' "$work/map/times.csv"
    cp "$work/map/times.csv" "$work/before"
    map "$work/map" --platform ndr400-2rail --nodes 2,3 --ppn 2 --sizes 4,64K \
        --collective barrier,bcast,allreduce || return 1
    diff "$work/before" "$work/map/times.csv" | grep '^[<>]' >"$work/new"
    cat "$work/new"
    [ "$(wc -l <"$work/new")" -eq 1 ] && grep -q '^> .*,3,2,smp-barrier,0,' "$work/new" &&
        grep -q 'up to 1 left out' "$work/map/map.txt"
}
check "an interrupted map goes on" resumed
wrong()
{
    map "$work/map" "$@" 2>"$work/err"
    [ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ]
}
check "nodes that are no list" wrong --nodes 2,x
check "sizes that are no list" wrong --sizes 4,1X
check "a collective that is none" wrong --collective gathers
check "nothing to draw" eval '! map "$work/none" --draw 2>"$work/err"'
