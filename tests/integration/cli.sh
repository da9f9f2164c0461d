#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The command line of railbench and railinfo: what scripts depend on, and bad
# input: exit status 2 and one line on stderr that names the option, the value
# and what is allowed.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
info=$BUILD/bin/railinfo
quick=(--sizes 8:64 --iterations 5 --repeat 3)

# refused NAME 'REGEX…' COMMAND…: exit status 2, nothing on stdout, and one
# line on stderr which every regex matches
refused()
{
    local name=$1 wanted=$2 status regex
    shift 2
    timeout -k 10 30 "$@" >"$work/out" 2>"$work/err"
    status=$?
    local good=1
    # libdat2 itself complains there of malformed lines
    sed -i '/ERR: corrupt dat.conf entry/d; /DAT Registry: ERROR/d' \
        "$work/out"
    [ $status -eq 2 ] || good=0
    [ ! -s "$work/out" ] || good=0
    [ "$(wc -l <"$work/err")" -eq 1 ] || good=0
    for regex in $wanted; do
        grep -Eq -- "$regex" "$work/err" || good=0
    done
    if [ $good -eq 1 ]; then
        echo "ok - refused: $name"
    else
        echo "NOT OK - refused: $name: status $status (2 expected)," \
            "wanted one line with: $wanted"
        sed 's/^/  stdout: /' "$work/out"
        sed 's/^/  stderr: /' "$work/err"
        failures=$((failures + 1))
    fi
}

# --- bad input ----------------------------------------------------------------

usage()
{
    "$bench" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q '^usage' "$work/err" &&
        grep -q ' allgather ' "$work/err"
}
check 'no test: the usage' usage
refused 'unknown test' 'nonsense bw bibw lat' "$bench" nonsense
refused 'unknown option' '--nonsense' "$bench" bw --nonsense
refused 'option without its value' '--sizes' "$bench" bw --sizes
refused 'unknown engine' '--engine turbo single nonthreaded threaded' \
    "$bench" bw --engine turbo
refused 'one of two engines' '--engine turbo' "$bench" bw --engine single,turbo
refused 'unknown policy' '--policy odd even weighted adaptive roundrobin fixed' \
    "$bench" bw --policy odd
refused 'unknown team' '--team mixed forkjoin resident' "$bench" bw --team mixed
refused 'unknown rail' '--rails shm999' "$bench" bw --rails shm0,shm999
refused 'no rail' '--rails' "$bench" bw --rails ''
refused 'rail twice' '--rails shm0' "$bench" bw --rails shm0,shm1,shm0
refused 'too many rails' '--rails' "$bench" bw \
    --rails "$(seq -s, -f 'r%.0f' 1 17)"
for sizes in '' abc 8: :8 64:8 8,,9 1Q -1 8:9T 99999999999999999999 0x10 '8 9'; do
    refused "sizes '$sizes'" '--sizes' "$bench" bw --sizes "$sizes"
done
for option in --iterations --repeat --batch --warmup --ranks; do
    for value in '' x -1 1.5x 99999999999999999999; do
        refused "$option '$value'" "$option" "$bench" bw $option "$value"
    done
done
refused 'no iterations' '--iterations' "$bench" bw --iterations 0
refused 'no repeats' '--repeat' "$bench" bw --repeat 0
refused 'no batch' '--batch' "$bench" bw --batch 0
refused 'batches are not consumed' '--consume' "$bench" bw --consume
refused 'sends both ways' '--op send put, get' "$bench" bibw --op put,send
refused 'reads are not consumed' '--consume --op put' "$bench" lat --op get \
    --consume
refused 'an operation of atomics' '--op cmp-swap put, get, send' "$bench" lat \
    --op cmp-swap
refused 'atomics of 4 bytes' '8 --sizes' "$bench" atomic --sizes 4
refused 'atomics of threads' '--engine single' "$bench" atomic --engine threaded
refused 'ranks of a test of two' '--ranks 3 2' "$bench" bw --ranks 3
refused 'unknown format' '--format xml table csv json' "$bench" bw --format xml
refused 'output folder missing' '--output' "$bench" bw \
    --output "$work/none/result.csv"
