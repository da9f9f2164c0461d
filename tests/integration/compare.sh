#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench breakdown, limits and diff, the percentage of the limit in the
# reports, and the pictures of all of them.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
# on a busy machine each exchange costs two turns of the scheduler
quick=(--sizes 512,64K --iterations 1 --warmup 1 --batch 4)

# status WANTED COMMAND…
status()
{
    local wanted=$1
    shift
    timeout -k 10 100 "$@" >"$work/out" 2>"$work/err"
    exited_with "$wanted" $?
}

# wrong COMMAND…: exit status 2, one line on stderr, no file left behind
wrong()
{
    status 2 "$@" && [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ]
}

# holds FILE 'PYTHON ASSERTIONS': r is the JSON result
holds()
{
    python3 -c "
import json, sys
r = json.load(open(sys.argv[1]))
$2" "$1"
}

# --- breakdown and the limit ----------------------------------------------

check 'breakdown' status 0 "$bench" breakdown "${quick[@]}" --repeat 2 \
    --save "$work/breakdown.json,$work/breakdown.csv"
check 'its parts add up to the elapsed time' holds "$work/breakdown.json" '
assert {row["bytes"] for row in r["results"]} == {512, 65536}
assert r["options"]["stripe_threshold"] == 0
for row in r["results"]:
    for repeat in row["batch"]["repeats"]:
        assert repeat["post_ns"] > 0 and repeat["wait_ns"] >= 0, repeat
        assert repeat["post_ns"] + repeat["wait_ns"] <= repeat["ns"], repeat'
declare -A repeats=([bw]=6 [bibw]=2 [lat]=2) # diff is shown with bw's
for test in bw bibw lat; do
    check "$test" status 0 "$bench" $test "${quick[@]}" \
        --repeat "${repeats[$test]}" \
        --save "$work/$test.json,$work/$test.csv"
    check "$test tells its part of the limit" holds "$work/$test.json" '
assert any("ref%" in note for note in r["notes"])
for row in r["results"]:
    value = [row["limit"][k] for k in row["limit"] if k != "kind"][0]
    loop = row["pingpong" if r["test"] == "lat" else "batch"]
    pct = (100 * value / loop["latency_us"]["median"] if r["test"] == "lat"
           else 100 * loop["bandwidth_MBps"]["median"] / value)
    assert abs(row["limit_pct"] / pct - 1) < 1e-6, row'
    figure=$([[ $test == lat ]] && echo latency_us || echo bandwidth_MBps)
    check "$test repeats its limit with its rows" holds "$work/$test.json" '
figure = "'"$figure"'"
for row in r["results"]:
    limit = row["limit"]
    # a transfer that takes too long, as under load, has no value
    assert (0 < limit["n"] <= '"${repeats[$test]}"'
            if r["test"] == "lat" else limit["n"] == '"${repeats[$test]}"'), row
    assert (0 < limit[figure + "_lo"] <= limit[figure]
            <= limit[figure + "_hi"]), row'
    check "$test has the same limits in its CSV" python3 -c '
import csv, json, sys
unit, figure = (("us", "latency_us") if sys.argv[3] == "lat"
                else ("MBps", "bandwidth_MBps"))
other = "MBps" if unit == "us" else "us"
rows = list(csv.DictReader(open(sys.argv[1])))
for row, cell in zip(rows, json.load(open(sys.argv[2]))["results"],
                     strict=True):
    for end in "", "_lo", "_hi":
        said, meant = float(row[f"limit_{unit}{end}"]), cell["limit"][figure + end]
        assert abs(said / meant - 1) < 1e-4, (end, row)
        assert not row[f"limit_{other}{end}"], row
' "$work/$test.csv" "$work/$test.json" "$test"
done
check 'bw over modelled rails' status 0 "$bench" bw --sizes 64K \
    --rails ultra24-a0,ultra24-a1 --iterations 3 --repeat 1 \
    --save "$work/model.json"
check 'tells its part of the links'"'"' rate' holds "$work/model.json" '
for row in r["results"]:
    rails = 1 if row["engine"] == "single" else 2
    assert row["limit"] == {"kind": "link", "bandwidth_MBps": 2000 * rails}'

# --- limits -------------------------------------------------------------------

check 'limits' status 0 "$bench" limits --sizes 4K,1M --repeat 2 \
    --save "$work/limits.json,$work/limits.csv"
