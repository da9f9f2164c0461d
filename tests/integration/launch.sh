#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench as ranks that something else has started: by hand, and by launchers
# that are here.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
short=(--sizes 8 --repeat 2 --iterations 5 --warmup 1)
export DRAIL_SECRET=of-sixteen-characters

port=$(free_port)
where=127.0.0.1:$port

# by_hand RANKS ARGUMENTS…: a process each; statuses into $statuses, what rank R
# says into $work/R.out and .err
by_hand()
{
    local ranks=$1 rank pids=()
    shift
    for rank in $(seq 0 $((ranks - 1))); do
        timeout 60 "$bench" "$@" --rendezvous "$where" --ranks "$ranks" \
            --rank "$rank" >"$work/$rank.out" 2>"$work/$rank.err" &
        pids+=($!)
    done
    statuses=
    for rank in $(seq 0 $((ranks - 1))); do
        wait "${pids[rank]}"
        statuses+="$?"
    done
}

# statuses_are STATUSES: and tells what ranks said, if they are not
statuses_are()
{
    [ "$statuses" = "$1" ] || {
        echo "statuses $statuses, not $1:"
        cat "$work"/?.err
        return 1
    }
}
silent() { [ ! -s "$work/$1.out" ] && [ ! -s "$work/$1.err" ]; }
says() { grep -q -- "$2" "$work/$1" || { cat "$work/$1"; false; }; }

by_hand 2 lat "${short[@]}" --validate --engine single
check 'two processes measure the latency' statuses_are 00
check 'rank 0 reports' says 0.out 'single.* valid'
check 'rank 1 is silent' silent 1

by_hand 3 allgather "${short[@]}" --validate --output "$work/table"
check 'three processes gather' statuses_are 000
check 'rank 0 writes the file' says table '3 ranks, 3 per node'
check 'the others are silent' eval 'silent 1 && silent 2'
check 'no other file is left' eval '[ "$(ls "$work" | grep -c table)" = 1 ]'

by_hand 2 check "${short[@]}" --collective bcast --format csv
check 'several jobs in turn' eval 'statuses_are 00 || statuses_are 10'
check '... and rank 1 is silent' silent 1

# Where ranks were put is what counts, not how many cores there are.
crowd=$bench
core=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' "$core" "$bench" >"$work/one"
chmod 755 "$work/one"
bench=$work/one
for run in 'allgather --each --sizes 8 --iterations 5' 'dsm --part barrier' \
    'radix --keys 1000'; do
    # shellcheck disable=SC2086
    by_hand 2 $run --repeat 2
    check "one core for both: $run" statuses_are 00
    check '... as rank 0 says' says 0.out '2 ranks share 1 core$'
    check '... and warns' says 0.err 'warning: 2 ranks share 1 core$'
    check '... and nobody else' silent 1
done
by_hand 2 lat "${short[@]}" --engine single
check '... of a pair' says 0.out '2 ranks with 1 thread each share 1 core$'
bench=$crowd

by_hand 3 bw "${short[@]}"
check 'messages need two ranks' statuses_are 222
check '... as rank 0 says' says 0.err "bw: --ranks: '3' is wrong; allowed: 2"
check '... and nobody else' eval 'silent 1 && silent 2'

by_hand 2 tune "${short[@]}" --shapes 4 --collective barrier
check 'shapes that were not launched' statuses_are 11
check '... are told' says 0.err '4 ranks are asked for, and 2 were launched'

# Ranks in IPC namespaces of their own are on hosts of their own.
if unshare --map-root-user --ipc true 2>/dev/null; then
    railbench=$bench
    printf '#!/bin/sh\nexec unshare --map-root-user --ipc "%s" "$@"\n' \
        "$railbench" >"$work/apart"
    chmod 755 "$work/apart"
    bench=$work/apart
    for clocks in --each "--histogram $work/h.csv"; do
        # shellcheck disable=SC2086
        by_hand 2 allgather "${short[@]}" $clocks
        check "one clock for ${clocks%% *}" statuses_are 22
        check '... as rank 0 says' says 0.err \
            "${clocks%% *}: 'several hosts' is wrong; allowed: ranks of one host"
        check '... and nobody else' silent 1
    done
    bench=$railbench