refused 'output is a folder' '--output' "$bench" bw --output "$work"
refused 'operand too many' 'extra' "$bench" bw extra
refused 'railinfo: unknown rail' 'shm999' "$info" shm999
refused 'railinfo: unknown option' '--nonsense' "$info" --nonsense

# --- what scripts depend on -------------------------------------------------

header='test,fabric,rails,engine,policy,algorithm,ranks,ppn,ports,bytes,'
header+='iterations,latency_us,latency_us_p99,latency_us_lo,latency_us_hi,'
header+='bandwidth_MBps,bandwidth_MBps_lo,bandwidth_MBps_hi'

# csv_is_good FILE TEST: header, one row per engine and size, sane numbers
csv_is_good()
{
    python3 - "$1" "$2" "$header" <<'PY'
import csv, sys
path, test, header = sys.argv[1:]
with open(path, newline="") as f:
    assert f.readline().strip().startswith(header), "header"
    f.seek(0)
    rows = list(csv.DictReader(f))
engines = {r["engine"] for r in rows}
assert engines == {"single", "nonthreaded", "threaded"}, engines
sizes = {int(r["bytes"]) for r in rows}
assert sizes == {8, 16, 32, 64}, sizes
for r in rows:
    assert r["test"] == test, r
    assert int(r["ranks"]) == 2, r
    low, mid, high = (float(r["latency_us" + s]) for s in ("_lo", "", "_hi"))
    assert 0 < low <= mid <= high, r
    low, mid, high = (float(r["bandwidth_MBps" + s]) for s in ("_lo", "", "_hi"))
    assert 0 < low <= mid <= high, r
PY
}

engines=--engine=single,nonthreaded,threaded
for test in bw bibw lat; do
    check "$test writes CSV" timeout -k 10 60 "$bench" $test "$engines" \
        "${quick[@]}" --format csv --output "$work/$test.csv"
    check "$test's CSV is as promised" csv_is_good "$work/$test.csv" $test
done
# what the paper does beside what we do: rows are told apart by columns
variants()
{
    timeout -k 10 60 "$bench" breakdown --wait any,serial --eps 2 --align 1 \
        --notify-by send,immed --engine nonthreaded --sizes 100 \
        --iterations 5 --repeat 3 --validate --format csv \
        --save "$work/variants.json" --output "$work/variants.csv" || return 1
    python3 - "$work/variants.csv" "$work/variants.json" <<'PY'
import csv, json, sys
with open(sys.argv[1], newline="") as f:
    rows = list(csv.DictReader(f))
told = [(r["wait"], r["notify_by"]) for r in rows]
assert told == [(w, n) for w in ("any", "serial") for n in ("send", "immed")]
assert {(r["eps"], r["align"], r["valid"]) for r in rows} == {("2", "1", "yes")}
with open(sys.argv[2]) as f:
    result = json.load(f)
assert len({s["variant"] for s in result["configurations"]}) == 4
assert result["results"][0]["per_rail"][0]["share"] == 0.5
PY
}
check 'variants are told apart' variants
check 'variants are compared with their like' sh -c \
    '"$1" diff "$2" "$2" --format csv | tail -n +2 | cut -d, -f19 |
     sort -u | wc -l | grep -qx 4' - "$bench" "$work/variants.json"
check 'validation' timeout -k 10 60 "$bench" bw --sizes 0:64K --iterations 2 \
    --repeat 1 --validate --format csv --output "$work/valid.csv"
check 'messages are consumed' timeout -k 10 60 "$bench" lat --sizes 0,8,64K \
    --consume --validate --iterations 2 --repeat 1 --output "$work/consumed"
# operations TEST N OPTION…: in each of N rows per size, valid
operations()
{
    local test=$1 rows=$2
    shift 2
    timeout -k 10 60 "$bench" "$test" --sizes 0,8,5000,1M --iterations 2 \
        --batch 3 --repeat 1 --validate --format csv \
        --output "$work/ops.csv" "$@" || return 1
    [ "$(grep -c ",yes,no," "$work/ops.csv")" -eq $((4 * rows)) ]
}
check 'reads, sends and writes' operations bw 12 --op send,get,put
check '… with a window' operations bw 12 --op send,get,put --window 2
check '… as ping-pongs' operations lat 12 --op send,get,put
check '… both ways' operations bibw 8 --op get,put
check '… both ways, with a window' operations bibw 8 --op get,put --window 2
check 'buffers in turn' operations bw 12 --op send,get,put --buffers 2
check '… more than a batch' operations bw 12 --op send,get,put --buffers 7
check '… with a window' operations bw 12 --op send,get,put --buffers 2 \
    --window 4
