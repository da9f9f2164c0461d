#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/compare-bond and scripts/impi2018: bad input; a report, with what
# stands in for the testbed's commands.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

compare=$SOURCE/scripts/compare-bond
built=$BUILD
export BUILD=$work/build TESTBED_HOSTS='n1 n2'
mkdir -p "$work/bin" "$BUILD"/wheels/{impi,impi2018}/bin "$BUILD/test/mpi"
PATH=$work/bin:$PATH
cp "$built/revision" "$BUILD"

refused 'no Intel MPI' 'make deps-peers' "$compare"
refused 'no Intel MPI' 'make deps' "$SOURCE/scripts/impi2018" shm0 true
refused 'no program' usage: "$SOURCE/scripts/impi2018" shm0
printf '#!/bin/sh\n' | tee "$BUILD/wheels/impi/bin/IMB-MPI1" \
    "$BUILD/wheels/impi2018/bin/mpiexec.hydra" "$work/bin/testbed" \
    >"$BUILD/test/mpi/mpi_exchange.mpich-wheel"
for bad in '--repeat 0' '--time 0' '--parts nonsense' '--nonsense'; do
    # shellcheck disable=SC2086
    refused "$bad" "${bad% *}" "$compare" $bad
done

# on HOST COMMAND…: says what the command would; the bond has half of the time,
# and so has the threaded one over shared memory
cat >"$work/bin/on" <<'END'
#!/bin/bash
case $* in
*mpi_exchange*) printf 'longest round: 40.0 ms\n0 failures\n' ;;
*)
    case $3 in bond | near-threaded) us=2000 ;; *) us=4000 ;; esac
    for test in PingPong Sendrecv Exchange; do
        echo "# Benchmarking $test "
        printf ' %d 10 %d %d %d 1\n' 8 9 9 9 1048576 $us $us $us \
            4194304 $us $us $us
    done
    echo '# All processes entering MPI_Finalize' ;;
esac
END
chmod -R 755 "$work/bin" "$BUILD"

measures() { "$compare" --repeat 2 "$work/result" >"$work/out"; }
check 'two rounds' measures
report=$work/result/bond.txt
check '… are told' grep -q '^Rounds: 2\.' "$report"
check '… with what is met' grep -q \
    'PingPong of 4M, .*: one rail: 2.000 .*: met$' "$report"
check '… over shared memory, too' grep -q \
    'Sendrecv, time over the bond : one rail, worst size (4M): 1.000 .*: met$' \
    "$report"
check '… and what threads gain' grep -q \
    'PingPong of 1M, rate over the threaded bond : one rail: 2.000 .*: met$' \
    "$report"
check '… of each size' grep -q '^ *PingPong  *1M  *4000.00 .* 0.500 ' "$report"
check '… and each round' [ "$(grep -c '^bond,Exchange,4194304,' \
    "$work/result/bond-samples.csv")" -eq 2 ]
check '… and no path' sh -c '! grep -q "$0" "$1"' "$work" "$report"
