#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench degrade: what it reports while rails are slowed and cut, and what it
# says when nothing is left.
# shellcheck source=tests/integration/degrade.bash
. "${SOURCE:?}/tests/integration/degrade.bash"

# what is under way at the end of a trial takes its time, too
printf 'slow u2.0 nonthreadsafe default %s dapl_rail.0.1 "rate=100" ""\n' \
    "$BUILD/lib/dapl_rail/libdapl_shm.so" >"$work/dat.conf"
DAPL_RAIL_DAT_CONF=$work/dat.conf check 'a rail is not faster than it is' \
    degrade 0 --rails slow --events none --sizes 1M --window 16 \
    --save "$work/r.json"
check 'alone' json 'run["rails"][0]["alone_MBps"] < 105'

check 'one is slower' degrade 0 --rails ultra24-a0,ultra24-a1 \
    --events 100ms:slow:0:0.1,300ms:slow:ultra24-a0:1 \
    --save "$work/r.json,$work/r.csv"
check 'nothing is lost' grep -q '0 lost, 0 doubled, 0 with wrong bytes' \
    "$work/out"
check 'messages have come' json 'run["messages"] > 0 and run["mean_MBps"] > 0'
check 'rates over time' json 'len(run["bandwidth_MBps"]) >= 20'
check 'each rail' json \
    '[x["rail"] for x in run["rails"]] == ["ultra24-a0", "ultra24-a1"]'
check 'its events' json '[(e["event"], e["rail"], e["factor"])
    for e in run["events"]] == [("slow", "ultra24-a0", 0.1),
                                ("slow", "ultra24-a0", 1)]'
check 'their times' json '[e["time_ms"] // 100 >= t
    for e, t in zip(run["events"], (1, 3))] == [True, True]'
check 'emulated: so it says' json '(any("cables" in n for n in r["notes"])
    and "model" in r["configurations"][0]["fabric"])'
check 'diff takes it' "$bench" diff "$work/r.json" "$work/r.json" \
    --output "$work/diff"
check 'the columns of its csv' python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert {row["what"] for row in rows} == {"run", "rail", "event", "bin"}
assert all(None not in row and None not in row.values() for row in rows)
assert rows[0]["test"] == "degrade" and float(rows[0]["bandwidth_MBps"]) > 0
' "$work/r.csv"

check 'it is drawn' "$SOURCE/scripts/plot" --quiet "$work/r.json"
check 'its picture' test -s "$work/r.svg"

# the hand on a cable
cable()
{
    "$SOURCE/scripts/cable" "$work/cable" "$@"
}
shown()
{
    [ "$(cable)" = "$1" ]
}
check 'a new cable' shown 'up, 1 of its rate, pulled 0 times'
check 'pulled' cable down
check 'slower' cable slow 0.25
check 'its state' shown 'down, 0.25 of its rate, pulled 1 times'
check 'plugged' cable up
check 'out for a moment' cable cut
check 'its full rate' cable slow 1
check 'as it was' shown 'up, 1 of its rate, pulled 2 times'
for words in 'slow 2' 'slow' 'nonsense' 'up down' 'break x'; do
    # shellcheck disable=SC2086
    cable $words 2>"$work/err"
    check "refused: $words" test $? -eq 2 -a -s "$work/err"
done
echo text >"$work/text"
"$SOURCE/scripts/cable" "$work/text" down 2>"$work/err"
check 'a file that is no cable' test $? -eq 2
check 'it is left alone' test "$(cat "$work/text")" = text

# what a rail costs that is cut again and again, wherever that meets a message
for options in '--rails shm0,shm1,shm2 --eps 2' '--engine threaded'; do
    # shellcheck disable=SC2086
    check "cuts at random: $options" degrade 0 --time 2s --events random:12 \
        $options --save "$work/r.json"
    check 'all of them' json 'sum(e["event"] == "cut"
        for e in run["events"]) == 12 == run["events_done"]'
    check 'spread over the time' json '(run["events"][-1]["time_ms"] > 1000 and
        run["stream"]["repeats"][0]["ns"] > 1900000000)'
    check 'nothing is lost then' json \
        'run["messages"] and not (run["lost"] or run["doubled"] or run["wrong"])'
done

# rails of their own rates, of which two carry twice as much as one
check 'the rails that nobody names' degrade 0 --time 2s --save "$work/r.json"
check 'are slow' json '[(x["rail"], x["alone_MBps"] < 120)
    for x in run["rails"]] == [("gbe-a0", True), ("gbe-a1", True)]'
check 'a cut is in what is possible' json \
    'run["events"][0]["possible_MBps"] < 120'

check 'the last rail is cut' degrade 1 --rails shm0 --events 200ms:cut:shm0 \
    --save "$work/r.json"
check 'one line tells' test "$(wc -l <"$work/err")" -eq 1
check 'it is the peer' grep -q 'peer is gone' "$work/err"
check 'what it has seen is there' json \
    'r["partial"] and run["ended"] and run["messages"] > 0 and not run["lost"]'

# a function, for it to be called like a program of the user's
check 'a command for events' degrade 0 --events 100ms:slow:0:0.25,200ms:back:1 \
    --on-event "f() { echo \"\$@\" >>'$work/calls'; [ \$1 = slow ]; }; f"
check 'how it was called' cmp "$work/calls" - <<'CALLS'
slow gbe-a0 0.25
back gbe-a1
back gbe-a0
CALLS
check 'that it has failed' grep -q 'note: an event could not be carried out' \
    "$work/out"

check 'an event that is late' degrade 0 --events 100ms:slow:0:0.5,200ms:back:0 \
    --on-event 'sleep 0.7; :' --save "$work/r.json"
check 'it comes all the same' json '(run["events_done"] == 2 and
    run["events"][1]["time_ms"] > 700)'

check 'bad events' degrade 2 --events 100ms:cut:7
check 'events behind the end' degrade 2 --events 1s:cut:1
check 'no time' degrade 2 --time 0s
check 'random cuts of one rail' degrade 2 --rails shm0 --events random:3
check 'three ranks' degrade 2 --ranks 3
check 'no folder is left' test -z "$(ls "$TMPDIR")"
