#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench memcpy: copies of this machine, and of simulated ranks, which share
# the rates of their platform file.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

railbench=$BUILD/bin/railbench
refused 'checked contents' "--validate:.'memcpy'" "$railbench" memcpy --validate

# measures RANKS OPTIONS…, then rates 'PYTHON ASSERTION' on MBps[bytes]
measures()
{
    "$railbench" memcpy --ranks "$1" --repeat 1 --iterations 4 --format csv \
        --output "$work/rates" "${@:2}" 2>"$work/err" ||
        { cat "$work/err"; return 1; }
}
rates()
{
    python3 -c "
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline='')))
MBps = {int(row['bytes']): float(row['bandwidth_MBps']) for row in rows}
$1" "$work/rates"
}

for ranks in 1 2; do
    check "$ranks at once on this machine" measures $ranks --sizes 64,256K
    check '… take time' rates 'assert all(MBps.values()) and len(MBps) == 2'
done

rest_is_simulated
total=(0 1100 2200 3200 3200) # qsnet2-4x4: cache_rate
long=(0 800 1066 1066 1066)   # … copy_rate
for ranks in 1 2 3 4; do
    check "$ranks at once, simulated" measures $ranks --rails sim:qsnet2-4x4 \
        --ppn $ranks --sizes 64K,256K
    check '… share the rates of the platform file' rates "
assert abs(MBps[1 << 16] / ${total[ranks]} - 1) < 1e-3, MBps
assert abs(MBps[1 << 18] / ${long[ranks]} - 1) < 1e-3, MBps"
done

# scripts/memcpy-figure
figure=$SOURCE/scripts/memcpy-figure
refused 'no rounds' '--repeat.*0' "$figure" --repeat 0
drawn()
{
    "$figure" --repeat 1 --platform \
        "$SOURCE/results/calibrate/epyc-2core.platform" "$work/figure" \
        >"$work/out"
}
check 'measured and simulated' drawn
check '… all points of the figure' python3 -c '
import csv, sys
seen = {}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    assert float(row["latency_us"]) > 0, row
    seen.setdefault((row["origin"], row["copies"]), []).append(row["bytes"])
assert {("measured", k) for k in "1234"} <= set(seen), seen
assert ("simulated", "1") in seen and {len(x) for x in seen.values()} == {17}' \
    "$work/figure/memcpy.csv"
check '… by commands without paths' grep -q 'sim:epyc-2core.platform' \
    "$work/figure/memcpy.txt"
