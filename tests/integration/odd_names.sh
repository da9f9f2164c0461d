#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Names of files and hosts are bytes: JSON is strict all the same, CSV regular,
# and railbench diff reads what railbench wrote, compressed or not.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
quick=(--engine single --iterations 3 --warmup 1 --repeat 2)

strict() # JSON CSV
{
    python3 - "$@" <<'PY'
import csv, json, sys
def refuse(word):
    raise ValueError(word)
def text(path):
    return open(path, "rb").read().decode("utf-8")
if not json.loads(text(sys.argv[1]), parse_constant=refuse)["results"]:
    raise ValueError("no results")
rows = list(csv.reader(text(sys.argv[2]).splitlines(True)))
assert len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])}, rows
PY
}

for name in $'latin-\xe9' utf-8-é漢 'a"b' 'a,b' $'two\nlines' $'tab\tdel\x7f' \
    "it's" $'\xff\xfe\'\x01'; do
    d=$work/$name
    shown=$(printf %q "$name")
    mkdir "$d"
    check "$shown is measured" "$bench" bw --sizes 0,8 "${quick[@]}" \
        --format json --output "$d/r.json" --save "$work/r.csv"
    check "$shown is strict JSON, regular CSV" strict "$d/r.json" "$work/r.csv"
    check "$shown is read" "$bench" diff "$d/r.json" "$d/r.json" \
        --output "$work/table"
    check "the table of $shown is UTF-8" iconv -f utf-8 -t utf-8 \
        -o "$work/iconv" "$work/table"
done
# the command of CSV is what a shell takes
again()
{
    python3 -c 'import csv, sys
print(list(csv.DictReader(open(sys.argv[1])))[0]["command"])' "$work/r.csv" \
        >"$work/command"
    rm -r "$d"
    mkdir "$d"
    (cd "$BUILD/bin" && bash "$work/command") && [ -s "$d/r.json" ]
}
check 'the command can be run again' again

cp "$work/latin-"*/r.json "$work/r.json"
gzip -k "$work/r.json"
check 'diff reads .json.gz' "$bench" diff "$work/r.json.gz" "$work/r.json" \
    --output "$work/table"
check 'diff reads it from a pipe' "$bench" diff <(cat "$work/r.json.gz") \
    "$work/r.json" --output "$work/table"
check 'diff reads several launches' "$bench" diff \
    "$work/r.json.gz,$work/r.json" "$work/r.json,$work/r.json.gz" \
    --output "$work/table"
mv "$work/r.json.gz" "$work/packed.json"
check 'diff goes by the content' "$bench" diff "$work/packed.json" \
    "$work/r.json" --output "$work/table"
head -c 300 "$work/packed.json" >"$work/cut.json.gz"
refused 'a file that is cut off' 'OLD damaged' "$bench" diff \
    "$work/cut.json.gz" "$work/r.json"
refused 'no gzip' 'OLD gzip' env PATH=/nowhere "$bench" diff "$work/packed.json" \
    "$work/r.json"

host() # NAME
{
    unshare -u python3 -c 'import os, socket, sys
socket.sethostname(os.fsencode(sys.argv[1]))
os.execv(sys.argv[2], sys.argv[2:])' "$1" "$bench" bw --sizes 8 "${quick[@]}" \
        --save "$work/h.json,$work/h.csv" --output "$work/table"
}
unshare -u true 2>/dev/null || skip 'no namespace of host names'
for name in $'h\xf6st' 'h"o,st' ''; do
    check "a host called $(printf %q "$name")" host "$name"
    check '... is strict JSON' strict "$work/h.json" "$work/h.csv"
    check '... is a table of UTF-8' iconv -f utf-8 -t utf-8 \
        -o "$work/iconv" "$work/table"
done
