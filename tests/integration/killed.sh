#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that are ended by SIGKILL, alone or with their ranks, leave neither
# processes nor files for temporary things behind.
. "$SOURCE/tests/integration/checks.bash"
rb=$BUILD/bin/railbench
temporary=$work/temporary
mkdir "$temporary"

runs() { pgrep -f -- "--output $work/killed" >/dev/null; }
ended() { ! runs; }
busy() { [ "$(pgrep -fc -- "--output $work/killed")" -gt 2 ]; }

# killed NAME WHOM ARGUMENTS…: WHOM: the program, or -the program's group
killed()
{
    local name=$1 whom=$2
    shift 2
    TMPDIR=$temporary setsid "$rb" "$@" --output "$work/killed" \
        >"$work/out" 2>&1 </dev/null &
    local job=$!
    soon busy || cat "$work/out"
    sleep 0.3
    kill -KILL -- "${whom/program/$job}"
    wait $job 2>/dev/null
    check "$name: no process is left" soon ended
    check "$name: no file is left" [ -z "$(ls -A "$temporary")" ]
}

for whom in program -program; do
    killed "degrade, $whom" $whom degrade --time 20s
    killed "dsm, $whom" $whom dsm --part jacobi
    killed "bw, $whom" $whom bw --sizes 8,1M --iterations 100000
done
check 'the next run is well' timeout -k 5 60 "$rb" bw --sizes 8,64K --repeat 1 \
    --iterations 3 --validate --output /dev/null
