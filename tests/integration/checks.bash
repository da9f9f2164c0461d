# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts in this folder. By hand: BUILD=build SOURCE=. script.sh

set -u
BUILD=$(realpath "${BUILD:?}")
SOURCE=$(realpath "${SOURCE:?}")
failures=0
work=$(mktemp -d)
background=()

finish()
{
    local status=$? pid
    for pid in "${background[@]}"; do
        # not KILL: timeout(1) would leave its program behind
        kill -TERM "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done
    rm -rf --one-file-system "$work"
    [ "$status" -ne 0 ] || exit $((failures > 0))
}
trap finish EXIT

# check NAME COMMAND…: runs a command that must succeed
check()
{
    local name=$1
    shift
    if "$@"; then
        echo "ok - $name"
    else
        echo "NOT OK - $name: $*"
        failures=$((failures + 1))
    fi
}

# skip REASON: the rest can't be had here, and what was checked is not all that
# this test is for; what failed has failed
skip()
{
    [ $failures -eq 0 ] || exit 1
    echo "$1"
    exit 77
}

# refused NAME 'REGEX…' COMMAND…: exit status 2, nothing on stdout, and one
# line on stderr which every regex matches
refused()
{
    local name=$1 wanted=$2 regex good=1
    shift 2
    timeout -k 10 30 "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] ||
        good=0
    for regex in $wanted; do
        grep -Eq -- "$regex" "$work/err" || good=0
    done
    check "refused: $name" [ $good -eq 1 ]
    [ $good -eq 1 ] || cat "$work/err"
}

# a TCP port of 127.0.0.1 that is free now
free_port()
{
    python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# soon COMMAND…: it succeeds within 30 s
soon()
{
    for _ in $(seq 600); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}

# waits up to 10 s until FILE has TEXT
await_text()
{
    local file=$1 text=$2
    for _ in $(seq 200); do
        grep -q -- "$text" "$file" 2>/dev/null && return 0
        sleep 0.05
    done
    echo "no '$text' in $file:"
    cat "$file"
    return 1
}

# waits up to $2 seconds for the end of one of our children; gives its status
await_exit()
{
    local pid=$1 seconds=$2
    for _ in $(seq $((seconds * 20))); do
        kill -0 "$pid" 2>/dev/null || {
            wait "$pid"
            return
        }
        sleep 0.05
    done
    echo "process $pid still runs after $seconds s"
    return 1
}

# exited_with WANTED STATUS: with that status; if not, its standard error is shown
exited_with()
{
    [ "$2" -eq "$1" ] && return 0
    echo "exit status $2 instead of $1"
    cat "$work/err"
    return 1
}

# ends STATUS ARGUMENTS…: the program that `starts ARGUMENTS…` starts, as $pid
ends()
{
    local wanted=$1
    shift
    starts "$@"
    wait "$pid"
    exited_with "$wanted" $?
}

# tested_ias: $IAS, or an IA of each provider that genuine programs run over
tested_ias()
{
    local tcp=
    [ ! -e "$BUILD/lib/dapl_rail/libdapl_ofi.so" ] || tcp='tcp-lo'
    echo "${IAS:-shm0 $tcp}"
}

# rest_is_simulated: ends here, with what was checked, where there are no
# simulated rails
rest_is_simulated()
{
    [ -e "$BUILD/lib/dapl_rail/libdapl_sim.so" ] && return
    echo 'skipped: simulated rails are not built'
    exit
}

# needs_simulation: skips the rest where there are no simulated rails
needs_simulation()
{
    [ -f "$BUILD/lib/dapl_rail/libdapl_sim.so" ] ||
        skip 'no simulated rails were built'
    # the sanitizer of addresses takes frames of other stacks for ones that were
    # left
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_stack_use_after_return=0
}

# recorded SECONDS NAME TEST OPTIONS…: a result of railbench, within that time,
# in NAME.csv and NAME.json of $work
recorded()
{
    local seconds=$1 name=$2
    shift 2
    timeout -k 1 "$seconds" "$BUILD/bin/railbench" "$@" \
        --save "$work/$name.csv,$work/$name.json" >"$work/out" 2>"$work/err" ||
        {
            cat "$work/err"
            return 1
        }
}

# rows_hold NAME 'PYTHON ASSERTIONS': rows are those of the CSV, r the JSON
rows_hold()
{
    python3 -c "
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + '.csv', newline='')))
r = json.load(open(sys.argv[1] + '.json'))
assert rows and len(rows) == len(r['results'])
$2" "$work/$1"
}
