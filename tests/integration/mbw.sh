#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench mbw: bad input, and what an adapter receives over shared memory and
# on a simulated cluster, where more connections carry more.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

railbench=$BUILD/bin/railbench
refused 'another algorithm' "--algorithm:.'bruck'.*ring,.direct" \
    "$railbench" mbw --algorithm bruck
refused 'checked contents' "--validate:.'mbw'" "$railbench" mbw --validate
refused 'a single node' "--ppn:.'2' two.nodes" "$railbench" mbw --ranks 2
refused 'more groups than ranks of a node' '--groups.*3.*1 to 2' \
    "$railbench" mbw --ranks 4 --ppn 2 --groups 3

# measures OPTIONS…, then holds 'PYTHON ASSERTION' on rate[algorithm][bytes]
measures()
{
    "$railbench" mbw --repeat 1 --iterations 4 --format csv --output \
        "$work/rates" "$@" 2>"$work/err" || { cat "$work/err"; return 1; }
}
holds()
{
    python3 -c "
import csv, sys
rate, us = {}, {}
for row in csv.DictReader(open(sys.argv[1], newline='')):
    key = int(row['bytes'])
    rate.setdefault(row['algorithm'], {})[key] = float(row['bandwidth_MBps'])
    us.setdefault(row['algorithm'], {})[key] = float(row['latency_us'])
$1" "$work/rates"
}

check 'two groups over shared memory' measures --ranks 4 --ppn 2 --sizes 64,4K
check '… each rank receives one block of another node' holds '
assert set(rate) == {"ring", "direct"}
for name in rate:
    for size in 64, 4096:
        assert abs(rate[name][size] * us[name][size] / (2 * size) - 1) < 1e-3'

# no rank's barrier takes what another one, which has left it, puts
many_starts()
{
    DRAIL_TIMEOUT_MS=5000 "$railbench" mbw --ranks 4 --ppn 2 --sizes 64 \
        --start barrier --repeat 60 --output "$work/rates" 2>&1
}
check 'many starts' many_starts
check 'ranks without a group' measures --ranks 6 --ppn 3 --groups 1 --sizes 64
check 'a smaller node has fewer groups' measures --ranks 5 --ppn 2 --sizes 64

rest_is_simulated
for groups in 1 4; do
    check "$groups groups, simulated" measures --rails sim:connectx-4x4 \
        --ranks 16 --ppn 4 --groups $groups --sizes 64,256K
    check '… three connections of a rank carry more short messages than one' \
        holds 'assert rate["direct"][64] > 1.2 * rate["ring"][64], rate'
    check '… and no more than PCI Express lets through both ways' \
        holds 'assert 1500 < rate["direct"][1 << 18] < 1561, rate'
    cp "$work/rates" "$work/rates-$groups"
done
check 'four groups carry more than one' python3 -c '
import csv, sys
one, four = (float(next(csv.DictReader(open(path, newline="")))
                   ["bandwidth_MBps"]) for path in sys.argv[1:])
assert four > 2 * one, (one, four)' "$work/rates-1" "$work/rates-4"
