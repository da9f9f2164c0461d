#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench alltoallv: bad input, what scripts depend on, data of all algorithms
# by all interfaces, files of counts, pictures, compare-coll.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
quick=(--iterations 1 --repeat 1 --warmup 1)

# refuses NAME 'REGEX…' OPTIONS…: railbench alltoallv does
refuses()
{
    refused "$1" "$2" "$bench" alltoallv "${@:3}"
}

# run NAME OPTIONS…: into NAME.csv and NAME.json
run()
{
    recorded 100 "$1" alltoallv "${quick[@]}" "${@:2}"
}

# --- bad input ----------------------------------------------------------------

refuses 'unknown pattern' '--pattern nonsense spike zipf' --pattern nonsense
refuses 'pattern twice' '--pattern once' --pattern zipf,zipf
refuses 'unknown interface' '--interface other counts' --interface other
refuses 'neighbours with bounds' '--interface neighbors no bounds' \
    --interface counts,neighbors --bounded
refuses 'elements of nothing' '--element 1048576' --element 0
refuses 'no room for a destination' '--element 3 4' \
    --element 3 --interface elements
refuses 'more than the memory' '--elements 1073741824 GB' --elements 1G
refuses 'a3 of no square' '--algorithm a3 square' --ranks 5 --algorithm a3
refuses 'sizes in bytes' '--sizes' --sizes 8
refuses 'a root' '--root' --root 0

# file TEXT: a file of counts
file()
{
    # shellcheck disable=SC2059 # the text has its line ends
    printf "$1" >"$work/counts"
}
file '0 1\n2 -3\n'
refuses 'negative count' "line.2,.column.2.is.'-3'" \
    --pattern "file:$work/counts"
file '0 1\n4294967296 3\n'
refuses 'count too large' 'line.2,.column.1' --pattern "file:$work/counts"
file '0 1\n2\n'
refuses 'short line' 'line.2.ends.after.column.1' --pattern "file:$work/counts"
file '0 1 2\n3 4 5\n'
refuses 'long line' 'line.1,.column.3' --pattern "file:$work/counts"
file '0 1\n'
refuses 'line that is missing' 'after.line.1' --pattern "file:$work/counts"
refuses 'no file' 'No.such.file' --pattern "file:$work/none"
file '0 4000000000\n0 0\n'
refuses 'multiplied too far' '--elements 2' \
    --pattern "file:$work/counts" --elements 2

# --- data, and what scripts depend on -----------------------------------------

check 'all algorithms, interfaces and patterns' \
    run all --ranks 4 --algorithm auto,all --interface counts,elements \
    --elements 1,40 --element 22 --validate
check 'each is valid, and said to be what it is' rows_hold all '
names = {row["algorithm"] for row in rows}
assert {"auto", "a1", "a2-n1", "a3-n2", "mesh", "a4", "a4-n2"} <= names, names
cases = {(row["algorithm"], row["pattern"], row["interface"], row["elements"])
         for row in rows}
assert len(cases) == len(rows)
by_both = {name: {row["interface"] for row in rows
                  if row["algorithm"] == name} for name in names}
assert len(by_both["a4"]) == len(by_both["auto"]) == 2, by_both
assert len(rows) == sum(map(len, by_both.values())) * 5 * 2, len(rows)
for row in rows:
    assert row["valid"] == "yes" and row["test"] == "alltoallv", row
    assert int(row["bytes"]) == 22 * int(row["elements"]), row
    assert row["chosen"] == row["algorithm"] or row["algorithm"] == "auto", row
    assert row["chosen"], row
    low, mid, high = (float(row["latency_us" + s]) for s in ("_lo", "", "_hi"))
    assert 0 < low <= mid <= high, row
    assert float(row["model_us"]) > 0, row
    parts = {name: float(row[name + "_us"]) for name in
             ("distribute", "communicate", "collect", "deliver")}
    assert all(us >= 0 for us in parts.values()), row
    if row["chosen"].startswith("a4"):
        assert all(parts.values()), row
totals = {(row["pattern"], row["elements"]): int(row["total_bytes"]) // 22
          for row in rows}
assert totals["spike", "40"] == totals["transpose", "40"] == 4 * 40 + 12
assert totals["alltoone", "40"] == 4 * 40
assert totals["zipf", "40"] == 4 * (40 + 20 + 13 + 10)'

