#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rails with a link model: bad parameters are named, the shipped rails move
# data, and the three configurations of Cai et al. 2009 differ as eqs. (1) to (3) say.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
provider=$BUILD/lib/dapl_rail/libdapl_shm.so

# conf NAME=PARAMETERS…: a dat.conf of such rails
conf()
{
    local rail
    for rail in "$@"; do
        printf '%s u2.0 nonthreadsafe default %s dapl_rail.0.1 "%s" ""\n' \
            "${rail%%=*}" "$provider" "${rail#*=}"
    done >"$work/dat.conf"
}

# refused NAME 'REGEX' RAIL…: exit status 2, and two lines: the reason, which
# names rail and field, and railbench's
refused()
{
    local name=$1 wanted=$2
    shift 2
    conf "$@"
    local rails
    rails=$(printf '%s\n' "$@" | cut -d= -f1 | paste -sd,)
    # shellcheck disable=SC2086 # a test and its options
    DAPL_RAIL_DAT_CONF=$work/dat.conf timeout -k 10 30 "$bench" \
        ${test:-bw} --rails "$rails" --sizes 8 --repeat 1 >"$work/out" 2>"$work/err"
    local status=$?
    if [ $status -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 2 ] &&
        [ "$(grep -Ec "^dapl shm: rail $wanted" "$work/err")" -eq 1 ]; then
        echo "ok - refused: $name"
    else
        echo "NOT OK - refused: $name: status $status, wanted: $wanted"
        cat "$work/err"
        failures=$((failures + 1))
    fi
}

refused 'negative rate' "m0: rate in dat.conf: '-5', allowed: MB/s from" 'm0=rate=-5'
refused 'no rate' "m0: rate in dat.conf: '0', allowed: MB/s from" 'm0=rate=0'
refused 'rate beyond all bounds' "m0: rate in dat.conf: '1e-300', allowed: MB/s from" 'm0=rate=1e-300'
refused 'negative gap' "m0: gap in dat.conf: '-1', allowed: microseconds from 0" 'm0=rate=5 gap=-1'
refused 'endless latency' "m0: latency in dat.conf: '1e30', allowed: microseconds" 'm0=rate=5 latency=1e30'
refused 'no number' "m0: latency in dat.conf: 'fast', allowed" 'm0=rate=5 latency=fast'
refused 'unknown parameter' 'm0: speed in dat.conf: unknown parameter; known: stream' 'm0=speed=1'
refused 'given twice' 'm0: rate in dat.conf: given twice' 'm0=rate=1 rate=2'
test='allgather --ranks 5' refused 'by five ranks, said once' 'm0: rate in' 'm0=rate=no'

for field in latency=0 latency=2 gap=0 overhead=1 adapter=h 'adapter=h port=p'; do
    refused "$field without rate" 'm0: (latency|gap|overhead|adapter) in dat.conf: needs rate' "m0=$field"
done
refused 'port without adapter' 'm0: port in dat.conf: needs adapter' 'm0=rate=9 port=p'
refused 'rate of no adapter' 'm0: adapter_rate in dat.conf: needs adapter' 'm0=rate=9 adapter_rate=9'
refused 'bus without its rate' 'm0: bus in dat.conf: needs bus_rate' 'm0=rate=9 bus=b'
refused 'rate of no bus' 'm0: bus_rate in dat.conf: needs bus' 'm0=rate=9 bus_rate=9'
refused 'bus without rate' 'm0: bus in dat.conf: needs rate' 'm0=bus=b bus_rate=9'
refused 'change without rate' 'm0: change_after in dat.conf: needs change_rate' 'm0=rate=9 change_after=1M'
refused 'change without time' 'm0: change_rate in dat.conf: needs change_after' 'm0=rate=9 change_rate=5'
refused 'change after no number' "m0: change_after in dat.conf: 'soon', allowed: bytes" 'm0=rate=9 change_rate=5 change_after=soon'
refused 'change of no model' 'm0: change_rate in dat.conf: needs rate' 'm0=change_rate=5 change_after=1M'

