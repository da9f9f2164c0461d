#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tune and guidelines take long: they tell how far they are, keep to their time,
# and what is complete is written when they are interrupted.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench

interrupted()
{
    "$bench" tune --collective gather,reduce --time-budget 60 \
        --output "$work/table" 2>"$work/err" </dev/null &
    background+=($!)
    soon grep -Eq 'part 1 of 2, gather: .* (32|256|1024) bytes' "$work/err" ||
        return 1
    kill -TERM "${background[-1]}"
    await_exit "${background[-1]}" 10
    [ $? -eq 1 ]
}
check 'tune tells how far it is, and is interrupted' interrupted
check '... says so' grep -q interrupted "$work/err"
check '... what is complete is in the table' \
    grep -q '^gather 2 2 2 nonthreaded 4 ' "$work/table"
check '... which is marked' grep -q '^# partial' "$work/table"
check '... and is read' timeout -k 5 60 "$bench" gather --sizes 4 \
    --repeat 1 --selection "$work/table" --output "$work/out"

check 'tune keeps to its time' timeout -k 5 60 "$bench" tune --time-budget 1 \
    --output "$work/table"
check 'guidelines takes the sizes of tune' timeout -k 5 60 "$bench" tune \
    --sizes 4,12 --collective reduce --repeat 1 --output "$work/table"
judged()
{
    timeout -k 5 60 "$bench" check --sizes 4,12 --collective reduce \
        --repeat 1 --output "$work/out"
    [ $? -le 1 ] && grep -q 'comparisons' "$work/out"
}
check '... indeed' judged
