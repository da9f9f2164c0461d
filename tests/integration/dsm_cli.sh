#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench dsm: bad input, what is fetched and computed is right, what scripts
# depend on; in virtual time, what a second rail brings.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench

# run NAME OPTIONS…: into NAME.csv and NAME.json
run()
{
    recorded 60 "$1" dsm "${@:2}"
}

# holds NAME 'PYTHON ASSERTIONS': rows are those of the CSV, r the JSON; of()
# selects rows by their columns
holds()
{
    rows_hold "$1" "def of(**columns):
    found = [row for row in rows
             if all(row[k] == v for k, v in columns.items())]
    assert found, columns
    return found
for row, other in zip(rows, r['results']):
    assert row['valid'] == 'yes' and other['valid'], row
    assert row['partial'] == 'no' and not r['partial']
    assert (row['part'], row['case']) == (other['part'], other['case'])
    # simulated figures that are alike have no range
    low, median, high = (row['time_us' + x] for x in ('_lo', '', '_hi'))
    assert float(median) >= 0 and bool(low) == bool(high), row
    assert not low or float(low) <= float(median) <= float(high), row
$2"
}

# --- bad input ----------------------------------------------------------------

refused 'no such part' '--part fetch.*jacobi' "$bench" dsm --part pages
refused 'a part twice' '--part once' "$bench" dsm --part lock,lock
refused 'no part' '--part' "$bench" dsm --part ''
refused 'a rank alone' '--ranks 2' "$bench" dsm --ranks 1
refused 'half a page' '--sizes 2048.*multiples' "$bench" dsm --sizes 4K,2K
refused 'ranges of nothing' '--sizes multiples' "$bench" dsm --sizes 0
refused 'ranges of small pages' '--sizes 65536' \
    "$bench" dsm --page 64K --sizes 32K
refused 'a page that is none' '--page power' "$bench" dsm --page 6000
refused 'a page below that of the system' '--page power' "$bench" dsm --page 1K
refused 'no pages' '--pages 1' "$bench" dsm --pages 0
refused 'no cells' '--columns 3' "$bench" dsm --columns 2
refused 'no step' '--steps' "$bench" dsm --steps 0
refused 'no matrix' '--order 32768' "$bench" dsm --order 0
refused 'no key' '--keys 1' "$bench" dsm --keys 0
refused 'no body' '--bodies 1' "$bench" dsm --bodies 0
refused 'more than the memory' "--rows '1048576' fits.*GB" \
    "$bench" dsm --rows 1048576 --columns 1048576
refused 'pages beyond the memory' "--pages '65536' fits.*GB" \
    "$bench" dsm --part fetch --page 64M --pages 65536
refused 'what is written beyond the memory' "--page '67108864' fits.*GB" \
    "$bench" dsm --part barrier --page 64M --ranks 1024
refused 'several parts beyond the memory' '--(rows|pages) needs.70[0-9]{3}' \
    "$bench" dsm --part jacobi,diff --rows 1048576 --columns 1048576 \
    --page 64M --pages 65536
refused 'a rate of real ranks' '--rate sim:' "$bench" dsm --rate 1e8
refused 'no such rail' '--rails' "$bench" dsm --rails nowhere
refused 'where nobody can write' '--output' \
    "$bench" dsm --output /nowhere/there.csv
for option in --iterations=2 --warmup=2 --validate --no-payload; do
    refused "$option" "${option%=*}" "$bench" dsm "$option"
done

# --- shared memory ------------------------------------------------------------

check 'all parts over two rails' run all --repeat 2 --sizes 64K,256K \
    --rows 12 --columns 2048 --steps 4 --order 100 --keys 20000 \
    --bodies 300 --engine single,nonthreaded
check '... with all that is measured' holds all '
wanted = {"fetch": {"fault"}, "range": {"prefetch", "faults"},
          "diff": {"one-element", "every-2nd", "whole"},
          "lock": {"own-home", "remote-home", "contended", "counter"},
          "barrier": {"0-pages", "1-page", "16-pages"},
          **dict.fromkeys(("jacobi", "lu", "sort", "nbody"),
                          {"faults", "prefetch", "history"})}
programs = "jacobi", "lu", "sort", "nbody"
for part, cases in wanted.items():
    assert {row["case"] for row in of(part=part)} == cases, part
setups = {(row["engine"], row["nrails"], row["rails"]) for row in rows}
assert setups == {("single", "1", "shm0"), ("single", "1", "shm1"),
                  ("nonthreaded", "2", "shm0+shm1")}, setups
assert {row["bytes"] for row in of(part="range")} == {"65536", "262144"}
for row in of(part="fetch"):
    floor = float(row["pingpong_us"]) + float(row["copy_us"])
    assert floor > 0 and float(row["get_us"]) > 0
    # of the quickest repeats: a slow one may have shared its core
    assert float(row["time_us_lo"]) > float(row["copy_us_lo"]), row
