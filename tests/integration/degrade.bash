# SPDX-License-Identifier: BSD-3-Clause
# Shared by the tests of railbench degrade.
# shellcheck shell=bash
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
quick=(--time 500ms --sizes 64K)
export TMPDIR=$work/tmp # of cables
mkdir "$TMPDIR"

# degrade STATUS OPTION…: it ends by itself, with this exit status
degrade()
{
    local wanted=$1
    shift
    timeout -k 10 60 "$bench" degrade "${quick[@]}" "$@" >"$work/out" \
        2>"$work/err"
    exited_with "$wanted" $? && return
    cat "$work/out"
    return 1
}

# json EXPRESSION: what Python says of the result r and its first run
json()
{
    python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
run = r["results"][0]
assert eval(sys.argv[2]), (sys.argv[2], run)' "$work/r.json" "$1"
}
