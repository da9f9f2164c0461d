#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP programs on several ranks print what they print with gcc's own runtime
# on as many threads (tests/omp).
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

programs=$SOURCE/tests/omp
[ -x "$BUILD/bin/railomp-cc" ] ||
    skip 'no gcc-12-plugin-dev was there when this was built'
cd "$work" || exit 1
unset OMP_SCHEDULE OMP_NUM_THREADS RAILOMP_RANKS

# build NAME SUFFIX COMPILER WRAPPER: as NAME.gcc and NAME.railomp
build()
{
    "$3" -O2 -fopenmp "$programs/$1.$2" -o "$1.gcc" -latomic &&
        "$BUILD/bin/$4" -O2 "$programs/$1.$2" -o "$1.railomp"
}

# same NAME RANKS THREADS: output and status are gcc's
same()
{
    local name=$1 ranks=$2 threads=$3 expected status
    OMP_NUM_THREADS=$((ranks * threads)) "./$name.gcc" >expected
    expected=$?
    RAILOMP_RANKS=$ranks OMP_NUM_THREADS=$threads timeout -k 5 60 \
        "./$name.railomp" >out 2>err
    status=$?
    [ $status -eq $expected ] && [ ! -s err ] && cmp expected out && return
    echo "status $status, expected $expected:"
    diff expected out
    cat err
    return 1
}

check 'atomics builds' build atomics c gcc railomp-cc
check 'worksharing builds' build worksharing c gcc railomp-cc
check 'sharing builds' build sharing c gcc railomp-cc
check 'tasks builds' build tasks c gcc railomp-cc
check 'cxx builds' build cxx cpp g++ railomp-c++
check 'fortran builds' build fortran f90 gfortran railomp-fortran

for name in atomics worksharing sharing tasks cxx fortran; do
    for shape in '1 1' '1 3' '2 1' '2 2' '3 1' '4 1'; do
        check "$name, ${shape/ / rank(s) x }" same $name "${shape% *}" "${shape#* }"
    done
done
