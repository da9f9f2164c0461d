#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Time, sleep, threads: transport and collectives ask the platform of their
# job, so that a simulator can take the machine's place. Only the platform's
# own files, and the ranks that are forked, call the system.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

hooked='clock_[a-z]+|(nano|u|)sleep|time|gettimeofday|sched_yield|syscall'
hooked="$hooked|pthread_(create|join|mutex_.*|cond_.*)|sem_[a-z]+|p?poll|select"
hooked="$hooked|fork|GOMP_.*|omp_.*|__kmpc_.*"

# "dapl_rail/job/launch/fork.o poll" for each call of an object that has a hook
direct()
{
    local objects
    cd "$SOURCE" || return 1
    mapfile -t objects < <(find dapl_rail coll -name '*.c' |
        sed "s|^|$BUILD/obj/|; s|c\$|o|")
    nm -A -u "${objects[@]}" |
        sed -E "s#^$BUILD/obj/##; s#: +U # #; s#@.*##" | grep -Ex "\S+ ($hooked)"
}

direct >"$work/direct"
check 'the platform calls the system' \
    grep -q '^dapl_rail/platform/machine.o clock_gettime' "$work/direct"
check 'nobody else does' sh -c \
    '! grep -Ev "^dapl_rail/(platform/(machine|resources)|job/[a-z0-9_/]+).o " "$0"' \
    "$work/direct"