# contradicts FIELD RESOURCE PARAMETERS PARAMETERS: of two rails
contradicts()
{
    refused "two rails of one ${2%% *} differ in $1" \
        "m1: $1 in dat.conf: rail m0 of $2 says otherwise" "m0=rate=9 $3" "m1=$4"
}
contradicts rate "port 'p'" 'port=p adapter=h' 'rate=8 port=p adapter=h'
contradicts gap "port 'p'" 'port=p adapter=h gap=1' 'rate=9 port=p adapter=h'
contradicts adapter "port 'p'" 'port=p adapter=h' 'rate=9 port=p adapter=g'
contradicts change_rate "port 'p'" 'port=p adapter=h change_rate=5 change_after=1M' 'rate=9 port=p adapter=h'
contradicts change_after "port 'p'" 'port=p adapter=h change_rate=5 change_after=1M' \
    'rate=9 port=p adapter=h change_rate=5 change_after=2M'
contradicts adapter_rate "adapter 'h'" 'adapter=h adapter_rate=9' 'rate=9 adapter=h adapter_rate=8'
contradicts adapter_rate "adapter 'h'" 'adapter=h adapter_rate=9' 'rate=9 adapter=h'
contradicts bus "adapter 'h'" 'adapter=h bus=b bus_rate=9' 'rate=9 adapter=h bus=c bus_rate=9'
contradicts bus_rate "bus 'b'" 'bus=b bus_rate=9' 'rate=9 bus=b bus_rate=8'

conf 'm0=rate=400 latency=0 gap=0 overhead=0' 'm1=rate=no'
export DAPL_RAIL_DAT_CONF=$work/dat.conf
check 'a rate alone is a model' timeout -k 10 30 "$bench" bw --rails m0 \
    --sizes 8 --iterations 2 --repeat 1 --output "$work/out"
info() { timeout 60 "$BUILD/bin/railinfo" "$@" >"$work/out" 2>&1; }
info m0
check 'railinfo shows the model' grep -Eq 'link model +rate=400 latency=0 gap=0 overhead=0$' "$work/out"
for arguments in m1 --all '--all --json'; do
    # shellcheck disable=SC2086 # words
    info $arguments
    check "railinfo $arguments gives the provider's reason" \
        grep -q "rail m1: rate in dat.conf: 'no', allowed" "$work/out"
done
unset DAPL_RAIL_DAT_CONF

# bandwidth RAILS: MB/s of 4 MiB messages striped over two modelled rails
bandwidth()
{
    "$bench" bw --rails "$1" --engine nonthreaded --sizes 4M --batch 4 \
        --iterations 1 --repeat 3 --format csv 2>/dev/null |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "bandwidth_MBps") c = i }
                 NR == 2 { print int($c) }'
}

# Slow rails, so that nothing but the model decides; a factor of two between
# configurations is asked for, not a time.
conf 'a0=rate=400 adapter=h0 adapter_rate=400' 'a1=rate=400 adapter=h1 adapter_rate=400' \
    'b0=rate=400 port=p0 adapter=h adapter_rate=400' \
    'b1=rate=400 port=p1 adapter=h adapter_rate=400' \
    'c0=rate=400 port=p adapter=g' 'c1=rate=400 port=p adapter=g'
export DAPL_RAIL_DAT_CONF=$work/dat.conf
a=$(bandwidth a0,a1) b=$(bandwidth b0,b1) c=$(bandwidth c0,c1)
echo "# two rails of 400 MB/s: adapters $a, ports $b, sub-channels $c MB/s"
check 'two adapters add up' test "${a:-0}" -gt $((${b:-0} * 3 / 2))
check 'two adapters come near' test "${a:-0}" -ge 400
check 'two adapters are no faster than that' test "${a:-9999}" -le 810
check 'two ports share their adapter' test "${b:-9999}" -le 405
check 'two ports come near' test "${b:-0}" -ge 200
check 'two sub-channels share their port' test "${c:-9999}" -le 405
check 'two sub-channels come near' test "${c:-0}" -ge 200
unset DAPL_RAIL_DAT_CONF

conf 'u0=rate=300' 'u1=rate=100'
DAPL_RAIL_DAT_CONF=$work/dat.conf timeout -k 10 60 "$bench" bw --rails u0,u1 \
    --engine nonthreaded --policy even,weighted,adaptive --explain \
    --sizes 4K,1M --batch 4 --iterations 3 --repeat 3 >/dev/null 2>"$work/err"