for row in of(part="range"):
    rate = int(row["bytes"]) / float(row["time_us"])
    low, high = float(row["rate_MBps_lo"]), float(row["rate_MBps_hi"])
    assert low * 0.999 <= rate <= high * 1.001, row
for row in (row for part in programs for row in of(part=part)):
    assert 0 < float(row["communication_us"]) <= float(row["time_us"]), row
    assert 0 < float(row["faults_pct"]) < 100 and float(row["speedup"]) > 0
    assert (float(row["locks_us"]) > 0) == (row["part"] == "sort"), row
assert all(row["gain"] == "1" for row in of(engine="single", rails="shm0"))
assert r["options"]["rows"] == 12 and r["options"]["order"] == 100
assert set(r["alone_us"]) == set(programs) and min(r["alone_us"].values()) > 0'
check '... and a table that says it' grep -q '^# jacobi: ' "$work/out"

check 'programs whose parts are not equal, on five ranks' run uneven \
    --repeat 1 --ranks 5 --part lu,sort,nbody,jacobi --order 131 --keys 9999 \
    --bodies 61 --rows 7 --columns 999 --steps 3 --engine nonthreaded
check '... are right' holds uneven 'assert len(rows) == 12'
check '... and some that leave most ranks nothing' run nothing \
    --repeat 1 --ranks 3 --part lu,sort,nbody --order 1 --keys 1 --bodies 1 \
    --page 16K --engine nonthreaded
check '... are right, too' holds nothing 'assert len(rows) == 9'

check 'three rails, larger pages, nothing ahead' run three --repeat 1 \
    --rails shm0,shm1,shm2 --ranks 3 --part range,diff,jacobi --page 16K \
    --ahead 0 --pages 5 --sizes 64K --engine nonthreaded,auto \
    --rows 5 --columns 5000 --steps 3
check '... by two, and by all of them' holds three '
assert {(row["engine"], row["nrails"]) for row in rows} == \
    {("nonthreaded", "2"), ("nonthreaded", "3"), ("auto", "3")}
assert {row["bytes"] for row in of(part="diff")} == {"16384"}
assert all(row["gain"] == "" for row in rows)'
# late OPTIONS…: a program, with what is measured in $work/late.csv
late()
{
    exec "$bench" dsm --part lu --rails shm0 --engine nonthreaded --format csv \
        "$@" >"$work/late.csv" 2>"$work/late.err"
}
# ended RUN SENTENCE: an interrupt ends it, and it says so
ended()
{
    kill -INT "$1"
    wait "$1"
    [ $? = 1 ] && grep -q "$2" "$work/late.err"
}
# the ranks are gone, and one process times the program by itself
interrupted()
{
    local ranks='' run now
    late --order 800 --repeat 20 &
    run=$!
    while kill -0 $run 2>/dev/null; do
        now=$(pgrep -P $run)
        [ "$(wc -w <<<"$now")" -lt 2 ] || ranks=$now
        [ -z "$ranks" ] || [ -z "$now" ] || grep -qx "$now" <<<"$ranks" || break
        sleep 0.01
    done
    ended $run 'interrupted; speed-ups'
}
# marked REPEATS: all was measured, but what one rank alone takes
marked()
{
    python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 3, rows
for row in rows:
    assert row["repeats"] == sys.argv[2] and row["valid"] == "yes", row
    assert row["partial"] == "yes" and row["speedup"] == "", row
' "$work/late.csv" "$1"
}
check 'interrupted when ranks are done' interrupted
check '... with what they have measured' marked 20

# The rank that ends first does so; the other one waits in its last call.
cat >"$work/last.c" <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
void _exit(int status)
{
    const char *first = getenv("FIRST");
    if (open(first, O_CREAT | O_EXCL, 0600) < 0)
        for (int i = 0; i < 1000 && !access(first, F_OK); i++)
            usleep(10000);
    for (;;)
        syscall(SYS_exit_group, status);
}
END
between()
{
    local run
    cc -shared -fPIC -o "$work/last.so" "$work/last.c" || return 1
    FIRST=$work/first LD_PRELOAD=$work/last.so \
        ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
        late --order 64 --repeat 2 &
    run=$!
    until [ -e "$work/first" ] && [ "$(pgrep -c -P $run)" = 1 ]; do
        kill -0 $run || return 1
        sleep 0.01
    done
    { sleep 0.2 && rm "$work/first"; } &
    ended $run 'interrupted; the result is partial'
}
check 'interrupted between the ends of two ranks' between
check '... which is marked, too' marked 2
check 'a page alone' run alone --repeat 3 --part fetch,diff --pages 1 \
    --engine nonthreaded
check '... is fetched and compared' holds alone 'assert len(rows) == 4'
check 'pages of parts that are not measured take no memory' run few --repeat 1 \
    --part lock --page 64K --pages 65536 --engine nonthreaded
check 'CSV to standard output' sh -c \
    "timeout 30 '$bench' dsm --part lock --repeat 1 --format csv |
    grep -q '^dsm,lock,counter,'"

