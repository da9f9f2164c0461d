#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/degrade-hosts says so when what it starts on hosts fails; nothing else
# is done then. Stands in for the testbed's commands.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

mkdir "$work/bin" "$work/result"
cat >"$work/bin/testbed" <<'END'
#!/bin/sh
exit 3
END
# rank 0 fails
cat >"$work/bin/on" <<'END'
#!/bin/sh
exit $((DRAIL_RANK == 0 ? 4 : 0))
END
chmod 755 "$work"/bin/*

# ends STATUS WORD…: it does, has made no folder, and said nothing
ends()
{
    local wanted=$1 status
    shift
    (cd "$work" && PATH=$work/bin:$PATH timeout -k 1 60 \
        "$SOURCE/scripts/degrade-hosts" "$@") >"$work/out" 2>&1
    status=$?
    [ $status -eq "$wanted" ] && [ ! -s "$work/out" ] &&
        [ ! -e "$work/$2" ] && return 0
    echo "status $status"
    cat "$work/out"
    return 1
}

# refused OPTION: with one line that names it
refused()
{
    timeout -k 1 60 "$SOURCE/scripts/degrade-hosts" "$@" >"$work/out" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$work/out")" -eq 1 ] &&
        grep -q -- "$1" "$work/out"
}

for event in cut back slow; do
    check "$event" ends 3 --event $event rail0 0.5
done
check 'a rank' ends 4 --ranks "$work/result"
check 'a rate is missing' refused --rate
