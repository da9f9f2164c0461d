#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP programs on several ranks: how they end, and what is refused.
# shellcheck source=tests/integration/openmp.bash
. "${SOURCE:?}/tests/integration/openmp.bash"

# --- ends -------------------------------------------------------------------------

cat >ends.c <<'END'
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char said[64];
static int deep(int bytes)
{
    volatile char room[4096];
    room[0] = room[4095] = 1;
    return bytes > 0 ? deep(bytes - 4096) + room[0] : 0;
}
static void at_exit(void)
{
    printf("%s at exit\n", said);
}
__attribute__((destructor)) static void destroy(void)
{
    printf("destroyed\n");
}
int main(int argc, char **argv)
{
    atexit(at_exit);
    setvbuf(stdout, malloc(4096), _IOFBF, 4096);
#pragma omp parallel
    {
#pragma omp single
        strcpy(said, argv[argc - 1]);
        if (omp_get_thread_num() == omp_get_num_threads() - 1) {
            if (!strcmp(said, "abort"))
                abort();
            if (!strcmp(said, "exit"))
                exit(4);
            if (!strcmp(said, "null"))
                *(volatile int *)NULL = 1;
            if (!strcmp(said, "raise"))
                raise(SIGTERM);
            if (!strcmp(said, "fork"))
                fork();
            if (!strcmp(said, "deep"))
                deep(1300 << 10);
            if (!strcmp(said, "unseen")) {
                kill(getppid(), SIGSTOP);
                abort();
            }
        }
        while (!strcmp(said, "null") || !strcmp(said, "stay"))
            usleep(1000);
    }
    exit(7);
}
END
check 'ends.c' "$BUILD/bin/railomp-cc" ends.c -o ends
threads=1
# ended STATUS REGEX WORD: one line on standard error matches
ended()
{
    RAILOMP_RANKS=2 OMP_NUM_THREADS=$threads timeout -k 5 30 ./ends "$3" \
        >out 2>err
    exited_with "$1" $? && [ "$(wc -l <err)" -eq 1 ] && grep -Eq "$2" err ||
        { cat err && return 1; }
}
RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 30 ./ends well >out 2>err
check 'exit(7)' exited_with 7 $?
check 'what runs at exit' cmp out <(printf 'well at exit\ndestroyed\n')
check 'a rank aborts' ended 1 'rank 1 was killed by signal 6 ' abort
check 'a rank dereferences NULL' ended 1 'rank 1 was killed by signal 11 ' null
check 'a rank raises SIGTERM' ended 1 'rank 1 was killed by signal 15 ' raise
# unseen: what has forked the ranks finds out later than rank 0, but says why
unseen()
{
    RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./ends unseen >out 2>err &
    local program=$! i
    for ((i = 0; i < 1000; i++)); do
        ! grep -q '^State:.T' "/proc/$program/status" || break
        sleep 0.01
    done
    sleep 1.5
    kill -CONT "$program"
    wait "$program"
    exited_with 1 $? && [ "$(wc -l <err)" -eq 1 ] &&
        grep 'rank 1 was killed by signal 6 ' err || { cat err && return 1; }
}
check 'rank 0 sees first that a rank is gone' unseen
# terminated: a signal ends the program and its ranks, as one process
terminated()
{
    RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./ends stay >out 2>err &
    local program=$!
    sleep 1
    kill "$program" && { wait "$program" || exited_with 143 $?; } &&
        [ ! -s err ] && ! pgrep -s 0 -x ends
}
check 'SIGTERM' terminated
check 'a rank calls exit' ended 1 'rank 1: exit\(4\) was called' exit
check 'a rank forks' ended 2 'rank 1: fork\(\) is not served' fork
# shallow STATUS REGEX WORD: the same with stacks of 1 MiB, two in each rank
shallow()
{
    (threads=2 && ulimit -S -s 1024 && ended "$@")
}
check 'a stack overflows' shallow 1 'rank 1 was killed by signal 11 ' deep
export RAILOMP_PAGES=copied
check 'a rank aborts, pages are copied' ended 1 \
    'rank 1 was killed by signal 6 ' abort
check 'a rank dereferences NULL, pages are copied' ended 1 \
    'rank 1 was killed by signal 11 ' null
check 'a rank forks, pages are copied' ended 2 'rank 1: fork\(\) is not served' fork
check 'a stack overflows, pages are copied' shallow 1 \
    'rank 1 was killed by signal 11 ' deep
unset RAILOMP_PAGES

# --- bad input ------------------------------------------------------------------

