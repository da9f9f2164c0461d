#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench degrade: when a cut is seen, and the rail's return. Runs alone: on
# busy processors that takes longer.
# shellcheck source=tests/integration/degrade.bash
. "${SOURCE:?}/tests/integration/degrade.bash"

check 'a rail is cut and returns' degrade 0 --time 1s \
    --events 200ms:cut:1,400ms:back:1 --save "$work/r.json"
check 'nothing is lost, nothing doubled' json \
    'run["messages"] and not (run["lost"] or run["doubled"] or run["wrong"])'
check 'whose rail it was' json \
    '[x["failures"] for x in run["rails"]] == [0, 1]'
check 'how long it was gone' json '[x["down_ms"] > 0 and x["lost_ms"] > 0
    for x in run["rails"]] == [False, True]'
check 'when that was seen' json '[0 < e["seen_ms"] < 200
    for e in run["events"]] == [True, True]'
check 'recovered from the cut on' json '(run["events"][0]["recovery_ms"] or 0) >= 0'
