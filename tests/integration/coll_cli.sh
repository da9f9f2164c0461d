#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tests of collectives in railbench: bad input, what scripts depend on,
# data of all algorithms at odd shapes, tune, check.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
quick=(--iterations 2 --repeat 1 --warmup 1)

# --- bad input ----------------------------------------------------------------

refused 'unknown algorithm' '--algorithm nonsense auto all bruck' \
    "$bench" allgather --algorithm nonsense
refused 'algorithm of another collective' '--algorithm tree bruck' \
    "$bench" allgather --algorithm tree
refused 'one of two algorithms' "--algorithm 'odd'" \
    "$bench" gather --algorithm direct,odd
refused 'algorithm twice' '--algorithm once' \
    "$bench" gather --algorithm direct,direct
refused 'no algorithm' '--algorithm' "$bench" gather --algorithm ''
refused 'algorithm that refuses the shape' '--algorithm shm-allgather node' \
    "$bench" allgather --ranks 4 --ppn 2 --algorithm shm-allgather
refused 'root out of range' "--root '4' 0 3" "$bench" bcast --ranks 4 --root 4
refused 'more groups than ranks' "--groups '3' 1 2" \
    "$bench" allgather --ranks 4 --ppn 2 --groups 3
refused 'no ports' '--ports 1' "$bench" alltoall --ports 0
refused 'zero copy, perhaps' '--zero-copy perhaps auto on off' \
    "$bench" gather --zero-copy perhaps
refused 'a call of another kind' '--call slow persistent blocking' \
    "$bench" gather --call slow
refused 'a call twice' '--call blocking,blocking' \
    "$bench" gather --call blocking,blocking
refused 'start, some time' '--start later time barrier' \
    "$bench" gather --start later
refused 'size of a barrier' '--sizes 8' "$bench" barrier --sizes 8
refused 'broadcast in place' '--in-place' "$bench" bcast --in-place
refused 'unequal blocks of a broadcast' '--unequal bcast allgather' \
    "$bench" bcast --unequal
refused 'unequal blocks in place' '--unequal --in-place' \
    "$bench" allgather --unequal --in-place
refused 'an operation of integers' "--op 'bor' double" \
    "$bench" allreduce --op bor
refused 'elements of no type' "--type 'complex' double" \
    "$bench" reduce --type complex
refused 'a part of an element' "--sizes '12' 8" "$bench" reduce --sizes 8,12
refused 'tune with a part of an element' "--sizes '4' double" \
    "$bench" tune --type double
refused 'root of an all-reduce' "--root 'allreduce' reduce" \
    "$bench" allreduce --ranks 4 --root 1
for test in tune check; do
    refused "$test: an operation of nothing" "--op 'bxor' reduce" \
        "$bench" $test --collective bcast --op bxor
    refused "$test: elements of nothing" "--type 'int8' reduce" \
        "$bench" $test --collective bcast,gather --type int8 --op bxor
done
refused 'operation of a gather' '--op --help' "$bench" gather --op sum
refused 'root of an all-gather' '--root allgather bcast' \
    "$bench" allgather --ranks 4 --root 1
refused 'groups of a gather' '--groups gather allgather' \
    "$bench" gather --ranks 4 --groups 2
refused 'zero copy of nothing' '--zero-copy barrier' \
    "$bench" barrier --zero-copy on
refused 'more than the memory' "--sizes '1073741824' GB" \
    "$bench" alltoall --ranks 64 --sizes 8,1G
refused 'tune in more than the memory' "--sizes '1073741824' GB" \
    "$bench" tune --shapes 2,64 --collective bcast,alltoall --sizes 8,1G
refused 'tune by a table' '--table' "$bench" tune --table "$work/none"
refused 'tune of no collective' '--collective nonsense alltoall' \
    "$bench" tune --collective nonsense
refused 'shape of no ranks' '--shapes' "$bench" check --shapes 4,0:2
refused 'tune as CSV' '--format csv' "$bench" tune --format csv

# --- what scripts depend on -------------------------------------------------

