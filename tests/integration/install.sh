#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make install into a private prefix and through a staging directory; programs
# run from there; an outsider builds an example against it; make uninstall.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

prefix=$work/prefix
make_it()
{
    make -s -C "$SOURCE" BUILD="$BUILD" "$@" >"$work/make.log" 2>&1 || {
        cat "$work/make.log"
        return 1
    }
}

check 'install' make_it install PREFIX="$prefix"
check 'the soname link' test "$(readlink "$prefix/lib/libdapl_rail.so.0")" = \
    libdapl_rail.so.0.2.0
check 'railbench runs from there' env -i timeout 30 "$prefix/bin/railbench" bw \
    --sizes 8 --iterations 2 --repeat 1
check 'railinfo runs from there' sh -c \
    'timeout 30 env -i "$0" | grep -q shm0' "$prefix/bin/railinfo"
# completed PREFIX WORD…: what bash offers for the last word
completed()
{
    env -i bash -c '. "$1/share/bash-completion/completions/railbench"
        COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); _railbench
        echo "${COMPREPLY[*]}"' - "$@"
}
check 'bash completes tests' test "$(completed "$prefix" railbench bi)" = bibw
check '... options' test "$(completed "$prefix" railbench bw --ser)" = --server
check '... values' test "$(completed "$prefix" railbench bw --engine \
    single,non)" = single,nonthreaded
check '... behind an equals sign' \
    test "$(completed "$prefix" railbench atomic --op = f)" = fetch-add
check 'its dat.conf names the installed provider' \
    grep -q " \"$prefix/lib/dapl_rail/libdapl_shm.so\" " \
    "$prefix/lib/dapl_rail/dat.conf"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
for example in "$SOURCE"/examples/*.c; do
    name=$(basename "$example" .c)
    # shellcheck disable=SC2046 # flags are words
    check "$name builds with pkg-config" cc -Wall -Werror -o "$work/$name" \
        "$example" $(pkg-config --cflags --libs dcoll) \
        -Wl,-rpath,"$prefix/lib"
    check "$name runs" timeout -k 10 30 "$work/$name"
done
for header in "$prefix"/include/*/*.h; do
    check "${header#"$prefix/include/"} needs no other include" \
        cc -Wall -Werror -I "$prefix/include" -x c -fsyntax-only \
        -include "$header" /dev/null
done
# outsider NAME SOURCES…: a program on shared memory
outsider()
{
    # shellcheck disable=SC2046 # flags are words
    cc -Wall -Werror -fopenmp -o "$work/$1" "${@:2}" \
        $(pkg-config --cflags --libs ddsm) -lm -Wl,-rpath,"$prefix/lib"
}
cluster=$SOURCE/examples/cluster_openmp
for name in jacobi lu sort nbody; do
    check "$name builds with pkg-config" outsider "$name" \
        "$cluster"/{"$name",cluster,options}.c
    check "$name runs" timeout -k 10 30 "$work/$name" --size 100
done
check 'harmonic builds with pkg-config' outsider harmonic "$cluster/harmonic.c"
check 'harmonic runs' timeout -k 10 30 "$work/harmonic"
check 'only dcoll_ symbols are exported' sh -c \
    '! nm -D --defined-only "$0" | grep -Ev " (dcoll_|DCOLL_)"' \
    "$prefix/lib/libdcoll.so"
check 'only ddsm_ symbols are exported' sh -c \
    '! nm -D --defined-only "$0" | grep -Ev " (ddsm_|DDSM_)"' \
    "$prefix/lib/libddsm.so"
check 'only drail_ symbols are exported' sh -c \
    '! nm -D --defined-only "$0" | grep -Ev " (drail_|DAPL_RAIL_)"' \
    "$prefix/lib/libdapl_rail.so"

check 'staged install' make_it install PREFIX=/opt/drail DESTDIR="$work/stage"
check 'no staging path in what is installed' sh -c \
    '! grep -r "$0" "$0"' "$work/stage"
check 'the staged dat.conf names the final place' \
    grep -q ' "/opt/drail/lib/dapl_rail/libdapl_shm.so" ' \
    "$work/stage/opt/drail/lib/dapl_rail/dat.conf"

check 'uninstall' make_it uninstall PREFIX="$prefix"
check 'nothing is left' sh -c '[ -z "$(find "$0" ! -type d)" ]' "$prefix"

# an unpacked tarball has no commit to pack, within another's checkout neither
no_dist()
{
    mkdir "$work/copy" && git -C "$work" init -q && tar -C "$SOURCE" \
        --exclude ./build --exclude ./.git -cf - . | tar -C "$work/copy" -xf - ||
        return 1
    ! make -s -C "$work/copy" BUILD="$work/dist" dist >"$work/out" 2>&1 &&
        grep -q '^make dist: no git checkout' "$work/out" &&
        [ ! -e "$work/dist" ]
}
! command -v git >/dev/null || check 'make dist needs a checkout' no_dist
