#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A tree that was moved, to a folder with a blank in its name: programs go on as
# they are, and make puts the new place where others read it.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

here="$work/a tree"
mkdir -p "$here/build"
cp -a "$BUILD/bin" "$BUILD/lib" "$here/build"
runs()
{
    (cd / && env -i timeout -k 10 60 "$here/build/bin/$1" "${@:2}") \
        >"$work/out" 2>&1 || {
        cat "$work/out"
        return 1
    }
}
check 'railinfo runs where it was moved to' runs railinfo
check 'its own provider is loaded' grep -q '^shm0 ' "$work/out"
check 'a benchmark' runs railbench bw --sizes 8 --iterations 2 --repeat 1
check 'over TCP' runs railbench bw --rails tcp-lo --sizes 8 --iterations 2 \
    --repeat 1
[ ! -e "$BUILD/lib/dapl_rail/libdapl_sim.so" ] ||
    check 'simulated' runs railbench lat --rails sim:ndr400-2rail --ranks 2 \
        --sizes 8 --iterations 2 --repeat 1

# make_it TARGET…: there, with the sources of the last commit
make_it()
{
    timeout -k 10 100 make -s -C "$here" BUILD=build CFLAGS=-O0 "$@" >"$work/out" 2>&1 || {
        tail -20 "$work/out"
        return 1
    }
}
if git -C "$SOURCE" archive HEAD 2>/dev/null | tar -C "$here" -x; then
    rm -rf "$here/build"
    check 'a build there' make_it build/lib/dapl_rail/libdapl_shm.so \
        build/lib/dapl_rail/dat.conf PROVIDERS=shm
    check 'other DAT programs are told of the place' grep -qF \
        "\"$here/build/lib/dapl_rail/libdapl_shm.so\"" \
        "$here/build/lib/dapl_rail/dat.conf"
    mv "$here" "$work/moved"
    here=$work/moved
    check 'make, moved again' make_it build/lib/dapl_rail/dat.conf PROVIDERS=shm
    check '... tells the new place' grep -qF \
        "\"$here/build/lib/dapl_rail/libdapl_shm.so\"" \
        "$here/build/lib/dapl_rail/dat.conf"
    check 'a provider more' make_it build/lib/dapl_rail/dat.conf \
        PROVIDERS='shm ofi'
    check '... is listed without a make clean' grep -q '^tcp-lo ' \
        "$here/build/lib/dapl_rail/dat.conf"
else
    echo 'skipped: no git checkout: nothing was built in another place'
fi