check '… both ways' operations bibw 8 --op get,put --buffers 2
check '… as ping-pongs' operations lat 12 --op send,get,put --buffers 2
check '… of more than these' operations lat 12 --op send,get,put --buffers 300
check '… that are copied' operations lat 4 --buffers 2 --consume
# of four times the cache, four of which are needed
cache=$(getconf LEVEL3_CACHE_SIZE)
if [ "${cache:-0}" -gt 0 ] && [ "$cache" -le $((64 << 20)) ]; then
    check '… off cache' operations bw 4 --buffers off-cache
    check '… says so' grep -q ',put,off-cache,no,' "$work/ops.csv"
fi
check 'messages are read' operations bw 12 --op send,get,put --read
check '… says so' grep -q ',put,3,yes,' "$work/ops.csv"
check '… with a window' operations bw 8 --op send,get --read --window 5
check '… both ways, in buffers' operations bibw 8 --op get,put --read \
    --buffers 4
check '… as ping-pongs' operations lat 12 --op send,get,put --read
check '… of other tests' operations get 4 --read --buffers 3
check '… of sends' operations send 4 --read --buffers 3
refused 'read while they are written' '--read .*--window' \
    "$bench" bw --read --window 8
refused 'read after the next' '--buffers: too few for --read' \
    "$bench" bw --read --buffers 4 --batch 5
refused 'no buffer' '--buffers .*off-cache' "$bench" bw --buffers 0
refused 'caches of simulated rails' '--buffers .*off-cache' \
    "$bench" bw --rails sim:qsnet2-4x4 --buffers off-cache
refused 'reading in no time' '--read' "$bench" bw --rails sim:qsnet2-4x4 --read
check 'a test of reads' operations get 4
check '… says so' grep -q ',get,,no,20' "$work/ops.csv"
check 'a test of sends' operations send 4
check '… says so' grep -q ',send,,no,20' "$work/ops.csv"
check 'notifications only' operations lat 4 --pingpong notify
check 'nobody polls then' sh -c \
    'timeout -k 10 60 "$@" | grep -q "ping-pong: in every row, the target waits for"' - \
    "$bench" lat --sizes 8 --iterations 2 --repeat 1 --pingpong notify
check 'atomics' timeout -k 10 60 "$bench" atomic --op fetch-add,cmp-swap \
    --iterations 9 --repeat 2 --validate --format csv \
    --output "$work/atomics.csv"
check '… of both kinds' sh -c \
    'cut -d, -f1,10 "$0" | tail -n 2 | grep -c "^atomic,8" | grep -qx 2' \
    "$work/atomics.csv"
check 'JSON is JSON' sh -c \
    'timeout -k 10 60 "$@" --format json | python3 -m json.tool >/dev/null' - \
    "$bench" bw "${quick[@]}"
check 'without options' sh -c 'timeout -k 10 60 "$@" >"$0"' "$work/table" \
    "$bench" bw --sizes 8 --iterations 2 --repeat 1
check 'from another folder, without environment' env -i -C / \
    timeout -k 10 60 "$bench" bw --sizes 8 --iterations 2 --repeat 1
check 'four rails' timeout -k 10 60 "$bench" bw --rails shm0,shm1,shm2,shm3 \
    --sizes 64K --iterations 2 --repeat 1
check '--help' sh -c '"$0" --help | grep -q bibw' "$bench"
check 'bw --help' sh -c '"$0" bw --help | grep -q -- --iterations' "$bench"
check '--version' sh -c '"$0" --version | grep -Eq "[0-9]+\.[0-9]+"' "$bench"
check 'railinfo lists the embedded rails' sh -c \
    'timeout 30 "$0" >"$1" && for r in 0 1 2 3; do grep -q "shm$r" "$1" || exit 1; done' \
    "$info" "$work/rails"
check 'railinfo NAME' sh -c 'timeout 30 "$0" shm0 | grep -qi provider' "$info"
check 'railinfo tells which copies bypass the caches' \
    sh -c 'timeout 30 "$0" shm0 | grep -q "^  copies  .*plain\|^  copies  .*512K"' \
    "$info"
