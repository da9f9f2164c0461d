#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/compare-hosts: bad input, and what is left of a run that ends early.
# Stands in for the testbed's commands and what they start.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

compare=$SOURCE/scripts/compare-hosts
export BUILD=$work/build TESTBED_HOSTS='n1 n2'
mkdir -p "$work/bin" "$BUILD/bin/peers"
PATH=$work/bin:$PATH

for bad in '--repeat 0' '--time 0' '--time x' '--parts nonsense' \
    '--parts one,one' '--peers ucx,nonsense' '--rate 0' '--rate 1' '--rate x' \
    '--rate 100001' '--hosts 1' '--ppn 0' '--blocks 0x' '--nonsense'; do
    # shellcheck disable=SC2086
    refused "$bad" "${bad% *}" "$compare" $bad
done

# ---------------------------------------------------------- what it starts --

cat >"$work/bin/testbed" <<'END'
#!/bin/sh
END
# on HOST COMMAND…: says what the command would; from the $HOLD-th bandwidth on
# there is no end
cat >"$work/bin/on" <<END
#!/bin/bash
echo "\$*" >>"$work/ran"
case \$* in
*mpi_coll*)
    printf '# MPICH Version: 9\nwhat,bytes,iterations,latency_us\n'
    for word; do
        case \$word in
        allgather:*)
            IFS=: read -r what bytes count <<<"\$word"
            for ((; count; count--)); do echo "\$what,\$bytes,5,10"; done
            ;;
        esac
    done
    case \$* in *mpi_coll.mpich*) exec sleep 300 ;; esac
    ;;
*allgather*)
    printf '{"version": "v", "revision": "r", "results": ['
    printf '{"bytes": %d, "collective": {"latency_us": {"median": 7}}},' \
        4 64 1024 16384 131072 1048576 | sed 's/,\$//'
    echo '], "machine": {"cpu": "c", "kernel": "k"}}'
    ;;
*railbench*'--rank 0')
    case \$* in
    *' bw '*)
        [ "\$(grep -c 'bench bw .*--rank 0' "$work/ran")" -lt "\${HOLD:-999}" ] ||
            { touch "$work/held"; exec sleep 300; } ;;
    esac
    echo '{"version": "v", "revision": "r", "results": [{"bytes": 8,
        "batch": {"latency_us": {"median": 5}},
        "pingpong": {"latency_us": {"median": 5}}}],
        "machine": {"cpu": "c", "kernel": "k"}}'
    ;;
esac
END
wheel=$BUILD/wheels/impi/bin
mkdir -p "$wheel"
for name in "$work/bin/mpiexec.mpich" "$BUILD/bin/railbench" \
    "$wheel/mpiexec" "$BUILD"/bin/peers/mpi_coll.{mpich,impi-wheel}; do
    echo '#!/bin/sh' >"$name"
done
chmod 755 "$work"/bin/* "$wheel"/* "$BUILD"/bin/railbench "$BUILD"/bin/peers/*

# starts ARGUMENTS…: in the background, with a folder of its own
starts()
{
    rm -rf "$work/held" "$work/ran" "$work/result"
    timeout -k 10 100 "$compare" --parts one --peers mpich "$@" "$work/result" \
        >"$work/out" 2>"$work/err" &
    pid=$!
}
# has N: the results hold so many rounds, and nothing else lies there
has()
{
    local rounds
    rounds=$(grep -c '^one,65536,dapl_rail,' "$work/result/hosts-samples.csv")
    [ "$rounds" -eq "$1" ] &&
        grep -q "all programs in turn: $1\\." "$work/result/hosts.txt" &&
        [ "$(find "$work/result" -type f | wc -l)" -eq 2 ]
}
# ended_by SIGNAL: while it measures
ended_by()
{
    soon test -e "$work/held" && kill -"$1" $pid
    wait $pid
    [ $? -eq 1 ] && grep -q "complete rounds: $2\$" "$work/err"
}

check 'three rounds' ends 0 --repeat 3 --ucx "$work/no_ucx"
check '… are there' has 3
check '… and name no path' sh -c \
    'grep -q "left out: no PREFIX" "$1" && ! grep -q "$0" "$1"' \
    "$work/no_ucx" "$work/result/hosts.txt"
check 'no time but for one' ends 0 --time 0.001
check '… which is there' has 1
check 'a peer that does not end' ends 0 --repeat 1 --parts one,allgather
check '… has said all' grep -q '^allgather,1048576,MPICH,1,10$' \
    "$work/result/hosts-samples.csv"
check 'a wheel' ends 0 --repeat 1 --search 1 --peers impi-wheel \
    --parts one,allgather
check '… at its best setting' test 5 -eq \
    "$(grep -c '^Intel MPI,collectives,.*,1,10$' "$work/result/hosts-settings.csv")"
check '… is compared' grep -q 'allgather, best .* mean: 1.43,.*: MISSED$' \
    "$work/result/hosts.txt"
check 'time for all' ends 0 --time 60 --repeat 2
check '… which are there' has 2

for signal in TERM INT; do
    HOLD=8 starts --repeat 4 # three a round
    check "$signal in round 3" ended_by $signal 2
    check '… leaves two' has 2
done
HOLD=2 starts
check 'TERM in round 1' ended_by TERM 0
check '… leaves nothing' test ! -e "$work/result"
