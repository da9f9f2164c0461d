#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP programs on several ranks print what they print with gcc's own runtime
# on as many threads (tests/omp).
# shellcheck source=tests/integration/openmp.bash
. "${SOURCE:?}/tests/integration/openmp.bash"

programs=$SOURCE/tests/omp
preload=
# build NAME SOURCE COMPILER WRAPPER [OPTION]: as NAME.gcc and NAME.railomp
build()
{
    "$3" -O2 ${5:+"$5"} -fopenmp "$programs/$2" -o "$1.gcc" -latomic &&
        "$BUILD/bin/$4" -O2 ${5:+"$5"} "$programs/$2" -o "$1.railomp"
}
export -f build
export programs

# same NAME RANKS THREADS [PAGES]: output and status are gcc's, whose program
# runs once on so many threads
same()
{
    local name=$1 ranks=$2 threads=$3 status
    local expected=$name.$((ranks * threads))
    if [ ! -e "$expected.status" ]; then
        OMP_NUM_THREADS=$((ranks * threads)) "./$name.gcc" >"$expected"
        echo $? >"$expected.status"
    fi
    RAILOMP_RANKS=$ranks OMP_NUM_THREADS=$threads LD_PRELOAD=$preload \
        RAILOMP_PAGES=${4:-copied} timeout -k 5 60 "./$name.railomp" >out 2>err
    status=$?
    [ $status -eq "$(cat "$expected.status")" ] && [ ! -s err ] &&
        cmp "$expected" out && return
    echo "status $status, expected $(cat "$expected.status"):"
    diff "$expected" out
    cat err
    return 1
}

names=(atomics worksharing sharing tasks reductions doacross devices printing wide
    pipeline system fortified cxx mutexes fortran output barriers exits)
for name in "${names[@]}"; do
    case $name in
    cxx | mutexes) echo "$name" "$name.cpp" g++ railomp-c++ ;;
    fortran | output) echo "$name" "$name.f90" gfortran railomp-fortran ;;
    fortified) echo fortified system.c gcc railomp-cc -D_FORTIFY_SOURCE=2 ;;
    *) echo "$name" "$name.c" gcc railomp-cc ;;
    esac
done | xargs -L 1 -P "$(nproc)" bash -c 'build "$@"' build
shapes=('1 1' '1 3' '2 1' '2 2' '3 1' '4 1')
shared=('2 1' '2 2' '3 1')
paused=(worksharing sharing tasks reductions doacross devices printing wide system cxx
    mutexes fortran output barriers exits)
# the plain build compares the results of all shapes, and with pauses
if [ "$(basename "$BUILD")" = asan ]; then
    shapes=('1 3' '2 2' '3 1')
    shared=('2 2')
    paused=()
fi
for name in "${names[@]}"; do
    check "$name is built" [ -x "$name.railomp" ]
    for shape in "${shapes[@]}"; do
        check "$name, ${shape/ / rank(s) x }" same "$name" "${shape% *}" "${shape#* }"
    done
    for shape in "${shared[@]}"; do
        check "$name, ${shape/ / rank(s) x } on shared pages" \
            same "$name" "${shape% *}" "${shape#* }" shared
    done
done

gcc -O2 -shared -fPIC "-I$SOURCE" "$programs/delays.c" -o delays.so
preload=$PWD/delays.so
for name in "${paused[@]}"; do
    check "$name, 2 ranks x 2, with pauses" same "$name" 2 2
    check "$name, 2 ranks x 2, with pauses, on shared pages" same "$name" 2 2 shared
done
check "atomics, 2 ranks x 1, with pauses" same atomics 2 1
preload=

# --- output of several ranks -------------------------------------------------------

PRINTED=1 RAILOMP_RANKS=3 OMP_NUM_THREADS=2 timeout -k 5 60 ./printing.railomp |
    grep 'thread' >out
check 'all lines of all ranks' [ "$(wc -l <out)" -eq 1800 ]
check '… are whole' [ "$(grep -vc \
    '^thread   [0-5]: a line of a length that no buffer divides$' out)" -eq 0 ]

# --- more threads than OMP_NUM_THREADS --------------------------------------------

cat >many.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    int threads = 0, other = 0;
#pragma omp parallel num_threads(100) reduction(+ : threads)
    threads++;
#pragma omp parallel num_threads(1000000) reduction(+ : other)
    other++;
    printf("%d, %d\n", threads, other == omp_get_thread_limit());
    return 0;
}
END
"$BUILD/bin/railomp-cc" many.c -o many
for ranks in 2 3; do
    RAILOMP_RANKS=$ranks OMP_NUM_THREADS=1 timeout -k 5 60 ./many >out
    check "100 threads on $ranks ranks, and as many as there may be" \
        [ "$(cat out)" = '100, 1' ]
done

