#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Simulated runs are the same to the last bit, wherever the process finds its
# memory, whatever is in it, and however busy the machine is.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
needs_simulation

# run NAME COMMAND…: all of it into one file, by a command that runs railbench
run()
{
    local name=$1
    shift
    local sim=(--rails sim:qsnet2-4x4 --ranks 8 --format csv)
    {
        "$@" "$bench" allgather "${sim[@]}" --algorithm auto,direct,smp-bruck \
            --engine threaded --sizes 1K,32K --iterations 1 &&
            "$@" "$bench" alltoallv "${sim[@]}" --elements 16 --repeat 2 \
                --algorithm all --pattern uniform --validate &&
            "$@" "$bench" nbody "${sim[@]}" --bodies 60 --steps 1 &&
            "$@" "$bench" bw --rails sim:ultra24-multihca --format csv \
                --engine auto,threaded --team resident,forkjoin --sizes 64K
    } >"$work/$name.csv" 2>"$work/$name.err" || {
        cat "$work/$name.err"
        return 1
    }
}

# other_stack COMMAND…: with a shorter one
other_stack()
(
    ulimit -S -s 4096
    "$@"
)

# same NAME COMMAND…, and another way at once: each takes time of the other
ways=()
same()
{
    ways+=("$1")
    run "$@" &
    background+=($!)
}

check 'a collective, an irregular one, an application, a stream' run first env
check '... have figures' [ "$(wc -l <"$work/first.csv")" -gt 15 ]
same bare env -i ASAN_OPTIONS="$ASAN_OPTIONS" LSAN_OPTIONS="${LSAN_OPTIONS-}" \
    UBSAN_OPTIONS="${UBSAN_OPTIONS-}" HWLOC_PLUGINS_PATH="${HWLOC_PLUGINS_PATH-}"
same long env "LONG=$(printf '%60000s' x)"
wait
background=()
same stack other_stack
same filled env MALLOC_PERTURB_=165
wait
background=()
if setarch -R true 2>"$work/err"; then
    same fixed setarch -R
    wait
    background=()
fi
for way in "${ways[@]}"; do
    check "the same: $way" cmp "$work/first.csv" "$work/$way.csv"
done