else
    echo 'skipped: no namespaces: several hosts'
fi

by_hand 2 bw "${short[@]}" --rails shm0,nowhere
check 'a rail that is not there' eval '[ "${statuses:0:1}" = 2 ]'
check '... is told' says 0.err "--rails: .*nowhere"

# wrong STATUS TEXT ARGUMENTS…
wrong()
{
    local status=$1 text=$2
    shift 2
    timeout 60 "$bench" lat "$@" >"$work/out" 2>"$work/err"
    [ $? = "$status" ] && [ ! -s "$work/out" ] &&
        [ "$(wc -l <"$work/err")" = 1 ] && grep -q -- "$text" "$work/err" ||
        { cat "$work/err"; false; }
}
check 'an address without a port' wrong 2 'allowed: host:port' --rendezvous here
check 'no rank' wrong 2 'DRAIL_RANK is not set' --rendezvous "$where" --ranks 2
check 'a rank too many' wrong 2 'rank 2 of 2' \
    --rendezvous "$where" --ranks 2 --rank 2
check 'nobody comes' wrong 1 'rank 1 of 2 has not come in time' \
    --rendezvous "$where" --ranks 2 --rank 0 --connect-time 0.2
check 'nobody is there' wrong 1 'rank 1 does not reach rank 0 in time' \
    --rendezvous "$where" --ranks 2 --rank 1 --connect-time 0.2
check 'no secret' env -u DRAIL_SECRET bash -c "$(declare -f wrong)
    bench=$bench work=$work
    wrong 2 'needs a secret' --rendezvous $where --ranks 2 --rank 1"
check 'a rank of its own forks' timeout 60 env DRAIL_RENDEZVOUS="$where" \
    "$bench" barrier --repeat 1 --iterations 5 --fork --output /dev/null

check 'a launcher that is not there' env PMIX_NAMESPACE=nowhere bash -c "
    $(declare -f wrong); bench=$bench work=$work; wrong 1 'PMIx'"
check 'no descriptor of a launcher' env PMI_FD=77 bash -c "
    $(declare -f wrong); bench=$bench work=$work; wrong 2 \"PMI_FD: '77'\""

# --- launchers ----------------------------------------------------------------

# mpirun RANKS ARGUMENTS…
mpirun()
{
    local ranks=$1
    shift
    timeout -k 10 60 mpirun.openmpi --allow-run-as-root --oversubscribe \
        -n "$ranks" "$bench" "$@" >"$work/out" 2>"$work/err"
}
if command -v mpirun.openmpi >/dev/null; then
    check 'mpirun' mpirun 4 allgather "${short[@]}" --validate
    check '... rank 0 alone reports' \
        eval '[ "$(grep -c "4 ranks, 4 per node" "$work/out")" = 1 ]'
    check 'mpirun: two ranks' mpirun 2 lat "${short[@]}" --engine single
    check 'mpirun: another number of ranks' \
        eval '! mpirun 3 allgather "${short[@]}" --ranks 2'
    check '... is told' says err '2 ranks are asked for, and 3 were launched'
else
    echo 'skipped: no mpirun.openmpi'
fi
# Debian's, and that of the wheel, which takes less
for hydra in mpiexec.hydra "$BUILD/wheels/mpich/bin/mpiexec.hydra"; do
    if ! command -v "$hydra" >/dev/null; then
        echo "skipped: no ${hydra#"$BUILD/"}"
        continue
    fi
    check "MPICH's mpiexec, by PMI-2" timeout -k 10 60 "$hydra" -n 3 \
        "$bench" allgather "${short[@]}" --validate --output "$work/hydra"
    check '... rank 0 reports' says hydra '3 ranks, 3 per node'
    rm -f "$work/hydra"
done
intel=$BUILD/wheels/impi/bin/mpiexec.hydra # not in make deps: its licence
if [ -x "$intel" ]; then
    check "Intel MPI's mpiexec, which ends at PMI-2" eval \
        '! I_MPI_PMI=pmi2 timeout -k 10 60 "$intel" -n 2 "$bench" bw \
        "${short[@]}" >"$work/out" 2>"$work/err"'
    check '... is named' says err "Intel MPI's mpiexec knows no command of PMI-2"
fi
