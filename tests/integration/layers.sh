#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Parts use only what is below them, and no files one another in a circle.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

check 'arrows go down' "$SOURCE/scripts/layers" "$BUILD" "$SOURCE"

check 'the picture of the layers is current' sh -c \
    '"$0/scripts/draw-layers" | cmp - "$0/docs/layers.svg"' "$SOURCE"

# Includes that are wrong, in a copy of the tree: NAME|FILE|INCLUDED|WHY
wrong='an arrow upward|dapl_rail/links/queue.c|dapl_rail/messages/inbox.h|messages is above links
a provider that uses the transport|providers/shm/memory/range_table.c|dapl_rail/dapl_rail.h|providers must not use it
a look behind the public header|coll/run/team/team.c|dapl_rail/base/handle.h|coll must not use it
a circle of headers|dapl_rail/links/wire.h|dapl_rail/links/link.h|circle
a circle of headers in a provider|providers/core/core.h|providers/core/internal.h|circle
a circle of headers in the benchmarks|bench/pair/session.h|bench/pair/loop.h|circle
a look from core at a provider|providers/core/events/evd.c|providers/shm/shm.h|shm is above core
a look at another library|providers/shm/memory/range_table.c|providers/embedded/embedded.h|not of one library
a look at another library|providers/core/events/evd.c|providers/embedded/embedded.h|not of one library
a look at another library|providers/embedded/embedded.c|providers/shm/shm.h|not of one library
an arrow upward in the collectives|coll/build/exchange/tree.c|coll/run/team/team.h|run is above build
a circle in the collectives|coll/run/team/call.h|coll/run/team/ledger.h|circle'
tree=$work/tree
mkdir "$tree"
cp -r "$SOURCE/bench" "$SOURCE/coll" "$SOURCE/dapl_rail" "$SOURCE/providers" \
    "$tree"
while IFS='|' read -r _ file included _; do
    echo "#include \"$included\"" >>"$tree/$file"
done <<<"$wrong"
"$SOURCE/scripts/layers" "$BUILD" "$tree" >"$work/said"
check 'wrong includes are told' [ $? -eq 1 ]
# is_told FILE INCLUDED WHY
is_told()
{
    if [ "$3" = circle ]; then
        grep '^circle: these include ' "$work/said" | grep -F " $1" | grep -qF " $2"
    else
        grep -q "^upward: $1 uses $2: .*$3" "$work/said"
    fi
}
while IFS='|' read -r name file included why; do
    check "$name is found: $file at $included" is_told "$file" "$included" "$why"
done <<<"$wrong"

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