check 'which are too few for an interval' sh -c \
    'grep -q "fewer than 6 repeats" "$1" && ! grep -q "confidence interval" "$1"' \
    - "$work/out"
check 'has copies, cache lines and the machine' holds "$work/limits.json" '
assert {row["bytes"] for row in r["copies"]} == {4096, 1 << 20}
assert {row["buffers"] for row in r["copies"]} == {"cached", "uncached"}
assert all(row["bandwidth_MBps"]["median"] > 0 for row in r["copies"])
assert all(row["latency_ns"]["median"] > 0 for row in r["cache_lines"])
threads = r["machine"]["allowed_threads"]
assert max(row["threads"] for row in r["copies"]) == threads
assert len(r["cache_lines"]) == threads * (threads - 1) or threads > 64
assert {"Machine", "Core", "PU"} <= {o["type"] for o in r["topology"]}'
for sizes in 0 65M 4K:1G x; do
    check "limits refuses --sizes $sizes" wrong "$bench" limits --sizes $sizes
done
check 'limits refuses options on rails' wrong "$bench" limits --engine single

# --- diff ---------------------------------------------------------------------

# scaled FACTOR FILE: the result with all times longer by a factor
scaled()
{
    python3 - "$1" "$work/bw.json" "$2" <<'PY'
import json, sys
factor = float(sys.argv[1])
r = json.load(open(sys.argv[2]))
r["revision"] = "other"
for row in r["results"]:
    for i, repeat in enumerate(row["batch"]["repeats"]):
        # a small spread, so that nothing depends on this machine's
        repeat["ns"] = int(1e6 * factor * (1 + i / 1000))
json.dump(r, open(sys.argv[3], "w"))
PY
}
scaled 1 "$work/old.json"
scaled 1.01 "$work/near.json"
scaled 1.5 "$work/slow.json"
check 'diff of a file and itself' status 0 "$bench" diff "$work/old.json" \
    "$work/old.json"
check 'diff: 1 % is too little' status 0 "$bench" diff "$work/old.json" \
    "$work/near.json"
check 'diff: slower' status 1 "$bench" diff "$work/old.json" \
    "$work/slow.json" --format json --output "$work/slower.json"
check 'every point is slower' holds "$work/slower.json" '
assert r["slower"] == len(r["points"]) > 0 and r["faster"] == 0
for point in r["points"]:
    assert point["delta"] == -1 and point["p"] < 0.05, point
    assert abs(point["ratio"] * 1.5 - 1) < 0.01, point
assert not r["environment"]'
check '... so many points, corrected' holds "$work/slower.json" '
assert r["correction"] == "Benjamini-Hochberg"
assert r["compared_points"] == len(r["points"])
assert all(p["p"] <= p["q"] < 0.05 for p in r["points"])'
check 'the text tells their number' sh -c \
    '"$1" diff "$2" "$3" | grep -q "corrected for [1-9][0-9]* points"' - "$bench" \
    "$work/old.json" "$work/slow.json"

# launches FACTOR…: results of as many launches, joined by commas
launches()
{
    local factor list=
    for factor; do
        scaled "$factor" "$work/at-$factor.json"
        list=$list,$work/at-$factor.json
    done
    echo "${list#,}"
}
phases=$(launches 1 1.5 1.01 1.52 1.02 1.48)
check 'one launch each: phases of the machine differ' status 1 "$bench" diff \
    "$work/at-1.json" "$work/at-1.5.json"
check 'several: phases that both met are none' status 0 "$bench" diff \
    "$phases" "$(launches 1.03 1.53 1.04 1.49 1.01 1.47)" \
    --output "$work/launches.txt"
check '... it says how many' grep -q 'each launch, 6 old and 6 new' \
    "$work/launches.txt"
check 'several: slower than in any phase' status 1 "$bench" diff "$phases" \
    "$(launches 1.6 1.61 1.62 1.63 1.64 1.65)"
check 'diff refuses several and one' wrong "$bench" diff "$phases" \
    "$work/slow.json"
check 'diff refuses a list with what is none' wrong "$bench" diff \
    "$work/old.json,$work/none" "$work/slow.json,$work/near.json"
check '... and names it' grep -q "none: No such file" "$work/err"
scaled 1 "$work/one.json"
python3 - "$work/one.json" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
r["results"] = r["results"][:1]
json.dump(r, open(sys.argv[1], "w"))
PY
check 'points that a launch lacks are not compared' sh -c \
    '"$1" diff "$2" "$3" | grep -q "^# of 1 points"' - "$bench" \
    "$work/old.json,$work/one.json" "$work/near.json,$work/slow.json"
