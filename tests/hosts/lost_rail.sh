#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# All-reduces of 16 MiB on four hosts with two rails, while one host has lost one
# of them: all m bytes must leave it, and come, over its other rail. The other
# hosts keep both. With all rails 2 m (N-1)/N bytes leave each host. By hand: RATE
# is in Mbit/s, RAILS are the rails, ALGORITHM one of all-reduce, CALLS a file for
# all times.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
rate=${RATE:-200}
inside --hosts 4 --rails 2 --rate "$rate"
bytes=$((16 << 20))

now() # CLOCK_MONOTONIC, as the program prints it
{
    awk '{ print $1 }' /proc/uptime
}

# took FROM SECONDS UNTIL: the median of calls that began so long behind FROM, and
# ended before UNTIL
took()
{
    awk -v from="$1" -v settles="$2" -v until="$3" \
        '$1 == "call" && $2 > from + settles && $2 + $3 < until { print $3 }' "$work/calls" |
        sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# within SECONDS FACTOR BYTES: of the time that so many bytes take over one rail
within()
{
    awk -v took="$1" -v most="$2" -v bytes="$3" -v mbit="$rate" 'BEGIN {
        bound = bytes / (mbit * 1e6 / 8)
        printf "# %.3f s, %.2f times the bound of %.3f s\n", took, took / bound, bound
        exit !(took && took <= most * bound)
    }'
}

export DRAIL_RAILS=${RAILS:-shm0,tcp-rail0,tcp-rail1}
ranks 4 1 timeout -k 10 60 "$BUILD/test/hosts/reduce_long" $bytes 28 ${ALGORITHM:+"$ALGORITHM"} \
    >"$work/calls" 2>&1 &
program=$!
sleep 9
cut=$(now)
testbed cut rail1 n4
sleep 11
mended=$(now)
testbed mend rail1 n4
check 'all calls are right' wait $program
[ -z "${CALLS:-}" ] || cp "$work/calls" "$CALLS"
check 'two rails' within "$(took 0 0 "$cut")" 1.25 $((bytes * 3 / 4))
check 'a host has lost a rail' within "$(took "$cut" 1.5 "$mended")" 1.25 $bytes
check 'it is back' within "$(took "$mended" 2 1e9)" 1.25 $((bytes * 3 / 4))