check 'railinfo --config' sh -c \
    'timeout 30 "$0" --config | grep -q DRAIL_' "$info"
check 'railinfo --json' sh -c \
    'timeout 30 "$0" --json | python3 -m json.tool >/dev/null' "$info"

# what a killed process with the same number has left is no obstacle
after_killed()
(
    echo old >"$work/again.csv.$BASHPID-0.tmp"
    exec "$bench" lat "${quick[@]}" --sizes 8 --format csv \
        --output "$work/again.csv"
)
check 'a file left behind' after_killed
check 'a file left behind: the result' grep -q '^lat,' "$work/again.csv"

# --- Ctrl-C -------------------------------------------------------------------

# interrupt SIGNAL: in the middle of a long run, the children end and what has
# been measured is written, marked as partial
interrupt()
{
    python3 - "$bench" "$1" "$work/partial-$1.json" <<'PY'
import json, os, pty, re, signal, subprocess, sys

def late(*_):
    raise TimeoutError

bench, name, out = sys.argv[1:]
signal.signal(signal.SIGALRM, late)
signal.alarm(200)
# progress is shown on a terminal: a second repeat begins when there is a first
terminal, stderr = pty.openpty()
run = subprocess.Popen(
    ["env", f"--default-signal={name}", bench, "bw", "--sizes", "8,64",
     "--repeat", "1000", "--format", "json", "--output", out],
    stderr=stderr)
os.close(stderr)
shown = b""
try:
    while not re.search(rb"repeat ([2-9]|1[0-9])", shown):
        shown += os.read(terminal, 4096)
    with open(f"/proc/{run.pid}/task/{run.pid}/children") as f:
        children = f.read().split()
    assert len(children) == 2, children
    run.send_signal(getattr(signal, "SIG" + name))
    status = run.wait()
    assert status == 1, status
    left = [c for c in children if os.path.exists(f"/proc/{c}")]
    assert not left, left
    with open(out) as f:
        result = json.load(f)
    assert result["partial"]
    assert result["results"][0]["batch"]["repeats"]
finally:
    if run.poll() is None:
        print(shown[-1000:])
        run.kill()
PY
}
check 'SIGINT: a partial result, no children' interrupt INT
check 'SIGTERM: a partial result, no children' interrupt TERM

# --- dat.conf -----------------------------------------------------------------

lib=$BUILD/lib/dapl_rail/libdapl_shm.so
ours="u2.0 nonthreadsafe default $lib dapl_rail.0.1 \"\" \"\""
cat >"$work/odd.conf" <<CONF
# malformed lines between good ones
good0 $ours
bad1
bad2 u2.0 nonthreadsafe
bad3 u9.z nonthreadsafe default $lib dapl_rail.0.1 "" ""
bad4 u2.0 sometimes default $lib dapl_rail.0.1 "" ""
missing ${ours/libdapl_shm/libnone}

good1 $ours
CONF
with_conf()
{
    local conf=$1
    shift
    DAPL_RAIL_DAT_CONF=$conf timeout -k 10 30 "$@"
}
check 'good lines of a malformed dat.conf work' with_conf "$work/odd.conf" \
    "$bench" bw --rails good0,good1 --sizes 8 --iterations 2 --repeat 1
refused 'a rail whose library is missing' '--rails missing' env \
    "DAPL_RAIL_DAT_CONF=$work/odd.conf" "$bench" bw --rails good0,missing
for rails in '' --rails=shm0; do
    # shellcheck disable=SC2086 # without rails: no argument
    refused "an unreadable dat.conf, bw $rails" \
        "--rails shm0 DAPL_RAIL_DAT_CONF.*'$work/none.conf'" env \
        "DAPL_RAIL_DAT_CONF=$work/none.conf" "$bench" bw $rails
done
for seed in 1 2 3 4 5 6 7 8; do
    python3 -c "import random, sys
sys.stdout.buffer.write(random.Random($seed).randbytes(4096))" \
        >"$work/noise.conf"
    refused "a dat.conf of noise (seed $seed)" '--rails shm0' env \
        "DAPL_RAIL_DAT_CONF=$work/noise.conf" "$bench" bw --rails shm0
done
