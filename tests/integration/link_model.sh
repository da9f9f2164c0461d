#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rails with a link model: bad parameters are named, the shipped rails move
# data, and the three configurations of seed 004 differ as eqs. (1) to (3) say.
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

# refused NAME 'REGEX' RAIL…: exit status 2, and the reason names rail and field
refused()
{
    local name=$1 wanted=$2
    shift 2
    conf "$@"
    local rails
    rails=$(printf '%s\n' "$@" | cut -d= -f1 | paste -sd,)
    DAPL_RAIL_DAT_CONF=$work/dat.conf timeout -k 1 30 "$bench" bw \
        --rails "$rails" --sizes 8 --repeat 1 >"$work/out" 2>"$work/err"
    local status=$?
    if [ $status -eq 2 ] && grep -Eq "^dapl shm: rail $wanted" "$work/err"; then
        echo "ok - refused: $name"
    else
        echo "NOT OK - refused: $name: status $status, wanted: $wanted"
        cat "$work/err"
        failures=$((failures + 1))
    fi
}

refused 'negative rate' "m0: rate in dat.conf: '-5', allowed: MB/s" 'm0=rate=-5'
refused 'no number' "m0: latency in dat.conf: 'fast', allowed" 'm0=rate=5 latency=fast'
refused 'unknown parameter' 'm0: speed in dat.conf: unknown parameter; known:' 'm0=speed=1'
refused 'given twice' 'm0: rate in dat.conf: given twice' 'm0=rate=1 rate=2'
refused 'port without adapter' 'm0: port in dat.conf: needs the adapter' 'm0=rate=9 port=p'
refused 'bus without rate' 'm0: bus in dat.conf: needs bus_rate' 'm0=rate=9 bus=b'
refused 'model without rate' 'm0: rate in dat.conf: is needed' 'm0=latency=2'
refused 'change without rate' 'm0: change_after in dat.conf: needs change_rate' 'm0=rate=9 change_after=1M'
refused 'change without time' 'm0: change_rate in dat.conf: needs change_after' 'm0=rate=9 change_rate=5'
refused 'change after no number' "m0: change_after in dat.conf: 'soon', allowed: bytes" 'm0=rate=9 change_rate=5 change_after=soon'
refused 'change of no model' 'm0: rate in dat.conf: is needed' 'm0=change_rate=5 change_after=1M'
refused 'two changes of one port' "m1: change_rate in dat.conf: another rail of port 'p'" \
    'm0=rate=9 port=p adapter=h change_rate=5 change_after=1M' 'm1=rate=9 port=p adapter=h'
refused 'two rates for one adapter' \
    "m1: adapter_rate in dat.conf: 8 MB/s for 'h', another rail says 9" \
    'm0=rate=9 adapter=h adapter_rate=9' 'm1=rate=9 adapter=h adapter_rate=8'

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
check 'two adapters are no faster than that' test "${a:-9999}" -le 810
check 'two ports share their adapter' test "${b:-9999}" -le 405
check 'two sub-channels share their port' test "${c:-9999}" -le 405
unset DAPL_RAIL_DAT_CONF

conf 'u0=rate=300' 'u1=rate=100'
DAPL_RAIL_DAT_CONF=$work/dat.conf timeout -k 1 60 "$bench" bw --rails u0,u1 \
    --engine nonthreaded --policy even,weighted,adaptive --explain \
    --sizes 4K,1M --batch 4 --iterations 3 --repeat 3 >/dev/null 2>"$work/err"
explained() { grep -Eq "^explain: $1" "$work/err"; }
check 'explained: too short' explained '4096 bytes, nonthreaded, even: all over u0 .shorter than'
check 'explained: even' explained '1048576 bytes, nonthreaded, even: u0 524288 .50.0 %., u1 524288'
check 'explained: weighted' explained '1048576 bytes, nonthreaded, weighted: u0 786432 .75.0 %, nominal 300'
check 'explained: adaptive' explained '1048576 bytes, nonthreaded, adaptive: u0 [0-9]+ .7[0-9].[0-9] %, measured'

check 'the shipped rails move data' timeout -k 1 60 "$bench" bw --validate \
    --rails ultra24-a0,ultra24-a1 --engine single,nonthreaded,threaded \
    --sizes 0,8,5000,100K --iterations 2 --repeat 2 --output "$work/bw.txt"
check 'modelled rails say so' grep -q 'link model' "$work/bw.txt"
