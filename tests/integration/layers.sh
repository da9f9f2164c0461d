#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Parts use only what is below them, and no files one another in a circle.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

check 'arrows go down' "$SOURCE/scripts/layers" "$BUILD" "$SOURCE"

check 'the picture of the layers is current' sh -c \
    '"$0/scripts/draw-layers" | cmp - "$0/docs/layers.svg"' "$SOURCE"

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
    providers/shm/memory/range_table.c '#include "dapl_rail/dapl_rail.h"'
check 'a look behind the public header is found' wrong 'coll must not use it' \
    coll/run/team/team.c '#include "dapl_rail/base/handle.h"'
check 'a circle of headers is found' wrong '^circle' \
    dapl_rail/links/wire.h '#include "dapl_rail/links/link.h"'
check 'a circle of headers in a provider is found' wrong '^circle' \
    providers/core/core.h '#include "providers/core/internal.h"'
check 'a circle of headers in the benchmarks is found' wrong '^circle' \
    bench/pair/session.h '#include "bench/pair/loop.h"'
check 'a look from core at a provider is found' wrong 'shm is above core' \
    providers/core/events/evd.c '#include "providers/shm/shm.h"'
for pair in 'shm/memory/range_table.c embedded/embedded.h' 'core/events/evd.c embedded/embedded.h' \
    'embedded/embedded.c shm/shm.h'; do
    check "a look at another library is found: ${pair/ / at }" \
        wrong 'not of one library' "providers/${pair% *}" \
        "#include \"providers/${pair#* }\""
done
check 'an arrow upward in the collectives is found' wrong 'run is above build' \
    coll/build/exchange/tree.c '#include "coll/run/team/team.h"'
check 'a circle in the collectives is found' wrong '^circle.* coll/run/team/call.h' \
    coll/run/team/call.h '#include "coll/run/team/ledger.h"'

# Uses that no include shows: a small tree, in which files only declare the
# names that they use. file PATH TEXT: a source and its object.
small=$work/small
file()
{
    mkdir -p "$(dirname "$small/$1")" "$(dirname "$small/obj/$1")"
    echo "$2" >"$small/$1"
    "${CC:-cc}" -c "$small/$1" -o "$small/obj/${1%.c}.o"
}
# wrong_in_small TEXT
wrong_in_small()
{
    ! "$SOURCE/scripts/layers" "$small" "$small" >"$work/said" 2>&1 &&
        grep -q "$1" "$work/said"
}
file dapl_rail/links/low.c 'void high(void); void low(void) { high(); }'
file dapl_rail/messages/high.c 'void high(void) {}'
check 'a use upward is found' wrong_in_small \
    'upward: dapl_rail/links/low.c uses dapl_rail/messages/high.c'
file dapl_rail/links/low.c 'void high(void) __attribute__((weak));
    void low(void) { if (high) high(); }'
check 'a weak use upward is found' wrong_in_small \
    'upward: dapl_rail/links/low.c uses dapl_rail/messages/high.c'
file dapl_rail/links/low.c 'int there; void low(void) {}'
check 'a use downward is fine' "$SOURCE/scripts/layers" "$small" "$small"
for folder in dapl_rail/links providers/core bench/pair; do
    file "$folder/one.c" 'void two(void); void one(void) { two(); }'
    file "$folder/two.c" 'void one(void); void two(void) { one(); }'
    check "a circle of uses in $folder is found" wrong_in_small \
        "^circle: these use one another: $folder/one.c $folder/two.c"
    file "$folder/two.c" 'void two(void) {}'
    check 'the circle is gone' "$SOURCE/scripts/layers" "$small" "$small"
done
rm "$small/obj/dapl_rail/links/one.o"
check 'an object that is missing is found' wrong_in_small \
    'no object of dapl_rail/links/one.c'

# --- folders that are too large ------------------------------------------------

for i in $(seq 25); do
    file "bench/pair/name$i.c" "void name$i(void) {}"
done
touch "$small/bench/pair/name1.h"
rm "$small/dapl_rail/links/one.c" "$small"/bench/pair/{one,two}.c
check '25 names are not too many' "$SOURCE/scripts/layers" "$small" "$small"
file bench/pair/one.c 'void one(void) {}'
check '26 are' wrong_in_small '^large: bench/pair has 26 names'
