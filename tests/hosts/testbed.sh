#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/testbed: what hosts share and what they don't, cables that are pulled
# and plugged in again, and that nothing stays behind, whatever ends it.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"

timeout -k 10 60 "$testbed" true
[ $? -ne 77 ] || exit 77 # it has said why

# refused OPTION ARGUMENTS…: status 2 and one line that names the option
refused()
{
    local option=$1
    shift
    timeout -k 10 30 "$testbed" "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
        grep -q -- "$option" "$work/err"
}

check 'unknown option' refused --nonsense --nonsense
check 'one host' refused --hosts --hosts 1 true
check 'five rails' refused --rails --rails 5 true
check 'rate that is none' refused RATE --rate 5x true
check 'rates for other rails' refused --rate --rate 1,2 --rails 3 true
check 'not below a testbed' refused testbed on n1 true

# --------------------------------------------------------------- one testbed --

# Beside the hosts: answers to what is asked from outside, one a line.
cat >"$work/apart" <<'END'
fails=0
is() { [ "$2" = "$3" ] || { echo "$1: '$2', not '$3'"; fails=1; }; }
carrier() { on "$2" cat "/sys/class/net/$1/carrier"; }
reach='import socket, sys
socket.create_connection((sys.argv[1], 7000), float(sys.argv[2]))'
# reaches HOST ADDRESS SECONDS: the host that listens at the address
reaches() { on "$1" python3 -c "$reach" "$2" "$3" 2>/dev/null; }
soon() { for _ in $(seq 50); do "$@" && return; sleep 0.05; done; return 1; }
expect() { "$@" || { echo "failed: $*"; fails=1; }; }

is 'host names' "$(on n1 hostname)$(on n3 hostname)" n1n3
is 'exit status' "$(on n1,n2 sh -c 'exit $TESTBED_INDEX'; echo $?)" 1
is 'as ssh' "$(agent -x n2 'echo "$0  $HOME" |' cat)" "sh  $HOME"
is 'directory' "$(on n2 pwd)" "$PWD"
on n1 touch /tmp/mine /dev/shm/mine
# but for the way to this tree, if it lies there
way=${PWD#/tmp/}
[ "$way" != "$PWD" ] && way=${way%%/*} || way=
is 'private files' "$(on n2 ls /tmp /dev/shm | tr -d '\n')" "/dev/shm:/tmp:$way"
is 'below /tmp' "$(on n1 /tmp/nowhere/program 2>&1 |
    grep -c 'a /tmp of its own')" 1
is 'below /tmp, by a shell' "$(agent n1 /tmp/nowhere/program 2>&1 |
    grep -c 'a /tmp of its own')" 1
is 'boot ids' "$(on all cat /proc/sys/kernel/random/boot_id | sort -u | wc -l)" 3
is 'processes' "$(on n2 sh -c 'set -- /proc/[0-9]*; echo $#')" 2
is 'agent from a host' "$(on n1 agent n3 hostname)" n3
is 'rates' "$(on n2 tc qdisc | grep -o 'rail.*rate [^ ]*' |
    sed 's/ root.*rate//')" 'rail0 1Gbit
rail1 500Mbit'
testbed rate rail1 200 n2
is 'another rate' "$(on n2 tc qdisc show dev rail1 | grep -o 'rate [^ ]*')" \
    'rate 200Mbit'

on n2 python3 -c 'import socket
listener = socket.create_server(("", 7000), backlog=64)
while True: listener.accept()' &
expect soon reaches n1 n2-rail1 1
testbed cut rail1 n2
is 'cut' "$(carrier rail1 n1)$(carrier rail1 n2)$(carrier rail0 n2)" 101
expect eval '! reaches n1 n2-rail1 0.3'
expect reaches n1 n2-rail0 5
testbed mend rail1
is 'given back' "$(carrier rail1 n2)" 1
expect soon reaches n1 n2-rail1 1
testbed drop 1
is 'silent' "$(carrier rail1 n1)$(carrier rail1 n2)" 11
expect eval '! reaches n1 n2-rail1 0.3'
testbed mend 1 n1 n2
expect soon reaches n1 n2-rail1 1

# tells FROM TO: datagrams arrive
tells()
{
    local heard
    on "$2" python3 -c 'import socket
s = socket.socket(type=socket.SOCK_DGRAM)
s.bind(("", 7001))
s.settimeout(4)
s.recv(1)' 2>/dev/null &
    heard=$!
    on "$1" python3 -c 'import socket, sys, time
s = socket.socket(type=socket.SOCK_DGRAM)
for _ in range(30):
    s.sendto(b"x", (sys.argv[1], 7001))
    time.sleep(.1)' "$2-rail1"
    wait $heard
}
status=$(echo mute rail1 n2 | testbed -)
is 'verbs by lines' "${status% *}" 0
expect tells n2 n1
expect eval '! tells n1 n2'
testbed mend rail1
expect tells n1 n2

# counts: of 400 datagrams from n1 that arrive at n2
counts()
{
    on n2 python3 -c 'import socket
s = socket.socket(type=socket.SOCK_DGRAM)
s.bind(("", 7002))
s.settimeout(2)
count = 0
try:
    while True: count += len(s.recv(1))
except TimeoutError:
    print(count)' &
    sleep 0.5
    on n1 python3 -c 'import socket, time
s = socket.socket(type=socket.SOCK_DGRAM)
for _ in range(400):
    s.sendto(b"x", ("n2-rail1", 7002))
    time.sleep(.001)'
    wait $!
}
testbed lose rail1 50 n2
some=$(counts)
expect [ "$some" -gt 100 ] # 200 +- 10
expect [ "$some" -lt 300 ]
testbed mend rail1
is 'lost no more' "$(counts)" 400
exit $fails
END
check 'hosts and rails' timeout -k 10 60 \
    "$testbed" --hosts 3 --rate 1gbit,500 bash "$work/apart"

# Hosts share the folder that testbed is started in, below /tmp too.
shares_folder()
{
    mkdir "$work/here"
    (cd "$work/here" && timeout -k 10 60 "$testbed" sh -c 'on n2 touch made')
    [ -e "$work/here/made" ]
}
check 'a folder below /tmp' shares_folder

# ------------------------------------------------------------------- its end --

# what was started on a host runs
sleepers() { pgrep -fc "^sleep 9999.$$" >/dev/null; }
none() { ! sleepers; }

# down_by SIGNAL: ends a testbed while another one runs
down_by()
{
    local signal=$1 pid status
    "$testbed" sh -c "on n1 sleep 9999.$$ & on n2 sleep 9999.$$" &
    pid=$!
    soon sleepers
    kill -"$signal" $pid
    wait $pid
    status=$?
    soon none && [ $status -eq $((128 + $(kill -l "$signal"))) ]
}

"$testbed" sh -c "touch $work/up; until [ -e $work/go ]; do sleep 0.05; done
    on n2 hostname >$work/answer" &
other=$!
background+=("$other")
soon test -e "$work/up"
check 'ended by TERM' down_by TERM
check 'killed' down_by KILL
touch "$work/go"
wait $other
check 'another testbed goes on' grep -q n2 "$work/answer"
check 'ends with its command' timeout -k 10 30 "$testbed" \
    sh -c "on n1 setsid sleep 9999.$$ & sleep 0.3"
check 'leaves nothing' soon none
