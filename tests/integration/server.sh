#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A test between two hosts by two commands: --server prints the one for the
# other host, with a code that serves once.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
short=(--sizes 8 --engine single --repeat 2 --iterations 5 --warmup 1)

# serve ARGUMENTS…: a server in the background; its command in $command
serve()
{
    : >"$work/server.err"
    timeout 90 "$bench" "$@" >"$work/server.out" 2>"$work/server.err" &
    server=$!
    background+=("$server")
    soon grep -q '^  ' "$work/server.err" || return 1
    command=$(sed -n 's/^  //p' "$work/server.err")
}
# client EXTRA…: the command that the server has printed, and what is added
client()
{
    eval "timeout 60 $command \"\$@\"" >"$work/client.out" 2>"$work/client.err"
}
# both EXTRA…: client and server are done
both() { client "$@" && wait "$server"; }
sizes() { awk '/^ +[0-9]/ { print $1 }' "$work/server.out" | xargs; }
says() { grep -q -- "$2" "$work/$1" || { cat "$work/$1"; false; }; }

check 'a server' serve lat --server "${short[@]}" --rails shm1
check '... prints a command' eval \
    '[[ $command =~ ^$bench\ lat\ [^\ ]+\ --code\ [0-9]+-[0-9a-f]{32}$ ]]'
used=$command
command=${command%?}x
check 'another code' eval '! client'
check '... is refused' says client.err '^railbench lat: --code .*another secret'
check '... and not printed' eval '! grep -q "${command##*-}" "$work/client.err"'
command=${used/--code/--secret /dev/null --code}
check 'a code and a secret' eval '! client; [ "$(wc -l <"$work/client.err")" = 1 ]'
command=$used
check 'the other host' both
check '... the server reports' says server.out 'single shm1'
check '... the client shows the same' cmp "$work/server.out" "$work/client.out"
check '... its sizes' eval '[ "$(sizes)" = 8 ]'
check 'a code that has served' eval '! client'
check '... is refused' says client.err 'Connection refused.* serves once'
check '... and not called wrong' eval '! says client.err "code is not"'
command="$bench lat no-such-host.invalid --code ${used##* }"
check 'a host that does not exist' eval '! client'
check '... is named' says client.err "'no-such-host.invalid:"
check '... and not the code' eval '! grep -q -e --code "$work/client.err"'

# a server of another version refuses a client that has proved that it knows the secret
cat >"$work/other_version.py" <<'END'
import socket, struct, sys
def reply(refusal):
    return struct.pack("=8sIIII16s48x", b"drailjob", 1, 0x01020304, refusal, 2, b"9.9")
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print("  ", s.getsockname()[1], file=sys.stderr, flush=True)
c = s.accept()[0]
c.recv(56, socket.MSG_WAITALL); c.sendall(reply(0))
c.recv(32, socket.MSG_WAITALL); c.sendall(reply(3)); c.recv(1)
END
bench=python3 check 'a server of another version' serve "$work/other_version.py"
command="$bench lat 127.0.0.1 --code ${command## }-${used##*-}"
check '... is asked' eval '! client'
check '... says so' says client.err \
    'railbench lat: rank 0 .*it runs another version .*dapl_rail 9.9'
check '... and not the code' eval '! grep -q -e --code "$work/client.err"'

check 'a server again' serve bw --server "${short[@]}" --output "$work/table"
check '... with another code' eval '[ "$command" != "$used" ]'
check 'a client that says otherwise' both --sizes 64,128 --format=csv \
    --output "$work/not"
check '... sees the table' says client.out '^ *64  single'
check '... is followed' grep -q -- '--sizes 64,128$' "$work/table"
check '... but where its own files are meant' [ ! -e "$work/not" ]
check '... nothing is left' eval '! ls "$work" | grep -q "table[.]"'

check 'another test' serve bw --server "${short[@]}"
command=${command/ bw / lat }
check '... is refused' eval '! client; wait "$server"; [ $? = 2 ]'
check '... by name' says server.err "TEST: 'lat' is wrong; allowed: bw"

check 'a client that is wrong' serve lat --server "${short[@]}"
check '... fails alone' eval '! client --sizes 2G'
check '... and may try again' both

# what a client says must not reach the other host's files and shell
check 'a server that events are told' serve degrade --server --time 1s
check '... runs no command of a client' eval \
    'client --on-event "touch $work/ran"; wait "$server"; [ ! -e "$work/ran" ]'
check 'a server of a collective' serve gather --server "${short[@]}"
check '... reads no table of a client' eval \
    'client --table "$work/none"; wait "$server"; ! grep "$work/none" "$work/server.err"'
check 'a server of patterns' serve alltoallv --server --engine single
check '... reads no pattern of a client' eval \
    'client --pattern "file:$work/none"; wait "$server"; ! grep "$work/none" "$work/server.err"'

# a host whose name means nothing, as in many containers, tells its address
cat >"$work/unnamed" <<END
#!/bin/sh
exec unshare -u python3 -c 'import os, socket, sys
socket.sethostname("no-such-host.invalid")
os.execv(sys.argv[1], sys.argv[1:])' '$bench' "\$@"
END
chmod 755 "$work/unnamed"
if unshare -u true 2>/dev/null; then
    named=$bench
    bench=$work/unnamed
    check 'a server without a name' serve lat --server "${short[@]}"
    bench=$named
    check '... prints its address' eval '[[ $command =~ lat\ [0-9.]+\ --code ]]'
    command="$work/unnamed ${command#* }" # its ranks share memory
    check '... which serves' both
fi

(umask 077 && head -c 24 /dev/urandom | base64 >"$work/secret")
port=$(free_port)
check 'a server for scripts' serve lat --server "${short[@]}" \
    --rendezvous "127.0.0.1:$port" --secret "$work/secret"
check '... tells no secret' eval '! grep -qF "$(cat "$work/secret")" \
    "$work/server.err"'
check '... and where it waits' says server.err "lat 127.0.0.1:$port --secret"
command="$bench lat 127.0.0.1:$port --secret $work/secret"
check '... measures' both

refused 'a host alone' 'HOST --code --secret' "$bench" bw somewhere
refused 'a code alone' '--code HOST' "$bench" bw --code 1-0123456789abcdef
refused 'a code that is none' '--code' "$bench" bw somewhere --code nonsense
refused 'server and client' '--server HOST' "$bench" bw --server somewhere
refused 'three ranks' '--ranks' "$bench" bw --server --ranks 3
refused 'simulated rails' 'sim' "$bench" bw --server --rails sim:qsnet2-4x4
refused 'a test of one process' 'unknown.option' "$bench" limits --server
refused 'no port' 'HOST host:port' "$bench" bw somewhere --secret "$work/secret"
