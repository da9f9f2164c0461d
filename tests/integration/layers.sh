#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Parts use only what is below them, and no files one another in a circle.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

check 'arrows go down' "$SOURCE/scripts/layers" "$BUILD" "$SOURCE"

# wrong TEXT FILE LINE: with this line in a copy of the file it is told
wrong()
{
    local text=$1 file=$2 line=$3 tree=$work/tree
    rm -rf "$tree"
    mkdir -p "$tree"
    cp -r "$SOURCE/bench" "$SOURCE/coll" "$SOURCE/dapl_rail" \
        "$SOURCE/providers" "$tree"
    echo "$line" >>"$tree/$file"
    ! "$SOURCE/scripts/layers" "$BUILD" "$tree" >"$work/said" &&
        grep -q "$text" "$work/said"
}
check 'an arrow upward is found' wrong 'messages is above links' \
    dapl_rail/links/queue.c '#include "dapl_rail/messages/inbox.h"'
check 'a provider that uses the transport is found' \
    wrong 'providers must not use it' \
    providers/shm/mr.c '#include "dapl_rail/dapl_rail.h"'
check 'a look behind the public header is found' wrong 'coll must not use it' \
    coll/run/team.c '#include "dapl_rail/base/handle.h"'
check 'a circle of headers is found' wrong '^circle' \
    dapl_rail/links/wire.h '#include "dapl_rail/links/link.h"'