header='test,fabric,rails,engine,policy,algorithm,ranks,ppn,ports,bytes,'
header+='iterations,latency_us,latency_us_p99,latency_us_lo,latency_us_hi,'
header+='bandwidth_MBps,bandwidth_MBps_lo,bandwidth_MBps_hi'

# csv_is_good FILE TEST RANKS PPN SIZES VALID: every algorithm at every size
csv_is_good()
{
    python3 - "$header" "$@" <<'PY'
import csv, sys
header, path, test, ranks, ppn, sizes, valid = sys.argv[1:]
with open(path, newline="") as f:
    assert f.readline().startswith(header), "header"
    f.seek(0)
    rows = list(csv.DictReader(f))
assert rows, "no rows"
found = {(r["algorithm"], r["bytes"]) for r in rows}
names = {name for name, _ in found}
assert found == {(n, s) for n in names for s in sizes.split(",")}, found
for r in rows:
    assert (r["test"], r["ranks"], r["ppn"]) == (test, ranks, ppn), r
    low, mid, high = (float(r["latency_us" + s]) for s in ("_lo", "", "_hi"))
    assert 0 < low <= mid <= high, r
    assert 0 < float(r["latency_us_avg"]) <= mid * 1.0001, r
    if int(ranks) > 1 and r["bytes"] != "0":
        assert float(r["bandwidth_MBps"]) > 0, r
        assert float(r["model_us"]) > 0, r
        size, others = int(r["bytes"]), int(ranks) - 1
        moved = {"bcast": size, "reduce": size, "scan": size, "exscan": size,
                 "allreduce": 2 * others * size / int(ranks),
                 }.get(test, others * size)
        rate, expected = float(r["busbw_MBps"]), moved / mid
        assert abs(rate - expected) < 1e-3 * expected, (rate, expected)
    else:
        assert r["busbw_MBps"] == "", r
    assert int(r["invalid"]) >= 0, r
    assert r["partial"] == "no" and r["valid"] == valid, r
    assert r["algorithm"] == "auto" or r["chosen"] == r["algorithm"], r
PY
}

# everything TEST RANKS PPN SIZES OPTIONS…: all algorithms, every byte checked
everything()
{
    local test=$1 ranks=$2 ppn=$3 sizes=$4
    shift 4
    timeout -k 10 100 "$bench" "$test" --ranks "$ranks" --ppn "$ppn" \
        --algorithm auto,all --sizes "$sizes" --validate "${quick[@]}" "$@" \
        --format csv --output "$work/$test.csv" 2>"$work/err" ||
        {
            cat "$work/err"
            return 1
        }
    csv_is_good "$work/$test.csv" "$test" "$ranks" "$ppn" "$sizes" yes
}

# unequal TEST RANKS PPN: also blocks without a byte, and blocking calls
unequal()
{
    timeout -k 10 100 "$bench" "$1" --ranks "$2" --ppn "$3" --unequal \
        --algorithm auto,all --sizes 8,104,40000 --validate "${quick[@]}" \
        --call persistent,blocking --format json --output "$work/unequal" \
        2>"$work/err" || {
        cat "$work/err"
        return 1
    }
    python3 - "$work/unequal" "$2" <<'PY'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    run = json.load(file)
assert run["options"]["unequal"] is True, run["options"]
rows, ranks = run["results"], int(sys.argv[2])
assert {row["bytes"] for row in rows} == {8, 104, 40000}, rows
assert all(row["valid"] for row in rows), rows
PY
}

many_ranks()
{
    timeout 120 "$bench" alltoall --ranks 64 --ppn 8 --sizes 8 --validate \
        "${quick[@]}" >"$work/out" 2>&1 ||
        {
            cat "$work/out"
            return 1
        }
}

for test in gather allgather alltoall bcast scatter; do
    check "$test of 5 ranks, 2 on a node" everything $test 5 2 0,1,13,3000,40000
    check "$test of 4 ranks on a node, zero copy" \
        everything $test 4 4 8,20000 --zero-copy on
    check "$test of one rank" everything $test 1 1 0,100
