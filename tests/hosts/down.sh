#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Interfaces that are down when a job begins: it begins over the other rail, and
# uses both when they are up.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
LIMIT=300 inside --hosts 2 --rails 2 --rate 1gbit

# begins HOW UNDO: with rail0 down, which comes up after a while; the second job
# of the same processes ends over both
begins()
{
    local how=$1 undo=$2 job
    $how || return 1
    ranks 2 1 timeout 60 "$bench" bw --rails tcp-rail0,tcp-rail1 --sizes 256K \
        --engine nonthreaded --repeat 8 --iterations 30 --validate \
        >"$work/out" 2>"$work/said" &
    job=$!
    sleep 2
    $undo
    wait $job && grep -q 'valid$' "$work/out" &&
        ! grep -q '^# rail tcp-rail0: .* put 0 bytes' "$work/out" ||
        { cat "$work/out" "$work/said"; false; }
}
# state UP|DOWN HOSTS
state() { on "$2" ip link set rail0 "$1"; }

check 'no carrier at one host' begins 'testbed cut rail0 n1' \
    'testbed mend rail0 n1'
check 'no carrier at all' begins 'testbed cut rail0' 'testbed mend rail0'
check 'down at rank 0' begins 'state down n1' 'state up n1'
check 'down at rank 1' begins 'state down n2' 'state up n2'
check 'down at both' begins 'state down all' 'state up all'
