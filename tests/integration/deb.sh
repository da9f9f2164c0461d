#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make deb: packages of the last commit that lintian finds right, whose programs
# run where they are unpacked, and installed in a fresh Debian. Unoptimized, and
# without symbols for debuggers: that takes half the time.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"
# shellcheck source=tests/bare/bare.bash
. "$SOURCE/tests/bare/bare.bash"

for tool in dh chrpath lintian; do
    command -v $tool >/dev/null || skip "no $tool: no package was made"
done
git -C "$SOURCE" rev-parse -q --verify HEAD >/dev/null 2>&1 ||
    skip 'no git checkout: no package was made'

# meanwhile a fresh Debian is made
reason=$(bare_skip_reason)
[ -n "$reason" ] || make_bare make &
making=$!

packages()
{
    DEB_BUILD_OPTIONS="noopt noautodbgsym" DEB_CFLAGS_STRIP=-g \
        DEB_CXXFLAGS_STRIP=-g timeout -k 10 240 make -s -C "$SOURCE" \
        BUILD="$work/build" deb >"$work/out" 2>&1 || {
        tail -30 "$work/out"
        return 1
    }
}
check 'make deb' packages
names=(libdapl-rail0 libdapl-rail-dev dapl-rail-providers
    dapl-rail-provider-sim dapl-rail-tools dapl-rail-openmp)
for name in "${names[@]}"; do
    for deb in "$work/build/deb/${name}"_*.deb; do
        check "$name" dpkg-deb -x "$deb" "$work/root"
    done
done

# where Debian's own MPIs are here to build them
for deb in "$work"/build/deb/libdcoll-mpi-*_*.deb; do
    [ ! -e "$deb" ] || [[ $deb == *-dbgsym_* ]] || {
        name=$(basename "${deb%%_*}")
        check "$name" dpkg-deb -x "$deb" "$work/root"
        check "$name does nothing without MPI" \
            [ "$(LD_LIBRARY_PATH=$(dirname "$work"/root/usr/lib/*/libdcoll.so.0) \
                LD_PRELOAD=$(echo "$work"/root/usr/lib/*/dapl_rail/lib*_"${name##*-}".so) \
                sh -c 'echo $((6 * 7))' 2>&1)" = 42 ]
        check "its manual" [ -e \
            "$work/root/usr/share/man/man7/libdcoll_mpi_${name##*-}.7.gz" ]
    }
done

# the publisher puts an address in
correct()
{
    lintian --fail-on error,warning --suppress-tags \
        bogus-mail-host,bogus-mail-host-in-debian-changelog \
        "$work"/build/deb/*.changes >"$work/out" 2>&1 || {
        cat "$work/out"
        return 1
    }
}
check 'lintian' correct

library=$(dirname "$work"/root/usr/lib/*/libdapl_rail.so.0)
runs()
{
    env -i LD_LIBRARY_PATH="$library" timeout 60 "$work/root/usr/bin/$1" \
        "${@:2}" >"$work/out" 2>&1 || {
        cat "$work/out"
        return 1
    }
}
check 'railbench runs' runs railbench bw --sizes 8 --iterations 2 --repeat 1
check 'over its own rails' runs railinfo
check 'shm0 is among them' grep -q "shm0" "$work/out"
check 'simulated' runs railbench lat --rails sim:ndr400-2rail --ranks 2 \
    --sizes 8 --iterations 2 --repeat 1
no_way_out()
{
    local file
    for file in "$work"/root/usr/bin/* "$library"/*.so.0; do
        ! readelf -d "$file" 2>/dev/null | grep -q 'R.*PATH' || return 1
    done
}
check 'nothing looks elsewhere for libraries' no_way_out

in_fresh()
{
    in_bare 60 "$@" >"$work/out" 2>&1 || {
        cat "$work/out"
        return 1
    }
}
leave_fresh()
{
    local status=$?
    umount_bare
    (exit "$status")
    finish
}
# what a user compiles, by what pkg-config says of the library
compiled()
{
    cp "$SOURCE/examples/$1.c" "$bare/tmp" &&
        in_fresh sh -c "cd /tmp && cc $1.c \$(pkg-config --cflags --libs $2) \
            -o $1 && ./$1"
}
[ -z "$reason" ] || skip "$reason: packages were not installed"
wait $making
case $? in
0) ;;
77) skip 'no archive of Debian: packages were not installed' ;;
*) check 'fresh: system' false; exit ;;
esac
for name in "${names[@]}"; do
    cp "$work/build/deb/${name}"_*.deb "$bare/tmp"
done
trap leave_fresh EXIT
mount_bare || skip 'no mounts: packages were not installed'
check 'fresh: installed' in_fresh sh -c \
    'apt-get -y --no-install-recommends install /tmp/*.deb'
check 'fresh: rails' in_fresh railinfo
check 'fresh: railbench' in_fresh railbench bw --sizes 8,64K --iterations 2 \
    --repeat 1
check 'fresh: simulated' in_fresh railbench alltoall --ranks 8 --sizes 4K \
    --rails sim:ndr400-2rail --iterations 1 --repeat 1
check 'fresh: a compiler' in_fresh \
    apt-get -y --no-install-recommends install gcc libc6-dev pkg-config
check 'fresh: a program of the transport' compiled put_notify dapl_rail
check 'fresh: a program of collectives' compiled allgather dcoll
