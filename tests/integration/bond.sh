#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Genuine dapltest and dtest over bonds; and lines of dat.conf that no bond can
# be made of.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

here=$SOURCE/tests/integration
library=$BUILD/lib/dapl_rail/libdapl_bond.so
conf=$work/dat.conf
export BUILD SOURCE

check 'dtest' env IA=bond0 bash "$here/dtest.sh"
check 'dapltest' env IA=bond0 bash "$here/dapltest.sh"
if [ -e "$BUILD/lib/dapl_rail/libdapl_ofi.so" ]; then
    {
        cat "$BUILD/lib/dapl_rail/dat.conf"
        for rail in tcp-a tcp-b; do
            echo "$rail u2.0 nonthreadsafe default" \
                "\"${library/bond.so/ofi.so}\" dapl_rail.0.1" \
                '"provider=tcp device=lo" ""'
        done
        echo "bond-tcp u2.0 nonthreadsafe default \"$library\" dapl_rail.0.1" \
            '"tcp-a tcp-b" ""'
    } >"$conf"
    check 'dtest over TCP' env CONF="$conf" IA=bond-tcp bash "$here/dtest.sh"
    check 'dapltest over TCP' env CONF="$conf" IA=bond-tcp \
        bash "$here/dapltest.sh"
    check 'immediate data and atomics over TCP' env DAT_OVERRIDE="$conf" \
        TEST_IA=bond-tcp "$BUILD/test/provider/test_extensions"
fi

# members_shown: railinfo names the members, and opens each of them
members_shown()
{
    DAT_OVERRIDE=$BUILD/lib/dapl_rail/dat.conf timeout 20 \
        "$BUILD/bin/railinfo" bond0 >"$work/out" 2>&1 &&
        grep -q '^  members  *shm0 shm1$' "$work/out" &&
        grep -q '^shm0  *shm  *dapl_rail shm ' "$work/out" &&
        grep -q '^shm1  *shm  *dapl_rail shm ' "$work/out" && return
    cat "$work/out"
    return 1
}
check 'railinfo shows a bond and its members' members_shown

# longest_shown: also of as many members as a bond can have, with the longest
# names
longest_shown()
{
    local i names=()
    for i in 1 2 3 4 5 6 7 8; do names+=("rail-name-of-thirty-one-letter$i"); done
    {
        for i in "${names[@]}"; do
            echo "$i u2.0 nonthreadsafe default \"${library%/*}/libdapl_shm.so\" dapl_rail.0.1 \"\" \"\""
        done
        echo "widest u2.0 nonthreadsafe default \"$library\" dapl_rail.0.1 \"${names[*]}\" \"\""
    } >"$conf"
    [ ${#names[0]} -eq 31 ] && DAT_OVERRIDE=$conf timeout 20 \
        "$BUILD/bin/railinfo" widest >"$work/out" 2>&1 &&
        grep -q "^  members  *${names[*]}\$" "$work/out" && return
    cat "$work/out"
    return 1
}
check '… all of them, whatever their names' longest_shown

# refused NAME WANTED PARAMETERS: a bond of these does not open, and says why
refused()
{
    local name=$1 wanted=$2
    {
        cat "$BUILD/lib/dapl_rail/dat.conf"
        echo "wrong u2.0 nonthreadsafe default \"$library\" dapl_rail.0.1 \"$3\" \"\""
    } >"$conf"
    DAT_OVERRIDE=$conf timeout 20 "$BUILD/bin/railinfo" wrong >"$work/out" 2>&1
    check "$name" grep -q "rail wrong: .*$wanted" "$work/out"
}

refused 'a member that is not listed' 'nothere in dat.conf: .* no rail' \
    'shm0 nothere'
refused 'one member twice' 'shm0 in dat.conf: .* given twice' 'shm0 shm1 shm0'
refused 'a bond of a bond' 'bond0 in dat.conf' 'shm1 bond0'
refused 'no member' 'no member is given' 'policy=even'
refused 'a policy' "policy in dat.conf: 'odd', allowed" 'shm0 policy=odd'
refused 'a parameter' 'unknown parameter' 'shm0 colour=red'

# Two ends that list other members: both say so, and nothing is connected. A
# bond of one member is that member.
cat >"$conf" <<EOT
$(cat "$BUILD/lib/dapl_rail/dat.conf")
other u2.0 nonthreadsafe default "$library" dapl_rail.0.1 "shm0 shm2" ""
single u2.0 nonthreadsafe default "$library" dapl_rail.0.1 "shm0" ""
EOT
export DAT_OVERRIDE=$conf
port=$((20000 + $$ % 12000))
timeout -k 5 30 dapltest -T S -D bond0 -n $port >"$work/server.log" 2>&1 &
background+=($!)
await_text "$work/server.log" 'Service Point Ready' || exit 1
timeout -k 5 30 dapltest -T P -D other -s localhost -n $port RW 8 1 \
    >"$work/client.log" 2>&1
check 'other members: the passive side says so' \
    grep -q 'bond of the peer has other members' "$work/server.log"
check 'other members: the active side, too' \
    grep -q 'bond of the peer has other members' "$work/client.log"
timeout -k 5 30 dapltest -T P -D single -s localhost -n $port RW 8 1 \
    >"$work/client.log" 2>&1
check 'a bond of one member: the passive side says that it is no bond' \
    grep -q 'peer is no bond' "$work/server.log"
check 'a bond of one member does not connect' \
    grep -q REJECTED "$work/client.log"

exit "$failures"
