# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts that cut rails under a flood; after checks.bash.

# pick WORD…: $picked is one of them, at random. (In a command substitution,
# $RANDOM would know nothing of its seed.) No word: false.
pick()
{
    [ $# -gt 0 ] || return 1
    local at=$((RANDOM % $# + 1))
    picked=${!at}
}

# losses RANK: how often this rank has lost a rail, while it uses all
losses()
{
    cat "$work/up.$1" 2>/dev/null
}

# of either, or the flood has ended
lost()
{
    [ -z "$(losses 0)" ] || [ -z "$(losses 1)" ] || ! kill -0 "$flood" 2>/dev/null
}

# back BEFORE0 BEFORE1: both use all again; with numbers, after a loss
back()
{
    local now0 now1
    now0=$(losses 0) now1=$(losses 1)
    [ -n "$now0" ] && [ -n "$now1" ] && [ "$now0" != "$1" ] &&
        [ "$now1" != "$2" ] || ! kill -0 "$flood" 2>/dev/null
}

# flood_under COUNT DISTURB COMMAND…: the flood that COMMAND starts survives that
# DISTURB is called so often, which sets $breaks where both ends must lose a
# rail. All rails are back before the next time: a peer that no rail reaches is
# gone.
flood_under()
{
    local count=$1 disturb=$2 done=0 away='' breaks before0 before1
    shift 2
    rm -f "$work"/{over,up.0,up.1}
    "$@" --until "$work/over" --up "$work/up" >"$work/out" 2>&1 &
    flood=$!
    background=("$flood")
    soon back '' ''
    while [ $done -lt "$count" ] && kill -0 "$flood" 2>/dev/null; do
        before0=$(losses 0) before1=$(losses 1) breaks=''
        "$disturb"
        done=$((done + 1))
        soon back "${breaks:+$before0}" "${breaks:+$before1}" || {
            away=', and a rail did not come back'
            break
        }
    done
    touch "$work/over"
    await_exit "$flood" 60 && [ -z "$away" ] && grep puts "$work/out" && return 0
    echo "after $done of $count$away:"
    cat "$work/out"
    return 1
}
