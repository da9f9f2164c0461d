#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What tests/hosts/flood sends in all ways at once, comes once, in order and
# unchanged over rails that nobody cuts.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

flood=$BUILD/test/hosts/flood

floods()
{
    timeout -k 1 60 env "$@" >"$work/out" 2>&1 &&
        grep -q 'flood: [1-9][0-9]* puts, [1-9]' "$work/out" && return 0
    cat "$work/out"
    return 1
}

check 'two rails, one thread' floods \
    DRAIL_ENGINE=nonthreaded "$flood" --seconds 1 --atomics
check 'three rails, threads' floods "$flood" --rails shm0,shm1,shm2 --seconds 1
check 'two pairs' floods "$flood" --ranks 4 --seconds 1 --seed 7
