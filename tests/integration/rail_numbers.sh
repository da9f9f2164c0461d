#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The figures of a rail that was cut, or whose peer has ended: a failure counts
# once, though both ranks see it, and a time is that of one rank.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
export DAPL_SHM_CABLES=$work/cables
mkdir "$DAPL_SHM_CABLES"

# number WORDS: what stands before them in shm1's line
number()
{
    sed -n "s/^# rail shm1:.* \\([0-9.]*\\) $1.*/\\1/p" "$work/out"
}
# within LOW NUMBER HIGH
within()
{
    awk -v n="$2" "BEGIN {exit !(n != \"\" && n >= $1 && n <= $3)}"
}

# a run that is long enough, whatever the machine
timeout -k 10 100 "$bench" bw --engine nonthreaded --sizes 64K --precision 0.01 \
    --time-budget 5 --rail-stats >"$work/out" 2>"$work/err" &
run=$!
for _ in $(seq 400); do
    [ -e "$DAPL_SHM_CABLES/shm1" ] && break
    sleep 0.05
done
sleep 1
"$SOURCE/scripts/cable" "$DAPL_SHM_CABLES/shm1" down
sleep 0.5
"$SOURCE/scripts/cable" "$DAPL_SHM_CABLES/shm1" up
check 'it goes on' wait $run
check 'one failure' test "$(number failures)" = 1
check 'not up as long as it was cut' within 400 "$(number 'ms not up')" 3000
check 'it is up again' grep -q '^# rail shm1: up' "$work/out"

timeout -s INT -k 10 2 "$bench" bw --sizes 1M --repeat 1000 --rail-stats \
    >"$work/out" 2>"$work/err"
check 'interrupted' grep -q 'partial' "$work/err"
# nothing at all may be known that early
check 'no rail is down then' test -z "$(grep '^# rail.*: down' "$work/out")"
