#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench does not repeat long transfers on a slow rail more often than it
# must. The test counts messages, not seconds. Of 16 MB, a batch of 20 takes
# 160 ms here, one of 8 more than 60.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

# batches N MESSAGES OPTIONS…: so many, of so many messages each, are sent over
# the rail, those that tell how long they take and how the rails share them
# included
batches()
{
    local wanted=$1 of=$2 sent
    shift 2
    timeout -k 10 60 "$BUILD/bin/railbench" bw --rails ultra24-a0 --sizes 16M \
        --repeat 1 --format json --batch "$of" "$@" >"$work/r.json" \
        2>"$work/err" || return
    sent=$(python3 -c "import json, sys
puts = json.load(open(sys.argv[1]))['rail_stats'][0]['puts']
print(puts / int(sys.argv[2]))" "$work/r.json" "$of")
    [ "$sent" = "$wanted.0" ] && return
    echo "$sent batches, not $wanted"
    return 1
}

check 'one of each' batches 4 20 --engine single
check 'so many to warm up as asked for' batches 5 20 --engine single \
    --warmup 3 --iterations 1
check 'what learns needs all' batches 22 8 --engine auto
