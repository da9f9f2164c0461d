#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tutorial's steps with hosts that scripts/testbed makes.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"
# shellcheck source=tests/integration/tutorial.bash
. "$SOURCE/tests/integration/tutorial.bash"

[ -e "$BUILD/lib/dapl_rail/libdapl_ofi.so" ] ||
    skip 'built without libfabric: no rails between hosts'
"$SOURCE/scripts/testbed" --hosts 2 true 2>"$work/err"
[ $? -ne 77 ] || skip "$(tail -1 "$work/err")"
check 'the steps print what the tutorial says' tutorial_steps 150 --with testbed
check 'nothing is left behind' tutorial_leaves_nothing