# whichever launch it is; the same one again lacks nothing more
for list in old,one one,old one,old,old; do
    check "... and counted: $list" sh -c '"$@"; [ $? -le 1 ]' - "$bench" diff \
        "$work/${list//,/.json,$work/}.json" "$work/near.json,$work/slow.json" \
        --format json --output "$work/dropped.json"
    check '... as they are' holds "$work/dropped.json" '
import os
old = json.load(open(os.path.dirname(sys.argv[1]) + "/old.json"))
assert r["dropped_old"] == len(old["results"]) - 1 > 0, r["dropped_old"]
assert r["dropped_new"] == 0 and r["compared_points"] == 1'
done
check '... in a note' sh -c '"$1" diff "$2" "$3" |
    grep -q "^# note: left out, as some launch lacks them: [1-9].* of old, 0 "' \
    - "$bench" "$work/one.json,$work/old.json" "$work/near.json,$work/slow.json"

# two rounds can show no difference
check 'the same against itself' sh -c \
    'BUILD=$1 "$2/scripts/aa" --rounds 2 "$3" bw --sizes 512 --iterations 1 \
        --repeat 1 | grep -q "^0 of .* points differ"' - "$BUILD" "$SOURCE" \
    "$work/aa"
check '... by four launches' sh -c 'ls "$1"/[ab][12].json' - "$work/aa"
check 'aa refuses an old folder' wrong "$SOURCE/scripts/aa" "$work/aa" bw
check 'aa refuses no test' wrong "$SOURCE/scripts/aa" "$work/aa"
check 'aa refuses rounds' wrong "$SOURCE/scripts/aa" --rounds 0 "$work/bb" bw
check 'diff: faster' status 0 "$bench" diff "$work/slow.json" "$work/old.json"
check 'diff of real results' sh -c '"$@"; [ $? -le 1 ]' - "$bench" diff \
    "$work/old.json" "$work/bw.json"
check 'diff as CSV' sh -c '"$@" | grep -q "^bw,.*,same,"' - "$bench" diff \
    "$work/old.json" "$work/near.json" --format csv
check 'what else differs' sh -c '"$@" | grep -A2 "^# revision" | grep -q other' - \
    "$bench" diff "$work/bw.json" "$work/old.json"

check 'diff: nothing in common' wrong "$bench" diff "$work/bw.json" \
    "$work/model.json"
check 'it says what each has' grep -Eq \
    'common to both; OLD has rails shm0,.* bytes 512,65536; NEW has rails ultra24-a0,.* bytes 65536;' \
    "$work/err"
check 'diff of modelled results' status 0 "$bench" diff "$work/model.json" \
    "$work/model.json" --output "$work/models.txt" \
    --save "$work/models.csv,$work/models.json"
check 'says so in the table' grep -q \
    'over modelled rails: 4 of 4 points in old, 4 in new' "$work/models.txt"
check 'and in CSV' grep -Eq '^bw,shm .link model.,ultra24-a0,single' \
    "$work/models.csv"
check 'and in JSON' holds "$work/models.json" '
assert all(p["fabric"] == "shm (link model)" for p in r["points"])'
rm "$work"/models.*

head -c 1000 "$work/bw.json" >"$work/cut.json"
head -c 4096 /dev/urandom >"$work/noise.json"
head -c 100000 /dev/zero | tr '\0' '[' >"$work/deep.json"
: >"$work/empty.json"
echo '{"schema": "dapl_rail.railbench/1", "test": "bw"}' >"$work/bare.json"
for file in cut noise deep empty bare limits slower none; do
    check "diff refuses NEW $file" wrong "$bench" diff "$work/bw.json" \
        "$work/$file.json"
    check "diff refuses OLD $file" wrong "$bench" diff "$work/$file.json" \
        "$work/bw.json"
done
check 'diff refuses another test' wrong "$bench" diff "$work/bw.json" \
    "$work/lat.json"
check 'diff refuses a folder' wrong "$bench" diff "$work" "$work/bw.json"
check 'diff refuses one file' wrong "$bench" diff "$work/bw.json"
check 'diff refuses three files' wrong "$bench" diff "$work/bw.json" \
    "$work/bw.json" "$work/bw.json"