# --- simulated ----------------------------------------------------------------

rest_is_simulated

simulated()
{
    run "$1" --rails "sim:$SOURCE/tests/platforms/two-rails.platform" \
        --engine single,nonthreaded --pages 4 --sizes 64K,1M --rows 8 \
        --columns 16384 --steps 3 --order 100 --keys 20000 --bodies 100 "${@:2}"
}
check 'in virtual time' simulated first
check '... once more' simulated second
# but for the last column, in which files differ
check '... with the same figures' python3 -c '
import csv, sys
one, other = ([row[:-1] for row in csv.reader(open(f))] for f in sys.argv[1:])
assert one == other' "$work/first.csv" "$work/second.csv"
# 1 GB/s each, 1.5 us there and back: 1 MB takes 1048.6 us of one rail and half
# of that of two
check '... two rails fetch twice as fast as one' holds first '
def figure(column, **columns):
    row, = of(engine=columns.pop("engine"), **columns)
    return float(row[column])
one = dict(part="range", case="prefetch", rails="sim0", engine="single")
two = dict(one, rails="sim0+sim1", engine="nonthreaded")
assert 1048 < figure("time_us", bytes="1048576", **one) < 1060
for bytes, least in (("65536", 1.8), ("1048576", 1.97)):
    ratio = figure("time_us", bytes=bytes, **one) / \
        figure("time_us", bytes=bytes, **two)
    assert least < ratio < 2, ratio
    assert abs(figure("gain", bytes=bytes, **two) / ratio - 1) < 1e-4
    assert abs(figure("ratio", bytes=bytes, **two) - 1) < 0.02
# a page is too short to be cut, and takes its way there and back
for row in of(part="fetch"):
    assert 4.096 + 3 <= float(row["time_us"]) < 10, row
    assert abs(float(row["gain"]) - 1) < 0.01
# faults, twins and comparisons take no time there: only messages do
for row in of(part="diff"):
    assert float(row["twin_us"]) == float(row["compare_us"]) == 0, row
    assert float(row["pieces_us"]) > 0, row
whole = dict(part="jacobi", case="prefetch")
gain = figure("gain", rails="sim0+sim1", engine="nonthreaded", **whole)
assert 1.7 < gain < 2, gain
computed = 4 * 3 * (8 - 2) * (16384 - 2) / 5e8 * 1e6
assert abs(r["alone_us"]["jacobi"] - computed) < 0.01, r["alone_us"]
assert abs(r["alone_us"]["nbody"] - 20 * 3 * 100 * 100 / 5e8 * 1e6) < 0.01
for row in of(part="jacobi"):
    rest = float(row["time_us"]) - float(row["communication_us"])
    assert computed / 2 - 1 < rest < computed, row'
# a third rail like the two
{
    cat "$SOURCE/tests/platforms/two-rails.platform"
    printf '[bus bus2]\n[adapter adapter2]\nbus = bus2\n'
    printf '[rail c]\nadapter = adapter2\nrate = 1 GB/s\nlatency = 1.5 us\n'
} >"$work/three.platform"
check 'three rails' run rails --rails "sim:$work/three.platform" --part range \
    --sizes 1M --engine single,nonthreaded
check '... two of them, and all' holds rails '
for row in of(case="prefetch"):
    n, gain = int(row["nrails"]), float(row["gain"])
    assert 0.97 * n < gain <= n, row
assert {row["rails"] for row in rows} == {"sim0", "sim1", "sim2", "sim0+sim1",
                                          "sim0+sim1+sim2"}'
# faults begin anew in each range; single pages know of none before them
check 'nothing is fetched ahead of single pages' run page --rails \
    "sim:$SOURCE/tests/platforms/two-rails.platform" --engine single \
    --part fetch,range,diff --pages 4 --sizes 64K --repeat 3
check '... nor where nothing may be' run plain --rails \
    "sim:$SOURCE/tests/platforms/two-rails.platform" --engine single \
    --part fetch,range,diff --pages 4 --sizes 64K --repeat 3 --ahead 0
check '... ranges take three faults, and a page each without' python3 -c '
import csv, sys
def figures(file):
    return {(row["part"], row["case"], row["rails"]): float(row["time_us"])
            for row in csv.DictReader(open(file))}
ahead, plain = map(figures, sys.argv[1:])
for key, us in ahead.items():
    if key[:2] != ("range", "faults"):
        assert us == plain[key], (key, us, plain[key])
        continue
    # 1 and 8 pages, and the rest; each takes 3 us to begin
    at_once = ahead["range", "prefetch", key[2]]
    assert at_once + 6 <= us <= at_once + 12, (key, us, at_once)
    assert us + 36 <= plain[key], (key, us, plain[key])
' "$work/page.csv" "$work/plain.csv"
check 'a slower rank' simulated slow --part jacobi --rate 1e8
check '... computes for longer' holds slow '
assert abs(r["alone_us"]["jacobi"] * 1e8 - 4 * 3 * 6 * 16382 * 1e6) < 1e4'
