# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts in this folder. By hand: BUILD=build SOURCE=. script.sh
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

testbed=$SOURCE/scripts/testbed
bench=$BUILD/bin/railbench

# inside TESTBED-OPTIONS…: the rest of the script runs beside such hosts, in
# at most $LIMIT seconds. They share $work; rail0 is IA tcp-rail0, and so on.
inside()
{
    if [ -z "${INSIDE:-}" ]; then
        [ -e "$BUILD/lib/dapl_rail/libdapl_ofi.so" ] ||
            skip 'built without libfabric: no rails between hosts'
        INSIDE=1 TMPDIR=/run timeout -k 10 "${LIMIT:-200}" "$testbed" \
            "$@" bash "$0" 2>"$work/err"
        local status=$?
        cat "$work/err"
        [ $status -eq 77 ] && exit 77 # its last line says why
        exit $status
    fi
    chmod 755 "$work"
    DRAIL_SECRET=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
    export DRAIL_SECRET
    port=7000
}

# ranks HOSTS PPN COMMAND…: one job of PPN processes on each of the hosts
# n1 … nHOSTS, which meet at a rendezvous. Rank 0's output is ours.
ranks()
{
    local hosts=$1 ppn=$2 host place rank=0 status=0 pid pids=()
    shift 2
    port=$((port + 1)) # the last one's may not be free yet
    export DRAIL_RANKS=$((hosts * ppn)) DRAIL_RENDEZVOUS=n1:$port
    for ((host = 1; host <= hosts; host++)); do
        for ((place = 0; place < ppn; place++)); do
            DRAIL_RANK=$rank on "n$host" "$@" &
            pids+=($!)
            rank=$((rank + 1))
        done
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || status=$?
    done
    return $status
}

# column NAME [PATTERN]: of the lines of CSV that match
column()
{
    awk -F, -v name="$1" -v pattern="${2:-.}" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        $0 ~ pattern { print $at }'
}
