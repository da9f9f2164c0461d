# SPDX-License-Identifier: BSD-3-Clause
# Shared by what is tried in a bare Debian: one that debootstrap has just made.
# shellcheck shell=bash

bare=${work:?}/bare

# bare_skip_reason: why there can be none here; nothing: there can
bare_skip_reason()
{
    command -v debootstrap >/dev/null || { echo 'no debootstrap'; return; }
    [ "$(id -u)" -eq 0 ] || { echo 'not root'; return; }
    unshare --mount true 2>/dev/null || { echo 'no mounts'; return; }
}

# make_bare PACKAGE,…: a system of the release that runs here, with these packages
# beside the essential ones. 77: there is no archive to take it from
make_bare()
{
    local site release
    release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    # shellcheck disable=SC2016 # apt's own word
    site=$(apt-get indextargets --format '$(SITE)' 'Origin: Debian' \
        'Component: main' "Release: $release" 'Identifier: Packages' | head -1)
    [ -n "$site" ] || return 77
    timeout -k 10 600 debootstrap --variant=minbase "--include=$1" \
        "$release" "$bare" "$site" >"$bare.log" 2>&1 &&
        # debootstrap writes no /etc/hosts; every running system has this line
        echo '127.0.0.1 localhost' >"$bare/etc/hosts" && return
    ! grep -q 'Failed getting release' "$bare.log" || return 77
    cat "$bare.log"
    return 1
}

# Mounts what every running system has. Nothing of this machine is bound there,
# so removing the folder is harmless. Its root is a mount, without which there
# are no mount namespaces inside.
mount_bare()
{
    mkdir -p "$bare/dev/shm" "$bare/dev/pts" &&
        mount --bind "$bare" "$bare" &&
        mount -t proc proc "$bare/proc" &&
        mount -t sysfs sysfs "$bare/sys" &&
        mount -t tmpfs -o mode=1777 none "$bare/dev/shm" &&
        mount -t devpts -o newinstance,ptmxmode=666 none "$bare/dev/pts" &&
        { mount_groups || true; }
}
# Control groups of their own, where the kernel has this kind: slurmd wants it.
mount_groups()
{
    mount -t tmpfs -o mode=755 none "$bare/sys/fs/cgroup" &&
        mkdir "$bare/sys/fs/cgroup/systemd" &&
        mount -t cgroup -o none,name=bare none "$bare/sys/fs/cgroup/systemd"
}
umount_bare()
{
    umount "$bare"/{sys/fs/cgroup/systemd,sys/fs/cgroup,dev/pts,dev/shm,sys,proc} \
        "$bare" 2>/dev/null
}

# in_bare SECONDS COMMAND…: there, with an environment of its own. Not by chroot,
# after which the kernel makes no namespaces of users.
in_bare()
{
    # shellcheck disable=SC2016 # $0 and $@ are of the shell there
    timeout -k 10 "$1" unshare --mount sh -c '
        cd "$0" && pivot_root . . && umount -l . && exec "$@"' "$bare" \
        /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        DEBIAN_FRONTEND=noninteractive "${@:2}"
}