# no address fits such an alignment: the old block stays. ASan would end the program.
cat >unchanged.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    enum { BLOCKS = 8, WORDS = 100 };
    const omp_alloctrait_t traits[] = {{omp_atk_alignment, 1UL << 47}};
    const omp_allocator_handle_t huge =
        omp_init_allocator(omp_default_mem_space, 1, traits);
    long *block[BLOCKS], sum = 0;
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = omp_alloc(WORDS * sizeof(long), omp_default_mem_alloc);
        for (int word = 0; word < WORDS; word++)
            block[i][word] = i;
        if (!i && omp_realloc(block[0], 100 * WORDS * sizeof(long), huge,
                              omp_default_mem_alloc))
            return 1;
    }
    for (int i = 0; i < BLOCKS; i++) {
        for (int word = 0; word < WORDS; word++)
            sum += block[i][word];
        omp_free(block[i], omp_default_mem_alloc);
    }
    printf("%ld\n", sum);
    return 0;
}
END
"$BUILD/bin/railomp-cc" unchanged.c -o unchanged
for ranks in 1 2; do
    ASAN_OPTIONS=${ASAN_OPTIONS-}:allocator_may_return_null=1 RAILOMP_RANKS=$ranks \
        OMP_NUM_THREADS=1 timeout -k 5 60 ./unchanged >out
    check "a block whose omp_realloc fails stays, $ranks rank(s)" \
        [ "$(cat out)" = 2800 ]
done

# --- tasks ----------------------------------------------------------------------

cat >shared_tasks.c <<'END'
#include <omp.h>
#include <unistd.h>
int main(void)
{
    int runs[64] = {0}, threads = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 40; i++)
#pragma omp task
    {
        usleep(2000);
        runs[omp_get_thread_num()]++;
    }
    for (int i = 0; i < 64; i++)
        threads += runs[i] > 0;
    return threads;
}
END
"$BUILD/bin/railomp-cc" shared_tasks.c -o shared_tasks
RAILOMP_RANKS=2 OMP_NUM_THREADS=2 timeout -k 5 60 ./shared_tasks
check 'both threads of a rank run tasks' exited_with 2 $?

# --- launched by hand -----------------------------------------------------------

port=$(free_port)
export DRAIL_SECRET=of-sixteen-characters
two=(env "DRAIL_RENDEZVOUS=127.0.0.1:$port" DRAIL_RANKS=2 OMP_NUM_THREADS=1
    timeout -k 5 60)
OMP_NUM_THREADS=2 ./sharing.gcc >expected
DRAIL_RANK=1 "${two[@]}" ./sharing.railomp >out1 2>&1 &
background+=($!)
DRAIL_RANK=0 "${two[@]}" ./sharing.railomp >out 2>err
check 'two processes: the status is the program'"'"'s' exited_with 3 $?
check '... the output, too' cmp expected out
check '... the other rank ends well' wait "${background[0]}"
check '... and is silent' test ! -s out1
background=()

# exceptions and objects of std::, which point into libraries
OMP_NUM_THREADS=2 ./cxx.gcc >expected
status=$?
DRAIL_RANK=1 "${two[@]}" ./cxx.railomp >out1 2>&1 &
background+=($!)
DRAIL_RANK=0 "${two[@]}" ./cxx.railomp >out 2>err
check 'two processes in C++: the status' exited_with "$status" $?
# std::cout of the other rank is that process's own: line 1
sed -i 1d expected out
check '... the output' cmp expected out
check '... the other rank ends well' wait "${background[0]}"
background=()

DRAIL_RANK=1 "${two[@]}" ./atomics.railomp >out1 2>&1 &
background+=($!)
refused 'ranks of two programs' 'rank.1.runs.another.program' \
    env DRAIL_RANK=0 "${two[@]}" ./sharing.railomp
wait "${background[0]}"
check '... the other rank ends, too' exited_with 2 $?
check '... and is silent' test ! -s out1
background=()

# a program with MPI: its other ranks would never call it
echo 'int MPI_Init(int *argc, char ***argv) { return argc != 0 && argv != 0; }' >mpi.c
gcc -shared -fPIC mpi.c -o libmpi.so
cat >hybrid.c <<'END'
int MPI_Init(int *argc, char ***argv);
int main(int argc, char **argv)
{
    return MPI_Init(&argc, &argv) - 1;
}
END
"$BUILD/bin/railomp-cc" hybrid.c -L. -lmpi -Wl,-rpath,. -o hybrid
DRAIL_RANK=1 "${two[@]}" ./hybrid >out1 2>&1 &
background+=($!)
refused 'ranks of a program with MPI' 'program.with.MPI' \
    env DRAIL_RANK=0 "${two[@]}" ./hybrid
wait "${background[0]}"
background=()
check '... it is served with one rank' ./hybrid