# Each point finds its like.
same()
{
    timeout 60 "$bench" diff "$work/all.json" "$work/all.json" --format csv \
        --output "$work/diff.csv" && python3 - "$work" <<'PY'
import csv, sys
rows, of = (list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv", newline="")))
            for name in ("diff", "all"))
assert len(rows) == len(of), (len(rows), len(of))
for row in rows:
    assert float(row["ratio"]) == 1, row
PY
}
check 'as diff reads it' same

file '# from each rank to each other\n0 1 2\n3,0,5\n\n6 0 0\n'
check 'counts of a file, as they are' \
    run file --ranks 3 --pattern "file:$work/counts" --validate
check 'their sums' rows_hold file '
row, = rows
assert row["valid"] == "yes"
assert (row["elements"], row["total_bytes"], row["longest_bytes"],
        row["most_bytes"]) == ("1", str(17 * 48), str(6 * 48), str(9 * 48))'
check 'multiplied, prepared once' \
    run persistent --ranks 3 --pattern "file:$work/counts" --elements 0,1,7 \
    --persistent --validate
for form in '' --persistent; do
    check "neighbours ${form:-at once}" run neighbors --ranks 4 --ppn 2 \
        --pattern transpose,uniform --rest 0 --interface neighbors,counts \
        --elements 0,1,3K --algorithm auto,direct,a4 --validate $form
    check '... are valid, and said to be such' rows_hold neighbors '
assert all(row["valid"] == "yes" for row in rows)
assert len(rows) == 2 * 2 * 3 * 3, len(rows)
assert {row["interface"] for row in rows} == {"neighbors", "counts"}'
done
check 'by two nodes, with bounds' \
    run nodes --ranks 5 --ppn 2 --pattern uniform --elements 30 --bounded \
    --interface elements,counts --algorithm auto,a4 --validate

# Theorem 2 and equation 4, with numbers that are easy to add up.
check 'the model' run model --ranks 9 --pattern alltoone --elements 10 \
    --element 1 --algorithm a1,a1-n1,a2,a3,a4 --ts 100 --tm 1 --tc 2 --td 3 \
    --contention 2
check 'its figures' rows_hold model '
L = 90
model = {row["algorithm"]: float(row["model_us"]) for row in rows}
wanted = {"a1": 9 * 100 + L * 9, "a1-n1": L + max(9 * 100, L * 6),
          "a2": 18 * 100 + 2 * L * 9, "a3": 6 * 100 + 2 * L * 9,
          "a4": 14 * 100 + 4 * 4 * 3 * L / 9 * 9}
assert model == wanted, (model, wanted)'
# The paper has no such schedule, so it is played: 32 bytes of counts, then 10
# to rank 0.
check 'that of a schedule' run played --ranks 2 --pattern alltoone \
    --elements 10 --element 1 --algorithm direct --ts 100 --tm 1 --td 3 \
    --contention 2
check 'its figure' rows_hold played 'assert float(rows[0]["model_us"]) == 452'

# --- pictures, and beside others ----------------------------------------------

# pictures NAME ENDING…
pictures()
{
    local name=$1 ending
    shift
    "$SOURCE/scripts/plot" --quiet "$work/$name.json" || return 1
    for ending in "$@"; do
        [ -s "$work/$name$ending.svg" ] || return 1
    done
}
if command -v gnuplot >/dev/null; then
    check 'pictures' pictures all -{spike,zipf}{-1,-2,-parts}
    check 'of one pattern' pictures file '' -parts
fi

export BUILD
short_run()
{
    timeout -k 10 200 "$SOURCE/scripts/compare-coll" --repeat 1 --ranks 2 --search 0 \
        --elements 4 --element 22 --collectives alltoallv \
        --peers openmpi,mpich,mpich-wheel "$work/coll" \
        >"$work/out" 2>"$work/err" || {
        cat "$work/out" "$work/err"
        return 1
    }
    python3 - "$work/coll" <<'PY'
import csv, sys
folder = sys.argv[1]
text = open(folder + "/coll.txt", encoding="utf-8").read()
with open(folder + "/coll.csv", newline="") as file:
    rows = list(csv.DictReader(file))
tests = {row["test"] for row in rows if row["program"] == "dapl_rail"}
assert len(tests) == 5 and "alltoallv-spike-22" in tests, tests
for peer in "Open MPI", "MPICH", "MPICH (wheel)":
    measured = any(row["program"] == peer for row in rows)
    assert measured != (f"{peer}: left out" in text), peer
PY
}
check 'compare-coll: a short run of all patterns' short_run
