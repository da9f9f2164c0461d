#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's genuine dapltest over the provider `shm`, or, a part of it, the
# rail IA=name (of CONF=dat.conf).
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

export DAT_OVERRIDE=${CONF:-$BUILD/lib/dapl_rail/dat.conf}
ia=${IA:-shm0}
# others may run the same test on this host, and programs get ports from 32768 on
port=$((20000 + $$ % 12000))

# dapltest's exit status does not tell all; these words in its output do
bad='error|fail|mismatch|bad |cannot|could not|swallowing|no memory'
# said of a run of less than a clock tick, which is no trouble
too_fast='completed successfully, but cannot calculate stats'

# run NAME TYPE ARGUMENT…: a client, which must end well, in time and without a
# word of trouble
run()
{
    local name=$1 type=$2 log=$work/client.log
    shift 2
    echo "# dapltest -T $type $*"
    timeout -k 10 60 dapltest -T "$type" -D "$ia" -n $port "$@" >"$log" 2>&1
    local status=$?
    if [ $status -ne 0 ] ||
        grep -v "$too_fast" "$log" | grep -Eiq "$bad" ||
        ! grep -Eq "$wanted" "$log"; then
        echo "NOT OK - $name: status $status, output:"
        cat "$log"
        failures=$((failures + 1))
    else
        echo "ok - $name"
    fi
}

transaction()
{
    local name=$1
    shift
    run "transaction: $name" T -s localhost "$@"
}

performance()
{
    local name=$1
    shift
    run "performance: $name" P -s localhost "$@"
}

timeout -k 10 110 dapltest -T S -D "$ia" -n $port >"$work/server.log" 2>&1 &
server=$!
background+=("$server")
await_text "$work/server.log" 'Service Point Ready' || exit 1

wanted='End of Work'
transaction 'send and receive' -i 1000 client SR 4096 2 server SR 4096 2
transaction 'small messages' -V -i 500 client SR 8 1 server SR 8 1
transaction 'validated' -V -i 2000 client SR 256 server SR 256
transaction 'RDMA write' -V -i 1000 client RW 4096 1 server RW 2048 4 \
    client SR 1024 4 server SR 4096 2
transaction 'RDMA read' -V -i 1000 client RR 4096 1 server RR 2048 4 \
    client SR 1024 1 server SR 1024 1
transaction 'all, polling' -P -V -i 1000 client RW 65536 2 server RR 65536 2 \
    client SR 1024 3 server SR 2048 1
transaction 'all, blocking' -V -i 1000 client RW 65536 2 server RR 65536 2 \
    client SR 1024 3 server SR 2048 1
transaction 'large' -V -i 10 client RW 1048576 1 server RW 1048576 1 \
    client RR 1048576 1 client SR 262144 1 server SR 262144 1
transaction 'threads and endpoints' -V -t 2 -w 4 -i 500 client RW 4096 1 \
    server RW 2048 4 client SR 1024 4 server SR 4096 2 \
    client SR 1024 3 -f server SR 2048 1 -f
transaction 'threads, polling' -P -t 4 -w 8 -i 200 client SR 256 1 \
    server RW 4096 1 server SR 256 1

modes='b p'
[ "$ia" = shm0 ] || modes=b
for mode in $modes; do
    performance "RDMA write, -m $mode" -m "$mode" -i 1000 RW 4096 1
    performance "RDMA write of 64 KiB, -m $mode" -m "$mode" -i 500 -p 8 RW 65536 2
    performance "RDMA read, -m $mode" -m "$mode" -i 1000 RR 4096 1
    performance "RDMA read, two segments, -m $mode" -m "$mode" -i 200 -p 4 \
        RR 16384 2
done

run 'quit' Q -s localhost
check 'the server ends when told to' await_exit $server 20
background=()
check 'the server saw nothing wrong' \
    sh -c '! grep -Ei "$1" "$2"' - "$bad" "$work/server.log"

[ "$ia" = shm0 ] || exit "$failures"

# Each makes the object as often as allowed; the registry's own limit of IAs
# is far above.
wanted='(created|opened|per EP): [0-9]*(2[0-9]|[3-9][0-9]|100)'
for limit in limit_ia limit_pz limit_cno limit_evd limit_ep limit_rsp \
    limit_psp limit_lmr limit_rpost; do
    run "limit: $limit" L -m 100 $limit
done
wanted='(Largest LMR was|LMR of) 0x[0-9a-f]{5,}'
run 'limit: limit_size_lmr' L -m 20 limit_size_lmr
