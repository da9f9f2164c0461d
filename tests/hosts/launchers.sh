#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over three hosts as clusters start them: Open MPI's mpirun, and a real
# Slurm by PMIx, by PMI-2, and with mpirun in an allocation. The launcher's
# network is another one than the rails'.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
# shellcheck source=tests/hosts/slurm.bash
. "${SOURCE:?}/tests/hosts/slurm.bash"
inside --hosts 3 --rails 2 --rate 1gbit
unset DRAIL_SECRET # a launcher's job has its own

few=(--rails tcp-rail0,tcp-rail1 --format csv --iterations 2 --warmup 1
    --repeat 1 --validate)
bw=("$bench" bw "${few[@]}" --engine nonthreaded --sizes 4K,1M --batch 4)
allgather=("$bench" allgather "${few[@]}" --sizes 1K,64K)

# job LINES COMMAND…: its standard output has so many lines of results
job()
{
    local lines=$1
    shift
    timeout -k 10 40 "$@" >"$work/out" 2>"$work/err" </dev/null &&
        [ "$(grep -c '^\(bw\|allgather\),' "$work/out")" -eq "$lines" ] &&
        return 0
    cat "$work/out" "$work/err"
    return 1
}

# fails COMMAND…: with a status of its own, and in time
fails()
{
    local status=0
    timeout -k 10 40 "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ $status -ne 0 ] && [ $status -ne 124 ] && [ $status -ne 137 ]
}

none=1
if command -v mpirun.openmpi >/dev/null; then
    none=0
    mpi=(on n1 mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent
        /run/testbed/bin/agent --mca oob_tcp_if_include eth0 --bind-to none)
    check 'mpirun, 2 hosts' job 2 "${mpi[@]}" -n 2 -H n1:1,n2:1 "${bw[@]}"
    check 'mpirun, 3 hosts x 2 ranks' job 2 "${mpi[@]}" -n 6 \
        -H n1:2,n2:2,n3:2 "${allgather[@]}"
    check 'mpirun: a rail that is not there' fails "${mpi[@]}" -n 2 \
        -H n1:1,n2:1 "$bench" bw --rails tcp-rail3
fi
try_slurm()
{
    local slurm=(on n1 srun -N 2)
    check 'srun, PMIx' job 2 "${slurm[@]}" --mpi=pmix -n 2 "${bw[@]}"
    check 'srun, PMIx, 3 hosts x 2 ranks' job 2 on n1 srun -N 3 -n 6 \
        --ntasks-per-node=2 \
        --mpi=pmix "${allgather[@]}"
    check 'srun, PMI-2' job 2 "${slurm[@]}" --mpi=pmi2 -n 2 "${bw[@]}"
    check 'srun, PMI-2, 3 hosts x 2 ranks' job 2 on n1 srun -N 3 -n 6 \
        --ntasks-per-node=2 \
        --mpi=pmi2 "${allgather[@]}"
    check 'srun, hosts with unequal numbers of ranks' job 2 on n1 srun -N 3 -n 6 \
        --mpi=pmix -m arbitrary -w n1,n1,n1,n2,n2,n3 "${allgather[@]}"
    check 'srun, ranks on the hosts in turn' job 2 on n1 srun -N 3 -n 6 \
        --mpi=pmi2 -m cyclic "${allgather[@]}"
    check 'srun: a rail that is not there' fails "${slurm[@]}" --mpi=pmix -n 2 \
        "$bench" bw --rails tcp-rail3
    [ ${#mpi[@]} -eq 0 ] ||
        check 'mpirun within salloc' job 2 on n1 salloc -Q -N 2 -n 2 \
            --ntasks-per-node=1 mpirun.openmpi --allow-run-as-root \
            --bind-to none "${bw[@]}"
}
if command -v slurmctld srun munged >/dev/null; then
    none=0
    if slurm_up 3 >"$work/slurm.out" 2>&1; then
        try_slurm
    elif grep -q 'Unable to initialize cgroup plugin' "$work/slurm.out"; then
        echo 'skipped: slurmd finds no control groups of its kind here'
    else
        cat "$work/slurm.out"
        check 'a Slurm cluster' false
    fi
fi
[ $none -eq 0 ] || skip 'no launcher is installed: scripts/install-deps'
