#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The common parts of all reports: units, date and command; the histogram;
# names that railbench had before.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
quick=(--rails shm0 --engine single --sizes '0,64' --iterations 20 --repeat 3)

# rows FILE CODE: CODE is true of the CSV's rows (dicts), and of its columns
rows()
{
    python3 - "$@" <<'PY'
import csv, sys
from datetime import datetime
with open(sys.argv[1], newline="") as file:
    reader = csv.DictReader(file)
    rows = list(reader)
names = reader.fieldnames
assert rows and all(None not in row for row in rows), "ragged rows"
assert eval(f"({sys.argv[2]})"), rows[0]
PY
}

# --- units --------------------------------------------------------------------

check 'all units' timeout 60 "$bench" bibw "${quick[@]}" \
    --units Gb/s,Mmsg/s,MB/s --output "$work/units.txt" \
    --save "$work/units.csv,$work/units.json"
check '... in that order' grep -Eq \
    ' us .* Gb/s +\[lo +hi\] +Mmsg/s +\[lo +hi\] +MB/s +\[lo +hi\] cpu' \
    "$work/units.txt"
check '... Gb/s are 8/1000 MB/s' rows "$work/units.csv" \
    'abs(float(rows[1]["bandwidth_Gbps"]) * 125 /
         float(rows[1]["bandwidth_MBps"]) - 1) < 1e-4'
check '... two directions: messages of both' rows "$work/units.csv" \
    'all(abs(float(r["rate_Mmsgs"]) * float(r["latency_us"]) / 2 - 1) < 1e-4
         for r in rows)'
json_units()
{
    python3 - "$work/units.csv" "$work/units.json" <<'PY'
import csv, json, sys
row = list(csv.DictReader(open(sys.argv[1])))[1]
result = json.load(open(sys.argv[2]))
batch = result["results"][1]["batch"]
for key in "bandwidth_Gbps", "rate_Mmsgs":
    assert abs(batch[key] / float(row[key]) - 1) < 1e-4, (key, batch[key])
assert result["date"] == row["date"]
PY
}
check '... JSON has the same' json_units
usual_columns()
{
    timeout 60 "$bench" bw "${quick[@]}" >"$work/usual.txt" &&
        grep -q ' us .* MB/s ' "$work/usual.txt" &&
        ! grep -q 'Gb/s' "$work/usual.txt"
}
check 'by default, MB/s' usual_columns
for units in '' MB Gb/s,Gb/s 'Gb/s,'; do
    refused "units '$units'" '--units MB/s Gb/s Mmsg/s' "$bench" bw \
        --units "$units"
done

# --- date and command ---------------------------------------------------------

# origin NAME COMMAND…: the last columns of its CSV, and line 2 of its table
origin()
{
    local name=$1
    shift
    timeout 120 "$@" --output "$work/$name.txt" --save "$work/$name.csv" &&
        rows "$work/$name.csv" 'names[-2:] == ["date", "command"] and
            all(datetime.strptime(r["date"], "%Y-%m-%dT%H:%M:%SZ")
                for r in rows)' &&
        [ "$(sed -n 2p "$work/$name.txt")" = "$(rows_line "$work/$name.csv")" ]
}
rows_line()
{
    python3 - "$1" <<'PY'
import csv, sys
row = next(csv.DictReader(open(sys.argv[1], newline="")))
print(f'# {row["date"]}: {row["command"]}')
PY
}
check 'lat says when and how' origin lat "$bench" lat "${quick[@]}"
check 'a collective does' origin coll "$bench" barrier --repeat 2
check 'an application does' origin radix "$bench" radix --keys 1024 --repeat 2
check 'proofs do' origin prove "$bench" prove --ranks 2 --collective barrier
check 'limits do' origin limits "$bench" limits --time-budget 0.1

# what a shell takes for the very arguments
odd()
{
    local dir=$work/"a, b'\"\\"
    mkdir -p "$dir"
    timeout 60 "$bench" bw "${quick[@]}" --save "$work/odd.csv" \
        --histogram "$dir/h.csv" --output "$work/odd"$'\n'"line" || return 1
    python3 - "$work/odd.csv" "$work/command" <<'PY' || return 1
import csv, sys
row = next(csv.DictReader(open(sys.argv[1], newline="")))
assert "\n" not in row["command"], row["command"]
open(sys.argv[2], "w").write(row["command"])
PY
    eval "set -- $(cat "$work/command")"
    [ "$1" = "$bench" ] && [ "${*: -3:1}" = "$dir/h.csv" ] &&
        [ "${*: -1}" = "$work/odd"$'\n'"line" ]
}
check 'a command with odd arguments' odd