done
for test in reduce allreduce reduce_scatter_block scan exscan; do
    check "$test of 5 ranks, 2 on a node" \
        everything $test 5 2 0,8,24,3000,40000 --ports 3
    check "$test of 4 ranks on a node, zero copy" \
        everything $test 4 4 8,20000 --zero-copy on --type uint16 --op prod
    check "$test of one rank, in place" everything $test 1 1 0,104 --in-place
done
check 'reduce in place, another root, of one byte' \
    everything reduce 5 3 9,20000 --in-place --root 4 --type int8 --op max
check 'all-reduce in place, blocking' everything allreduce 3 2 8,20000 \
    --in-place --call persistent,blocking --op prod
for test in reduce_scatter_block scan exscan; do
    check "$test in place, blocking" everything $test 4 2 8,20000 \
        --in-place --call persistent,blocking --op max
done
check 'barrier of 5 ranks, 2 on a node' everything barrier 5 2 0
for test in gather bcast scatter; do
    check "$test with another root" everything $test 5 3 9,20000 --root 4
done
for test in gather allgather alltoall; do
    check "$test in place" everything $test 5 2 9,20000 --in-place
done
for test in gather allgather scatter reduce_scatter_block; do
    check "$test of unequal blocks, 5 ranks, 2 on a node" unequal $test 5 2
    check "$test of unequal blocks, 4 ranks on a node" unequal $test 4 4
done
check '64 ranks on 8 nodes' many_ranks
check 'three ports' everything alltoall 6 6 7,3000 --ports 3
check 'groups' everything allgather 6 3 7,3000 --groups 2
check 'one step after the other' everything allgather 5 2 7,40000 --paced
check 'a common start' everything allgather 2 2 8 --start time
check 'blocking calls, and single ones' everything alltoall 3 3 9,20000 \
    --call persistent,blocking --each
where_ranks_run()
{
    timeout -k 10 60 "$bench" bcast --ranks 3 --sizes 8 "${quick[@]}" \
        --format json --output "$work/pinned.json" &&
        python3 - "$work/pinned.json" <<'PY'
import json, os, sys
pinning = json.load(open(sys.argv[1]))["pinning"]
assert [p["rank"] for p in pinning] == [0, 1, 2], pinning
allowed = os.sched_getaffinity(0)
assert all(p["main_core"] in allowed for p in pinning), (pinning, allowed)
assert len({p["main_core"] for p in pinning}) == min(3, len(allowed)), pinning
PY
}
check 'JSON: the core of each rank' where_ranks_run
check 'two engines' everything allgather 3 3 40000 --engine single,threaded

json_and_diff()
{
    local file
    for file in old new; do
        timeout -k 10 60 "$bench" allgather --algorithm bruck,direct --sizes 8,1K \
            --repeat 6 --save "$work/$file.json" >"$work/out" || return 1
    done
    # status 1: something got slower, which is none of our business
    timeout 60 "$bench" diff "$work/old.json" "$work/new.json" \
        --format csv --output "$work/diff.csv"
    [ $? -le 1 ] && [ "$(wc -l <"$work/diff.csv")" -eq 5 ] &&
        grep -q ',bruck,1024,' "$work/diff.csv"
}
check 'JSON, as diff reads it' json_and_diff

left_out()
{
    timeout 60 "$bench" allgather --ranks 4 --ppn 2 --algorithm all --sizes 8 \
        "${quick[@]}" >"$work/out" 2>&1 &&
        grep -q 'note: left out: shm-allgather: ' "$work/out" &&
        grep -q 'note: 2 nodes are emulated' "$work/out"
}
check 'what is left out is told' left_out

# --- tune and check -----------------------------------------------------------

