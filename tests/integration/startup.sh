#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Started as some parents start programs: SIGCHLD ignored, signals blocked,
# standard descriptors closed. Results in files are whole; a result that can't
# be written is an error.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
info=$BUILD/bin/railinfo
quick=(--iterations 3 --warmup 1 --repeat 1)

# started HOW COMMAND…: HOW is ignore, block, or descriptors to close: 0,2
started()
{
    timeout -k 5 60 python3 -c '
import os, signal, sys
how = sys.argv[1]
if how == "ignore":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
elif how == "block":
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
else:
    for fd in how.split(","):
        os.close(int(fd))
os.execv(sys.argv[2], sys.argv[2:])' "$@"
}

# --- signals ----------------------------------------------------------------

rows() { [ "$(wc -l <"$work/out")" -gt 1 ]; }
dsm=(dsm --part jacobi --repeat 1 --time-budget 1 --rails shm0 --engine single)
for how in ignore block; do
    started $how "$bench" "${dsm[@]}" --format csv >"$work/out" \
        </dev/null
    check "dsm times the reference, signals: $how" [ $? -eq 0 ]
    check "dsm has rows, signals: $how" rows
    check "bw, signals: $how" started $how "$bench" bw --sizes 8 "${quick[@]}" \
        --output "$work/bw"
    started $how "$info" >"$work/out"
    check "railinfo has rails, signals: $how" grep -q shm0 "$work/out"
done

# blocked signals still interrupt: limits has no ranks
started block "$bench" limits --sizes 64M --time-budget 30 --repeat 200 \
    >"$work/out" 2>"$work/err" &
limits=$!
background+=("$limits")
soon grep -q repeat "$work/err" # it tells how far it is
kill -TERM "$(pgrep -P $limits)"
await_exit $limits 10
check 'SIGTERM ends limits that was started with it blocked' \
    grep -q interrupted "$work/err"

# --- standard descriptors ------------------------------------------------------

is_json() { python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$1"; }
whole()
{
    rm -f "$work/r.json"
    started "$@" --format json --output "$work/r.json" && is_json "$work/r.json"
}
for closed in 0 1 2 0,1,2; do
    check "closed $closed: bw writes its file" whole $closed "$bench" bw \
        --sizes 8 "${quick[@]}"
    check "closed $closed: a collective writes its file" whole $closed \
        "$bench" allgather --ranks 4 --sizes 8 "${quick[@]}"
done
# wrote_nowhere COMMAND…: fails and says so
wrote_nowhere()
{
    "$@" 2>"$work/err" && return 1
    [ "$(wc -l <"$work/err")" -eq 1 ] &&
        grep -Eqi "standard output|can't write the result" "$work/err"
}
full() { "$@" >/dev/full; }
short=("$bench" bw --sizes 8 --engine single --no-pin "${quick[@]}")
check 'closed 1: no result is an error' wrote_nowhere started 1 "${short[@]}"
check 'closed 1, with an explanation' wrote_nowhere started 1 "${short[@]}" \
    --explain
check 'a full disk: no result is an error' wrote_nowhere full "${short[@]}"
check 'a full disk: --help' wrote_nowhere full "$bench" --help
check 'a full disk: bw --help' wrote_nowhere full "$bench" bw --help
closed_1() { started 1 "$@"; }
for how in closed_1 full; do
    check "railinfo, $how" wrote_nowhere "$how" "$info"
    check "railinfo --json, $how" wrote_nowhere "$how" "$info" --json
    check "railinfo --config, $how" wrote_nowhere "$how" "$info" --config
done