explained() { grep -Eq "^explain: $1" "$work/err"; }
check 'explained: too short' explained '4096 bytes, nonthreaded, even: all over u0 .shorter than'
check 'explained: even' explained '1048576 bytes, nonthreaded, even: u0 524288 .50.0 %., u1 524288'
check 'explained: weighted' explained '1048576 bytes, nonthreaded, weighted: u0 786432 .75.0 %, nominal 300'
check 'explained: adaptive' explained '1048576 bytes, nonthreaded, adaptive: u0 [0-9]+ .7[0-9].[0-9] %, measured'

for configuration in a b c; do
    rails=ultra24-${configuration}0,ultra24-${configuration}1
    check "the shipped rails $rails move data" timeout -k 10 60 "$bench" bw \
        --validate --rails $rails --engine single,nonthreaded,threaded \
        --sizes 0,8,5000,100K --iterations 2 --repeat 2 --output "$work/bw.txt"
done
for configuration in b c; do
    rate=$(bandwidth ultra24-${configuration}0,ultra24-${configuration}1)
    check "ultra24-$configuration shares 2000 MB/s: $rate" \
        test "${rate:-9999}" -le 2020
done
check 'modelled rails say so' grep -q 'link model' "$work/bw.txt"

# slower LATENCY RATE: no ping-pong in lat.csv is faster than its links
slower()
{
    python3 - "$work/lat.csv" "$1" "$2" <<'PY'
import csv, sys
latency, rate = map(float, sys.argv[2:])
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert {r["engine"] for r in rows} == {"single", "nonthreaded", "threaded"}
for r in rows:
    least = latency + int(r["bytes"]) / (rate * int(r["ports"]))
    assert float(r["pingpong_us_lo"]) >= least, (r["engine"], r["bytes"], least)
    assert not r["limit_pct"], r
PY
}
conf 'l0=rate=100 latency=200' 'l1=rate=100 latency=200' 's0='
export DAPL_RAIL_DAT_CONF=$work/dat.conf
check 'lat over modelled rails' timeout -k 10 60 "$bench" lat --rails l0,l1 \
    --sizes 0,8,4K,64K --batch 1 --iterations 3 --repeat 3 \
    --save "$work/lat.csv" --output "$work/lat.txt"
check 'no ping-pong is faster than the model' slower 200 100
check 'it says how it waits' grep -q \
    'ping-pong: in every row, the target waits for a notif' \
    "$work/lat.txt"
check 'and why it has no limit' grep -q 'ref%: none over modelled rails' \
    "$work/lat.txt"
check 'other rails are polled' sh -c '"$@" | grep -q "engine single over s0, the target polls"' - \
    "$bench" lat --rails s0,l0 --sizes 8 --iterations 3 --repeat 1

# limited RATE RAIL…: what two such rails are compared with
limited()
{
    local rate=$1
    shift
    conf "$@"
    timeout -k 10 60 "$bench" bw --rails "${1%%=*},${2%%=*}" --sizes 64K \
        --engine nonthreaded --batch 2 --iterations 1 --repeat 1 \
        --save "$work/limit.csv" --output "$work/limit.txt" 2>"$work/err" &&
        python3 -c '
import csv, sys
row, = csv.DictReader(open(sys.argv[1], newline=""))
assert float(row["limit"]) == float(sys.argv[2]), row["limit"]' \
            "$work/limit.csv" "$rate"
}
check 'limit: an adapter as fast as its ports' limited 1000 \
    'm0=rate=500 port=p0 adapter=h adapter_rate=1000' \
    'm1=rate=500 port=p1 adapter=h adapter_rate=1000'
check 'limit: an adapter without a rate' limited 1000 \
    'm0=rate=500 adapter=h' 'm1=rate=500 adapter=h'
check 'limit: adapters slower than their ports' limited 600 \
    'm0=rate=1000 adapter=g adapter_rate=300' \
    'm1=rate=1000 adapter=h adapter_rate=300'
check 'limit: one bus' limited 500 'm0=rate=500 bus=b bus_rate=500' \
    'm1=rate=500 bus=b bus_rate=500'
check 'a shared bus is warned of' grep -q 'warning: m0 and m1: .*one host bus' \
    "$work/err"
unset DAPL_RAIL_DAT_CONF
