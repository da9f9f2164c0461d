#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# All that runs over shared memory runs over TCP by libfabric: genuine dapltest
# and dtest, and our programs.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

here=$SOURCE/tests/integration
bench=$BUILD/bin/railbench
export BUILD SOURCE

if ! [ -e "$BUILD/lib/dapl_rail/libdapl_ofi.so" ]; then
    echo "there is no libfabric here"
    exit 77
fi

small=(--sizes '0,8,4K,1M' --iterations 5 --warmup 2 --repeat 2 --validate)
check 'railbench bw' "$bench" bw --rails tcp-lo --engine single "${small[@]}"
check 'railbench lat' "$bench" lat --rails tcp-lo --engine single "${small[@]}"
check 'shared memory and TCP side by side' "$bench" bw --rails shm0,tcp-lo \
    --engine nonthreaded "${small[@]}"
check 'railbench allgather' "$bench" allgather --rails tcp-lo --ranks 3 \
    --sizes '8,16K' --iterations 5 --repeat 2 --validate

# takes CALL RAILS COLLECTIVE SIZE ALGORITHM: so does `auto` between two nodes
takes()
{
    "$bench" "$3" --rails "$2" --ranks 4 --ppn 2 --sizes "$4" --call "$1" \
        --iterations 2 --repeat 1 --format json | grep -q "\"chosen\": \"$5\""
}
chooses()
{
    takes persistent "$1" allreduce 1K "$2" &&
        takes blocking "$1" allreduce 1K "$2"
}
check 'auto between nodes that share memory' chooses shm0 smp-slices
check '… also beside TCP' chooses shm0,tcp-lo smp-slices
check 'auto between nodes that wires join' chooses tcp-lo smp-doubling
check '… for a long broadcast' takes persistent tcp-lo bcast 1M smp-circulant
check '… which may be learned' takes blocking tcp-lo bcast 1M \
    '\(smp-circulant\|smp-bcast\|binomial\)'

check 'dtest' env IA=tcp-lo bash "$here/dtest.sh"
check 'dapltest' env IA=tcp-lo bash "$here/dapltest.sh"
