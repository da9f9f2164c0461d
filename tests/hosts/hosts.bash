# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts in this folder. By hand: BUILD=build SOURCE=. script.sh
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

testbed=$SOURCE/scripts/testbed

# Skips the test where no testbed can be made.
timeout -k 1 30 "$testbed" true 2>"$work/permitted" || {
    [ $? -eq 77 ] && echo "no testbed: $(cat "$work/permitted")" && exit 77
    cat "$work/permitted"
    exit 1
}

# inside TESTBED-OPTIONS…: runs the script again, beside the hosts that it
# wants; it goes on with $INSIDE set
inside()
{
    [ -n "${INSIDE:-}" ] && return
    INSIDE=1 exec timeout -k 1 "${LIMIT:-60}" "$testbed" "$@" bash "$0"
}

# soon COMMAND…: it succeeds within 10 s
soon()
{
    for _ in $(seq 200); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}