# --- pictures -----------------------------------------------------------------

plot=$SOURCE/scripts/plot
pictures() # ENDING NAME…: are there
{
    local name ending=$1
    shift
    for name; do
        [ -s "$work/$name.$ending" ] && continue
        echo "no picture $name.$ending"
        return 1
    done
}
# kinds: each draws its own, of compressed results as well
kinds()
{
    gzip -n "$work/lat.json"
    "$plot" --quiet --kind cdf,box,speedup "$work/lat.json.gz" "$work/bw.json" \
        && pictures svg {lat,bw}-{cdf,box}-batch-512 lat-cdf-pingpong-64K \
            bw-speedup lat-pingpong-speedup
}
# many: 20 curves, of which 2 are ours
many()
{
    python3 - "$work/many.json" <<'PY'
import json, sys
names = ["dapl_rail single", "dapl_rail auto"] + [
    f"peer{n} {how}" for n in range(9) for how in ("put", "send")]
json.dump({
    "schema": "dapl_rail.p2p/1", "test": "p2p", "partial": False,
    "date": "2026-11-23", "revision": "r", "options": {"ranks": 2, "ppn": 2},
    "machine": {"host": "h", "cpu": "c", "allowed_threads": 2},
    "rails": [{"fabric": "shm"}], "configurations": [
        {"index": i, "label": name, "engine": "", "rails": ""}
        for i, name in enumerate(names)],
    "results": [{"bytes": 8 << size, "configuration": i,
                 "pingpong": {"latency_us": dict.fromkeys(
                     ("median", "lo", "hi"), 1 + i)},
                 "batch": {"bandwidth_MBps": {"median": None}}}
                for i in range(len(names)) for size in range(3)]},
    open(sys.argv[1], "w"))
PY
    "$plot" "$work/many.json" >"$work/out"
}
# all_there: each curve is in a picture, ours in all, none has more than 8; and
# one has ours with the best of others
all_there()
{
    grep -q 'many-lat-best.svg' "$work/out" &&
        [ "$(wc -l <"$work/out")" -eq 4 ] && python3 - "$work"/many-lat-{1,2,3}.svg <<'PY'
import re, sys
seen = [set(re.findall(r"(?:dapl_rail|peer\d) (?!over)[a-z]+", open(path).read()))
        for path in sys.argv[1:]]
print(seen)
ours = {"dapl_rail single", "dapl_rail auto"}
assert all(len(part) <= 8 and ours < part for part in seen)
assert len(set.union(*seen)) == 20
PY
}
# chosen: the title tells how many are left out
chosen()
{
    "$plot" --curves 'dapl_rail auto,peer3' "$work/many.json" >"$work/out" &&
        [ "$(wc -l <"$work/out")" -eq 2 ] &&
        grep -q '17 curves left out' "$work/many-lat.svg"
}
# limited: a limit with an interval is a dashed curve with a band
limited()
{
    python3 - "$work/bw.json" "$work/limited.json" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
for row in r["results"]:
    row["limit"] = {"kind": "copy", "bandwidth_MBps": 5e4,
                    "bandwidth_MBps_lo": 4e4, "bandwidth_MBps_hi": 6e4}
json.dump(r, open(sys.argv[2], "w"))
PY
    "$plot" --quiet "$work/limited.json" &&
        grep -q '>copy limit of the curve of that colour<' "$work/limited.svg" &&
        grep -q "fill-opacity *= *['\"]0.2" "$work/limited.svg"
}
if command -v gnuplot >/dev/null; then
    rm -f "$work"/{cut,noise,deep,empty,bare,slower}.json
    check 'pictures are drawn' "$plot" --quiet --format both "$work"
    for format in svg png; do
        check "… in $format" pictures $format bw bibw lat lat-pingpong \
            breakdown-512 breakdown-64K limits
    done
    check 'distributions and speed-up' kinds
    check 'many curves' many
    check '… in several pictures' all_there
    check '… or some' chosen
    check 'limits' limited
    check 'plot refuses a kind' wrong "$plot" --kind pie "$work/bw.json"
    check 'plot refuses a format' wrong "$plot" --format gif "$work/bw.json"
    check 'plot refuses curves' wrong "$plot" --curves none "$work/bw.json"
    head -c 100 "$work/lat.json.gz" >"$work/cut.json.gz"
    check 'plot refuses half a file' wrong "$plot" "$work/cut.json.gz"
fi
