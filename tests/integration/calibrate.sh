#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/calibrate: the file that it writes is a platform, which railbench runs
# on; what it refuses.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

calibrate=$SOURCE/scripts/calibrate
file=$work/here.platform

quickly()
{
    timeout -k 10 120 "$calibrate" --repeat 1 --time 0.1 "$@" \
        >"$work/out" 2>"$work/err" || {
        cat "$work/out" "$work/err"
        return 1
    }
}
# has REGEX…: lines of the file
has()
{
    local regex
    for regex in "$@"; do
        grep -Eq "^$regex" "$file" || {
            echo "no $regex"
            return 1
        }
    done
}

check 'two rails' quickly --nodes 3 --ppn 1 "$file"
check 'its sections' has 'nodes = 3$' 'ranks = 1$' '\[rail shm0\]' \
    '\[rail shm1\]' 'post = [0-9.]+ us +# [0-9.]+ to [0-9.]+: railbench' \
    'fork = [0-9.]+ us' 'copy_rate = [0-9.]+ MB/s'
if [ -e "$BUILD/lib/dapl_rail/libdapl_sim.so" ]; then
    check 'it is a platform' timeout -k 10 60 "$BUILD/bin/railbench" bw \
        --rails "sim:$file" --sizes 4M --iterations 1 --repeat 1
fi

refused 'no platform' "FILE: 'x.txt'.*NAME.platform" "$calibrate" x.txt
refused 'no rails' "--rails: ',' is.wrong" "$calibrate" --rails , -
refused 'no time' "--time: '0' is.wrong" "$calibrate" --time 0 -
refused 'one node' '--check: one' "$calibrate" --nodes 1 --check "$file"
timeout -k 10 60 "$calibrate" --rails none --repeat 1 - >"$work/out" 2>"$work/err"
check 'a rail that is not there' test $? -eq 1 -a "$(wc -l <"$work/err")" -eq 1
