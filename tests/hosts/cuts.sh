#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts flood each other over two rails, of which one after the other is
# cut (or loses all, or is slowed) and given back at random: nothing is lost,
# doubled or changed, and the flood goes on. By hand: cuts.sh [COUNT] [SEED],
# the seed of a run is told.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
# shellcheck source=tests/hosts/flood.bash
. "$SOURCE/tests/hosts/flood.bash"
count=${1:-${COUNT:-8}} seed=${2:-${SEED:-$((RANDOM))}}
export COUNT=$count SEED=$seed
rate=1gbit
LIMIT=$((60 + 8 * count)) inside --hosts 2 --rails 2 --rate $rate

RANDOM=$seed

# a rail is away for a moment; the other one stays
disturb()
{
    local rail hosts how pause rates
    pick rail0 rail1 && rail=$picked
    pick n1 n2 'n1 n2' && hosts=$picked
    pick cut cut cut drop rate && how=$picked
    pick .05 .1 .3 .6 && pause=$picked
    pick 50 300 && rates=$picked
    # shellcheck disable=SC2086 # hosts are words
    case $how in
    rate) testbed rate "$rail" "$rates" $hosts ;;
    *) testbed "$how" "$rail" $hosts ;;
    esac
    [ "$how" != cut ] || { breaks=1 && soon lost; }
    sleep "$pause"
    # shellcheck disable=SC2086
    case $how in
    rate) testbed rate "$rail" $rate $hosts ;;
    *) testbed mend "$rail" $hosts ;;
    esac
}

check "$count cuts, seed $seed" flood_under "$count" disturb ranks 2 1 \
    "$BUILD/test/hosts/flood" --rails tcp-rail0,tcp-rail1 --seed "$seed" \
    --atomics
