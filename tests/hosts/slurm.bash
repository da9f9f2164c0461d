# SPDX-License-Identifier: BSD-3-Clause
# A Slurm cluster of a testbed's hosts: its daemons run as root, keep all that
# they write in $work/slurm, and end with the testbed.

# slurm_up HOSTS: sets SLURM_CONF; munge's socket is a file that all hosts see
slurm_up()
{
    local hosts=$1 host dir=$work/slurm
    mkdir -p "$dir/state" "$dir/munge"
    chmod 755 "$dir" "$dir/munge"
    (umask 077 && head -c 128 /dev/urandom >"$dir/munge/key")
    munged --foreground --force --key-file="$dir/munge/key" \
        --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
        --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" \
        --num-threads=1 >"$dir/munge/out" 2>&1 &
    slurm_conf "$hosts" "$dir" >"$dir/slurm.conf"
    export SLURM_CONF=$dir/slurm.conf
    for _ in $(seq 100); do
        [ -S "$dir/munge/socket" ] && break
        sleep 0.05
    done
    on n1 slurmctld -D -i >"$dir/slurmctld.log" 2>&1 &
    for ((host = 1; host <= hosts; host++)); do
        mkdir "$dir/spool-n$host"
        on "n$host" slurmd -D -N "n$host" >"$dir/slurmd-n$host.log" 2>&1 &
    done
    for _ in $(seq 100); do
        [ "$(on n1 sinfo -h -o %T 2>/dev/null)" = idle ] && return 0
        sleep 0.1
    done
    cat "$dir"/*.log "$dir/munge/log"
    return 1
}

slurm_conf()
{
    local hosts=$1 dir=$2
    cat <<CONF
ClusterName=testbed
SlurmctldHost=n1
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
SrunPortRange=17000-17999
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=n[1-$hosts] CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=n[1-$hosts] Default=YES MaxTime=10 State=UP
CONF
}