refused 'no number of ranks' "RAILOMP_RANKS.'x' 1.to" env RAILOMP_RANKS=x ./ends
refused 'no rank' "RAILOMP_RANKS.'0'" env RAILOMP_RANKS=0 ./ends
# told NAME SETTING…: status 2; libgomp, which our own threads use, may
# say something, too
told()
{
    local status
    RAILOMP_RANKS=2 timeout -k 5 30 env "${@:2}" ./ends >out 2>err
    status=$?
    check "told: $*" [ "$status $(grep -c '^railomp: .*is wrong (allowed: ' err)" = "2 1" ]
}
told 'no thread' OMP_NUM_THREADS=0
told 'no schedule' OMP_SCHEDULE=fast
told 'no chunk' OMP_SCHEDULE=static,0
told 'no stack' OMP_STACKSIZE=1x
told 'no pages' RAILOMP_PAGES=none
told 'no heap' RAILOMP_HEAP=1X
told 'no heap of 2^64 bytes' RAILOMP_HEAP=16777216T
told 'no heap of 2^60 bytes' RAILOMP_HEAP=1048576T
told 'a heap that is too small' RAILOMP_HEAP=100K
told 'an empty setting' RAILOMP_PAGES=
told 'no chunk behind the comma' OMP_SCHEDULE=dynamic,
told 'no limit of threads' OMP_THREAD_LIMIT=0
told 'no levels' OMP_MAX_ACTIVE_LEVELS=-1
told 'no policy' OMP_WAIT_POLICY=lazy
told 'no statistics' RAILOMP_STATS=yes
for value in '' -1 2x 99999999999999999999 16385; do
    refused "RAILOMP_RANKS='$value'" "RAILOMP_RANKS.'$value'.is.wrong" \
        env RAILOMP_RANKS="$value" ./ends
done
two_ranks=(env RAILOMP_RANKS=2 OMP_NUM_THREADS=1)
refused 'too many threads' 'OMP_NUM_THREADS.100000.is.not.served' \
    "${two_ranks[@]}" OMP_NUM_THREADS=100000 ./ends
refused 'no such rail' 'none0:.not.listed|no.such.rail' "${two_ranks[@]}" DRAIL_RAILS=none0 ./ends
refused 'no such engine' 'DRAIL_ENGINE=turbo' \
    "${two_ranks[@]}" DRAIL_ENGINE=turbo ./ends
refused 'a launcher that names no rank' 'DRAIL_RANK' \
    env DRAIL_RENDEZVOUS=127.0.0.1:1 ./ends
refused 'a rank that is not there' 'rank.7.of.2' \
    env DRAIL_RENDEZVOUS=127.0.0.1:1 DRAIL_RANKS=2 DRAIL_RANK=7 ./ends
# a sanitizer needs more
[ -n "${ASAN:=$(ldd ./ends | grep libasan)}" ] ||
    refused 'no memory' 'more.than.ulimit.-v' \
        bash -c 'ulimit -v 1000000 && RAILOMP_RANKS=2 OMP_NUM_THREADS=1 exec ./ends'
OMP_STACKSIZE=1b OMP_NUM_THREADS=2 ./ends well >out 2>err
check 'a stack that is too short is made longer' exited_with 7 $?

cat >handles.c <<'END'
#include <signal.h>
int main(void)
{
    signal(SIGSEGV, SIG_IGN);
    return 0;
}
END
for standard in gnu17 c99; do
    "$BUILD/bin/railomp-cc" -std=$standard handles.c -o handles
    refused "a handler of SIGSEGV, -std=$standard" 'handler.of.SIGSEGV' \
        "${two_ranks[@]}" RAILOMP_PAGES=copied ./handles
done
cat >protects.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
int shared[1024];
int main(void)
{
    mprotect((void *)((uintptr_t)shared & -4096), 4096, PROT_READ);
#pragma omp parallel
#pragma omp critical
    puts("a thread");
    return 0;
}
END
"$BUILD/bin/railomp-cc" protects.c -o protects
refused 'mprotect of copied pages' 'mprotect.of.shared.memory' \
    "${two_ranks[@]}" RAILOMP_PAGES=copied ./protects
check '... it is served where the memory is one' sh -c '"$@" | wc -l | grep -qx 2' - \
    "${two_ranks[@]}" RAILOMP_PAGES=shared ./protects
sed 's/mprotect(.*PROT_READ)/mremap((void *)((uintptr_t)shared \& -4096), 4096, 8192, 1)/
    s/^#include <stdint/#define _GNU_SOURCE\n&/' protects.c >remaps.c
"$BUILD/bin/railomp-cc" remaps.c -o remaps
refused 'mremap of shared memory' 'mremap.of.shared.memory' "${two_ranks[@]}" ./remaps
# replaced NAME CALL: shared memory is not to be changed by that call of @page
replaced()
{
    sed "s/mremap(.*1)/$2/; s/@page/(void *)((uintptr_t)shared \\& -4096)/" remaps.c >replaces.c
    "$BUILD/bin/railomp-cc" replaces.c -o replaces
    refused "$1" "${1%%.*}.*of.shared.memory" "${two_ranks[@]}" ./replaces
}
replaced mmap.with.MAP_FIXED \
    'mmap(@page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)'
replaced madvise 'madvise(@page, 4096, MADV_DONTNEED)'
cat >leaves.c <<'END'
#include <pthread.h>
int main(void)
{
#pragma omp parallel
    ;
    pthread_exit(NULL);
}
END
"$BUILD/bin/railomp-cc" leaves.c -o leaves
refused 'pthread_exit of main' 'pthread_exit.in' "${two_ranks[@]}" ./leaves
