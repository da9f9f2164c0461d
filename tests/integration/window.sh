#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench bw, bibw and lat with a window of messages under way.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
quick=(--sizes "0,8,64K" --iterations 3 --repeat 2 --validate)

refused 'no window' --window "$bench" bw --window 0
refused 'a window of atomics' --window "$bench" atomic --window 8
refused 'a window of parts' --window "$bench" breakdown --window 8

# streams TEST OPTIONS…: what it has written is right, and it says how
streams()
{
    timeout -k 10 100 "$bench" "$@" "${quick[@]}" \
        --save "$work/o.csv,$work/o.json,$work/o.txt" \
        >"$work/out" 2>"$work/err" || {
        cat "$work/err"
        return 1
    }
    python3 - "$work" "$@" <<'PY'
import csv, json, sys
folder, words = sys.argv[1], sys.argv[2:]
window = words[words.index("--window") + 1]
result = json.load(open(folder + "/o.json"))
assert result["options"]["window"] == int(window)
assert f"; window {window}; batch" in open(folder + "/o.txt").read()
rows = list(csv.DictReader(open(folder + "/o.csv")))
assert len(rows) == 12, len(rows)
for row in rows:
    assert row["window"] == window and row["valid"] == "yes", row
    assert float(row["latency_us"]) > 0, row
PY
}

check 'longer than a batch' streams bw --window 8 --batch 5
check 'one at a time' streams bw --window 1 --batch 3
check 'never full' streams bw --window 100 --batch 2 --warmup 0
check 'both ways' streams bibw --window 4 --batch 9
check 'beside ping-pongs' streams lat --window 8 --batch 5
check 'by several EPs' streams bibw --window 3 --batch 7 --eps 2
