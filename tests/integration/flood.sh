#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every message that tests/hosts/flood sends, in all ways at once, comes once,
# in order and unchanged: over rails that nobody cuts, and over some whose
# cables are pulled, slowed or mute, or whose connections break, at random. By
# hand: COUNT=40 SEED=1 flood.sh
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"
# shellcheck source=tests/hosts/flood.bash
. "$SOURCE/tests/hosts/flood.bash"

program=$BUILD/test/hosts/flood
count=${COUNT:-3} seed=${SEED:-$RANDOM}

floods()
{
    timeout -k 10 60 env "$@" >"$work/out" 2>&1 &&
        grep -q 'flood: [1-9][0-9]* puts, [1-9]' "$work/out" && return 0
    cat "$work/out"
    return 1
}

check 'two rails, one thread' floods \
    DRAIL_ENGINE=nonthreaded "$program" --seconds 1 --atomics
check 'three rails, threads' floods "$program" --rails shm0,shm1,shm2 --seconds 1
check 'two pairs' floods "$program" --ranks 4 --seconds 1 --seed 7

cable()
{
    local rail=$1
    shift
    "$SOURCE/scripts/cable" "$DAPL_SHM_CABLES/$rail" "$@"
}

disturb()
{
    local rail how pause
    pick shm0 shm1 && rail=$picked
    pick down down cut break mute slow && how=$picked
    pick .01 .05 .1 && pause=$picked
    [ "$how" = slow ] || breaks=1
    case $how in
    down | mute)
        cable "$rail" "$how"
        soon lost
        sleep "$pause"
        cable "$rail" up
        ;;
    cut) cable "$rail" cut ;;
    break)
        # shellcheck disable=SC2046 # one of its ranks, unless it has ended
        if pick $(pgrep -P "$flood"); then
            cable "$rail" break "$picked"
        else
            breaks=''
        fi
        ;;
    slow)
        cable "$rail" slow 0.1
        sleep "$pause"
        cable "$rail" slow 1
        ;;
    esac
}

none()
{
    ! pick
}

check 'none to pick from' none
export DAPL_SHM_CABLES=$work/cables DRAIL_SILENCE_MS=200
mkdir "$DAPL_SHM_CABLES"
RANDOM=$seed
for engine in nonthreaded threaded; do
    check "cables, $engine, $count times, seed $seed" \
        flood_under "$count" disturb env DRAIL_ENGINE=$engine \
        "$program" --rails shm0,shm1 --seed "$seed"
done