if [ -e "$BUILD/lib/dapl_rail/libdapl_sim.so" ]; then
    check 'simulated' timeout 60 "$bench" lat --rails sim:qsnet2-4x4 --sizes 8 \
        --output "$work/sim.txt" --save "$work/sim.csv"
    check '... without a date' rows "$work/sim.csv" \
        'all(r["date"] == "" and "sim:qsnet2-4x4" in r["command"]
             for r in rows)'
    check '... nor in the table' grep -q "^# $bench lat" "$work/sim.txt"
fi

# --- histogram ----------------------------------------------------------------

check 'a histogram' timeout 60 "$bench" lat "${quick[@]}" \
    --histogram "$work/h.csv" --format csv --output "$work/r.csv"
whole()
{
    python3 - "$work/h.csv" "$work/r.csv" <<'PY'
import csv, itertools, sys
rows = list(csv.DictReader(open(sys.argv[1])))
results = {row["bytes"]: row for row in csv.DictReader(open(sys.argv[2]))}
key = lambda row: (row["bytes"], row["loop"], row["point"])
points = {k: list(g) for k, g in itertools.groupby(rows, key)}
assert len(points) == 2 * 2, points.keys()
for (size, loop, _), rows in points.items():
    counts = [int(row["count"]) for row in rows]
    assert sum(counts) == 3 * 20, counts
    for row, seen in zip(rows, itertools.accumulate(counts)):
        assert float(row["lowest_us"]) <= float(row["highest_us"])
        assert abs(float(row["cumulated"]) - seen / 60) < 1e-5, row
    low = [float(row["lowest_us"]) for row in rows]
    assert low == sorted(low) and float(rows[-1]["cumulated"]) == 1
    name = ("pingpong_us" if loop == "pingpong" else "latency_us") + "_max"
    longest = float(results[size][name])
    assert low[-1] <= longest * 1.00001, (low[-1], longest)
    assert longest <= float(rows[-1]["highest_us"]) * 1.00001
PY
}
check '... of all iterations' whole
check 'a histogram of single calls' timeout 60 "$bench" allgather \
    --sizes 4,4K --repeat 2 --algorithm bruck,ring --histogram "$work/h.csv" \
    --output "$work/calls.json" --format json
calls()
{
    python3 - "$work/h.csv" "$work/calls.json" <<'PY'
import csv, itertools, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
result = json.load(open(sys.argv[2]))
key = lambda row: (row["bytes"], row["algorithm"])
counts = {k: [int(row["count"]) for row in g]
          for k, g in itertools.groupby(rows, key)}
assert len(counts) == 2 * 2, counts.keys()
for cell in result["results"]:
    setup = result["configurations"][cell["configuration"]]
    found = counts[str(cell["bytes"]), setup["algorithm"]]
    kept = cell["each"]["histogram"]
    assert sum(found) == cell["each"]["calls"] == kept["count"] > 0
    assert found == [count for _, count in kept["buckets"]]
PY
}
check '... has each of them' calls
drawn()
{
    scripts/plot --quiet --kind cdf,box "$work/calls.json" &&
        test -s "$work/calls-cdf-each-4K.svg" -a -s "$work/calls-box-each-4.svg"
}
check '... is drawn' drawn
refused 'a histogram nowhere' '--histogram' "$bench" lat \
    --histogram "$work/none/h.csv"
for test in limits alltoallv prove; do
    refused "$test keeps none" '--histogram' "$bench" "$test" \
        --histogram "$work/none.csv"
done

# --- names --------------------------------------------------------------------

check 'verify is prove' timeout 60 "$bench" verify --ranks 2 \
    --collective barrier --output "$work/verify.txt"
check 'check is guidelines' sh -c '"$1" check --help | grep -q "railbench check"' \
    - "$bench"
check 'the help says both' sh -c '"$1" --help | grep -q "prove .*(also verify)" &&
    "$1" --help | grep -q "guidelines .*(also check)"' - "$bench"
check '... of options' sh -c '"$1" allgather --help |
    grep -q -- "--selection FILE .*(also --table)"' - "$bench"
refused 'what was typed' 'railbench.verify: --draws' "$bench" verify --draws x
refused '... now' 'railbench.prove: --draws' "$bench" prove --draws x
refused 'an option by its old name' '--table:' "$bench" allgather --table ''
refused '... and by its name' '--selection:' "$bench" allgather --selection=
refused 'no part of a name' '--select' "$bench" allgather --select x
for option in --table --selection; do
    ignored()
    {
        timeout 60 "$bench" barrier --repeat 1 "$1" "$work/none" \
            >"$work/out" 2>"$work/err" &&
            grep -q -- " $1: .*ignored" "$work/err"
    }
    check "$option of no file is ignored" ignored $option
done
