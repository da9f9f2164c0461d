#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench nbody and radix: bad input, results that are those of one rank alone
# for any number of ranks and each algorithm, what scripts depend on.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench

# run TEST NAME OPTIONS…: into NAME.csv and NAME.json
run()
{
    recorded 100 "$2" "$1" --repeat 1 "${@:3}"
}

# holds NAME 'PYTHON ASSERTIONS': rows are those of the CSV, r the JSON
holds()
{
    rows_hold "$1" "for row, other in zip(rows, r['results']):
    assert row['valid'] == 'yes' and other['valid'], row
    whole = float(row['time_us'])
    parts = [float(row[p + '_us']) for p in ('compute', 'allgather', 'p2p')]
    assert 0 < sum(parts) <= whole * 1.001, row
    assert row['algorithm'] == other['algorithm']
$2"
}

# --- bad input ----------------------------------------------------------------

refused 'no bodies' '--bodies 2' "$bench" nbody --bodies 1
refused 'no step' '--steps' "$bench" nbody --steps 0
refused 'wide angle' '--theta 2' "$bench" nbody --theta 3
refused 'fewer bodies than ranks' '--bodies 8.ranks' \
    "$bench" nbody --bodies 7 --ranks 8
refused 'fewer keys than ranks' '--keys 8.ranks' \
    "$bench" radix --keys 7 --ranks 8
refused 'digit of nothing' '--digit 16' "$bench" radix --digit 0
refused 'too many bits' '--bits 32' "$bench" radix --bits 33
refused 'no such all-gather' '--algorithm bruck' \
    "$bench" radix --algorithm a1
refused 'sizes of their own' '--sizes' "$bench" nbody --sizes 8
refused 'no rate' '--rate' "$bench" radix --rate 0
refused 'a rate of real ranks' '--rate sim:' "$bench" radix --rate 1e8
for option in --validate --iterations=2 --warmup=2 --precision=1; do
    for test in nbody radix; do
        refused "$test $option" "${option%=*}" "$bench" $test "$option"
    done
done

# --- results ------------------------------------------------------------------

check 'radix, all algorithms' \
    run radix radix --ranks 4 --ppn 2 --keys 20000 --algorithm auto,all
check '... blocks of 4 KB' holds radix '
assert len(rows) > 5
for row in rows:
    assert row["allgathers"] == str(2 * 4) and row["longest_block"] == "4096"
assert r["options"]["keys"] == 20000 and r["test"] == "radix"'
check 'radix, the last digit is shorter, ranks are odd' \
    run radix odd --ranks 3 --keys 1001 --bits 17 --digit 7 --draw 5
check '... three passes' holds odd 'assert rows[0]["allgathers"] == "9"'
check 'radix alone' run radix alone --ranks 1 --keys 500
check '... has no messages' holds alone 'assert rows[0]["messages"] == "0"'
check 'one rank alone is run as often' run radix twice --keys 500 --repeat 2
check '... and said so' grep -q 'one rank alone: .* (median of 2 runs)' \
    "$work/out"

check 'nbody, all algorithms' \
    run nbody nbody --ranks 4 --ppn 2 --bodies 300 --steps 4 --algorithm all
check '... payloads are short' holds nbody '
for row in rows:
    assert int(row["allgathers_below_64"]) >= 0.9 * int(row["allgathers"])
    assert row["longest_block"] == "512"
assert r["options"]["theta"] == 1 and r["options"]["steps"] == 4'
check 'nbody, fewer bodies a rank than samples, ranks are odd' \
    run nbody few --ranks 5 --bodies 11 --steps 6 --rebalance 1 --theta 0.5
check '... is right' holds few 'assert len(rows) == 1'
check 'nbody, all pairs' run nbody pairs --ranks 2 --bodies 100 --theta 0
check '... is right' holds pairs 'assert len(rows) == 1'

# --- simulated ----------------------------------------------------------------

rest_is_simulated

# without_command NAME: its CSV, but for the last column, in which files differ
without_command()
{
    python3 - "$work/$1.csv" <<'PY'
import csv, sys
for row in csv.reader(open(sys.argv[1])):
    print(row[:-1])
PY
}

# simulated TEST OPTIONS…: twice, with the same figures
simulated()
{
    run "$1" first --rails sim:qsnet2-4x4 --ranks 16 "${@:2}" &&
        run "$1" second --rails sim:qsnet2-4x4 --ranks 16 "${@:2}" &&
        cmp <(without_command first) <(without_command second)
}
check 'radix in virtual time' simulated radix --keys 8192 --algorithm bruck
check '... is right' holds first 'assert r["options"]["operations_per_second"]'
cp "$work/first.json" "$work/free.json"
check 'radix, a step after the other' simulated radix --keys 8192 \
    --algorithm bruck --paced --zero-copy on
check '... takes another time' holds first '
free = json.load(open(sys.argv[1].replace("first", "free") + ".json"))
assert r["options"]["paced"] and r["options"]["zero_copy"] == "on"
assert not free["options"]["paced"]
took, other = (x["results"][0]["allgather_us"]["median"] for x in (r, free))
assert took != other, took'
check '... without an interval' sh -c "! grep -q 'confidence' '$work/out'"
run radix single --rails sim:qsnet2-4x4 --ranks 1 --keys 8192
# passes of 12 operations a key and 4 a value, then 12 a count and 2 a key put
check 'a single simulated rank takes its operations' holds single '
alone = 2 * (12 * 8192 + 4 * 1024) / 500
assert abs(float(rows[0]["sequential_us"]) - alone) < 0.01 * alone
parts = alone + 2 * (12 * 1024 + 2 * 8192) / 500
assert abs(float(rows[0]["compute_us"]) - parts) < 0.01 * parts, rows'
check 'nbody in virtual time' simulated nbody --bodies 200 --steps 1
check '... is right' holds first 'whole = float(rows[0]["time_us"])'
cp "$work/first.csv" "$work/fast.csv"
check 'a slower rank' run nbody slow --rails sim:qsnet2-4x4 --ranks 16 \
    --bodies 200 --steps 1 --rate 1e7
check '... computes for longer' holds slow '
fast = next(csv.DictReader(open(sys.argv[1].replace("slow", "fast") + ".csv")))
ratio = float(rows[0]["compute_us"]) / float(fast["compute_us"])
assert 49 < ratio < 51, ratio'
