#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts flood each other over two rails, of which one after the other is
# cut (or loses all, or is slowed) and given back at random: nothing is lost,
# doubled or changed, and the flood goes on. By hand: cuts.sh [COUNT] [SEED],
# the seed of a run is told.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
count=${1:-${COUNT:-6}} seed=${2:-${SEED:-$((RANDOM))}}
export COUNT=$count SEED=$seed
LIMIT=$((60 + 8 * count)) inside --hosts 2 --rails 2 --rate 1gbit

RANDOM=$seed
pick() { shift $((RANDOM % $#)); echo "$1"; }

# a rail is away for a moment; the other one stays
disturb()
{
    local rail host how
    rail=$(pick rail0 rail1) host=$(pick n1 n2 'n1 n2')
    how=$(pick cut cut drop rate)
    # shellcheck disable=SC2086 # hosts are words
    if [ "$how" = rate ]; then
        testbed rate "$rail" "$(pick 50 300)" $host
    else
        testbed "$how" "$rail" $host
    fi
    sleep "0.$(pick 05 1 3 6)"
    # shellcheck disable=SC2086
    if [ "$how" = rate ]; then
        testbed rate "$rail" 1gbit $host
    else
        testbed mend "$rail" $host
    fi
    # until both ends use it again: who has no rail left is gone
    sleep "$(pick 4 5)"
}

flood()
{
    local pid
    ranks 2 1 "$BUILD/test/hosts/flood" --rails tcp-rail0,tcp-rail1 \
        --seed "$seed" --until "$work/over" >"$work/out" 2>&1 &
    pid=$!
    soon grep -q begins "$work/out" || kill $pid
    for ((i = 0; i < count; i++)); do
        kill -0 $pid 2>/dev/null || break
        disturb
    done
    touch "$work/over"
    await_exit $pid 60 && return 0
    echo "after $i of $count, seed $seed:"
    cat "$work/out"
    return 1
}

check "$count cuts, seed $seed" flood
grep puts "$work/out"
