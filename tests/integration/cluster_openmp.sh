#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# examples/cluster_openmp: what many ranks and threads find is what rank 0 alone
# finds, whatever the order of things, the rails and the launcher; bad input.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

programs=$BUILD/bin/examples/cluster_openmp
# of parts that end within pages, and with more than one panel of columns
declare -A small=(
    [jacobi]='--size 203 --iterations 10'
    [lu]='--size 165 --iterations 2'
    [sort]='--size 60011 --iterations 3'
    [nbody]='--size 501 --iterations 6'
)

# same TEXT PROGRAM OPTIONS…: it ends well, and says so and TEXT
same()
{
    local text=$1 program=$2 status options
    read -ra options <<<"${small[$program]}"
    shift 2
    timeout -k 5 60 "$programs/$program" "${options[@]}" "$@" \
        >"$work/out" 2>"$work/err"
    status=$?
    if [ $status -ne 0 ] || [ -s "$work/err" ] ||
        ! grep -q '^  is the result of rank 0 alone$' "$work/out" ||
        ! grep -Eq -- "$text" "$work/out"; then
        echo "status $status:"
        cat "$work/out" "$work/err"
        return 1
    fi
}

for program in "${!small[@]}"; do
    for ranks in 1 2 3 4; do
        check "$program, $ranks ranks" same ", $ranks ranks x 1 threads:" \
            "$program" --ranks $ranks --threads 1
    done
    check "$program, 2 ranks of 2 threads, delays, many faults" \
        same ' [1-9][0-9]* faults to read, [1-9][0-9]* to write' \
        "$program" --ranks 2 --threads 2 --delays 300 --faults
    check "$program, shared memory" same ' 0 faults to read, 0 to write; 0 pages' \
        "$program" --ranks 3 --threads 2 --delays 300 --shared
    for seed in 2 3; do
        check "$program, delays of seed $seed" same ' [1-9][0-9]* pages came' \
            "$program" --ranks 3 --threads 2 --delays 400 --seed $seed
    done
    if [ -e "$BUILD/lib/dapl_rail/libdapl_ofi.so" ]; then
        check "$program over TCP" same ' [1-9][0-9]* pages came' \
            "$program" --ranks 2 --threads 2 --delays 200 --rails tcp-lo
    fi
done

check 'harmonic' sh -c 'timeout -k 5 30 "$0" | grep -qx "2 ranks: 14.44.*"' \
    "$programs/harmonic"

check 'lu, where a region for each message would find no threads' \
    env DRAIL_ENGINE=threaded DRAIL_TEAM=forkjoin bash -c 'timeout -k 5 60 "$0" \
    --size 165 --ranks 3 --threads 2 --faults >/dev/null' "$programs/lu"

# smaller than the ranks are many
check 'jacobi of one point' same 'size 3,' jacobi --size 3 --ranks 4
check 'lu of one element' same 'size 1,' lu --size 1 --ranks 2
check 'sort of one key' same 'size 1,' sort --size 1 --ranks 3
check 'nbody of one body' same 'size 1,' nbody --size 1 --ranks 3

# --- launched by hand -----------------------------------------------------------

port=$(free_port)
export DRAIL_SECRET=of-sixteen-characters
timeout -k 5 60 env DRAIL_RENDEZVOUS="127.0.0.1:$port" DRAIL_RANKS=2 \
    DRAIL_RANK=1 "$programs/sort" --size 9999 >"$work/1.out" 2>&1 &
background+=($!)
check 'sort of two processes' env DRAIL_RENDEZVOUS="127.0.0.1:$port" \
    DRAIL_RANKS=2 DRAIL_RANK=0 timeout -k 5 60 "$programs/sort" --size 9999
check '... the second ends well, too' wait "${background[0]}"
check '... and is silent' test ! -s "$work/1.out"
background=()

# --- bad input ------------------------------------------------------------------

for program in "${!small[@]}"; do
    check "$program --help" sh -c '"$0" --help | grep -q -- "--delays US"' \
        "$programs/$program"
    refused "$program of nothing" '--size .0. allowed:.[13].to' \
        "$programs/$program" --size 0
done
refused 'no number' '--iterations 10x 1.to' \
    "$programs/jacobi" --iterations 10x
refused 'a negative number' '--threads .-1' "$programs/lu" --threads -1
refused 'too many ranks' '--ranks 1024' "$programs/sort" --ranks 1025
refused 'a long pause' '--delays 999999' "$programs/nbody" --delays 1000000
refused 'more than 64 bits' '--seed' \
    "$programs/nbody" --seed 18446744073709551616
refused 'no such rail' '--rails nowhere railinfo' \
    "$programs/sort" --rails shm0,nowhere
refused 'no such option' '--sizes --help' "$programs/sort" --sizes 5
refused 'no value' '--size.*value' "$programs/sort" --size
refused 'words' 'quickly' "$programs/sort" quickly
