#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reports say how many batches have warmed up, where it was fewer than usual.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

# 100 MB take at least 50 ms over a rail of 2000 MB/s
long=(--rails ultra24-a0 --engine single --repeat 1 --sizes "8,2M" --batch 50)

# measures OPTIONS…
measures()
{
    timeout -k 10 100 "$BUILD/bin/railbench" bw "${long[@]}" "$@" \
        --save "$work/o.csv,$work/o.json,$work/o.txt" >"$work/out" 2>"$work/err"
}

# says 'PYTHON EXPRESSION': on ran, the warm-up by bytes; reports agree on it
says()
{
    python3 - "$work/o" "$1" <<'PY'
import csv, json, re, sys
path, expression = sys.argv[1:]
rows = json.load(open(path + ".json"))["results"]
ran = {row["bytes"]: row["batch"]["warmup"] for row in rows}
assert eval(expression), ran
for row in csv.DictReader(open(path + ".csv")):
    assert int(row["warmup"]) == ran[int(row["bytes"])], row
head = re.search(r"warm-up (\d+)(?: to (\d+))?, ", open(path + ".txt").read())
least, most = min(ran.values()), max(ran.values())
assert int(head[1]) == least and int(head[2] or least) == most, head
PY
}

check 'long batches' measures
check '… warm up less' says 'ran[2 << 20] < 10'
check 'as many as wanted' measures --warmup 3 --iterations 1
check '… have run' says 'set(ran.values()) == {3}'