tuned()
{
    timeout -k 10 100 "$bench" tune --collective allgather,barrier --shapes 2,4:2 \
        --sizes 8,4K "${quick[@]}" --output "$work/table" || return 1
    [ "$(grep -c '^allgather 4 2 2 nonthreaded ' "$work/table")" -eq 2 ] ||
        return 1
    grep -q '^# .* median, range of fewer than 6 repeats' "$work/table" ||
        return 1
    # the table decides, whatever it says
    sed -E 's/^(allgather 2 2 2 nonthreaded 8) [^ ]+ ./\1 ring 0/' "$work/table" \
        >"$work/ring"
    timeout 60 "$bench" allgather --sizes 8 "${quick[@]}" --table "$work/ring" \
        --format csv --output "$work/auto.csv" 2>"$work/err" || return 1
    ! grep -v 'same cores' "$work/err" && grep -q ',ring,' "$work/auto.csv"
}
check 'tune makes a table that auto follows' tuned

# Each engine has its rows, of what was measured with it.
tuned_engines()
{
    timeout -k 10 100 "$bench" tune --collective barrier --ranks 2 \
        --engine single,threaded "${quick[@]}" --output "$work/engines" ||
        return 1
    [ "$(grep -Ec '^barrier 2 2 2 (single|threaded) 0 ' "$work/engines")" \
        -eq 2 ] && ! grep -q nonthreaded "$work/engines"
}
check 'tune measures the engines that are named' tuned_engines

tuned_reduction()
{
    timeout -k 10 100 "$bench" tune --collective reduce,allreduce --ranks 3 \
        --sizes 8 --type int64 --op max "${quick[@]}" --output "$work/table2" ||
        return 1
    [ "$(grep -cE '^(all)?reduce 3 3 2 nonthreaded 8 ' "$work/table2")" -eq 2 ] ||
        return 1
    sed -E 's/^(allreduce 3 3 2 nonthreaded 8) [^ ]+ ./\1 halving 0/' \
        "$work/table2" >"$work/halving"
    timeout 60 "$bench" allreduce --ranks 3 --sizes 8 "${quick[@]}" \
        --selection "$work/halving" --format csv --output "$work/auto.csv" \
        2>"$work/err" && grep -q ',halving,.*,double,sum,' "$work/auto.csv"
}
check 'tune of reductions, which auto follows' tuned_reduction
refused 'tune of two policies' "--policy weighted one second" \
    "$bench" tune --policy even,weighted

# ignored SED-EXPRESSION TEXT: a table that can't be used is told once
ignored()
{
    sed -E "$1" "$work/table" >"$work/bad"
    timeout 60 "$bench" allgather --sizes 8 "${quick[@]}" --table "$work/bad" \
        >"$work/out" 2>"$work/err" && [ "$(grep -vc 'same cores' "$work/err")" -eq 1 ] &&
        grep -q -- "--table.*ignored.*$2" "$work/err"
}
check 'table of another machine' ignored 's/^cpu .*/cpu Another/' 'line 3'
check 'table of another version' ignored 's/^library .*/library 0.0.0/' 'line 2'
check 'table of another format' ignored '1s/.*/dcoll-table 99/' 'line 1'
check 'table with an unknown algorithm' \
    ignored 's/^(allgather 2 2 2 nonthreaded 8) [^ ]+/\1 best/' 'allgather best'
check 'malformed table' ignored 's/^(allgather 2 2) .*/\1/' malformed
check 'empty table' ignored d 'line 0'

guidelines()
{
    timeout -k 10 100 "$bench" check --collective allgather,gather --ranks 3 \
        --sizes 8,24 "${quick[@]}" --format json --output "$work/check.json"
    [ $? -le 1 ] && python3 - "$work/check.json" <<'PY'
import json, sys
result = json.load(open(sys.argv[1]))
assert result["compared"] > 10, result["compared"]
for v in result["violations"]:
    assert v["latency_us"]["lo"] > v["than_us"]["hi"], v
PY
}
check 'check compares, and names what is violated' guidelines
compared()
{
    timeout -k 10 100 "$bench" check --collective "$1" --ranks 3 --sizes 8 \
        "${quick[@]}" | sed -En 's/^# [0-9]+ of ([0-9]+) comparisons.*/\1/p'
}
# one more than those of each by itself
composed()
{
    [ "$(compared reduce,bcast,allreduce)" -eq \
        $(($(compared reduce,allreduce) + $(compared bcast) + 1)) ]
}
check 'check compares an all-reduce with a reduce and a broadcast' composed
