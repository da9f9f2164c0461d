#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench on simulated clusters: all its tests, what they say of time, and what
# is refused.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

bench=$BUILD/bin/railbench
needs_simulation
# ASan says once in a process that it ignores other stacks, which is not ours
asan='==[0-9]+==WARNING: ASan is ignoring requested __asan_handle_no_return.*|'
asan+='False positive error reports may follow|For details see .*issues/189'

# run TEST CLUSTER OPTION…: its CSV
run()
{
    local test=$1 cluster=$2
    shift 2
    timeout -k 1 60 "$bench" "$test" --rails "sim:$cluster" --save \
        "$work/r.csv,$work/r.json" "$@" >"$work/out" 2>"$work/err" || {
        echo "status $?"
        cat "$work/err"
        return 1
    }
    sed -Ei "s@^($asan)\$@@; /^\$/d" "$work/err"
}

# csv EXPRESSION: what Python says of all rows
csv()
{
    python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert rows and all(eval(sys.argv[2]) for r in rows), rows' "$work/r.csv" "$1"
}

valid='r["valid"] == "yes"'
check 'engine auto has found its way before it is timed' run bw \
    "$SOURCE/tests/platforms/two-rails.platform" --engine auto --sizes 1M
check '... no message takes one rail' csv 'float(r["latency_us_p99"]) < 530'
check '... and nothing is said of intervals' \
    sh -c "! grep -q 'confidence\|exact' '$work/out'"
for cluster in qsnet2-4x4 ultra24-multiport; do
    for test in bw bibw lat; do
        check "$test on $cluster" run $test $cluster --sizes 64,32K --validate
        check '... valid' csv "$valid"
    done
    check '... without an interval, and simulated' csv \
        'not r["latency_us_lo"] and r["latency_us"] and r["fabric"] == "sim"'
    check '... in words' grep -q "simulated: virtual time of $cluster" \
        "$work/out"
    check '... nothing is crowded or pinned' \
        sh -c "! grep -q 'share.*core\\|, pinned' '$work/out'"
    check "breakdown on $cluster" run breakdown $cluster --sizes 64,32K
    for test in gather allgather alltoall bcast scatter; do
        check "$test on $cluster" run $test $cluster --sizes 64,32K \
            --ranks 4 --validate
        check '... valid' csv "$valid"
    done
    check "barrier on $cluster" run barrier $cluster --ranks 4
    check "alltoallv on $cluster" run alltoallv $cluster --ranks 4 \
        --elements 4,256 --validate
    check '... valid' csv "$valid"
    check "check on $cluster" sh -c "'$bench' check --rails sim:$cluster \
        --sizes 64 --ranks 4 >'$work/out' 2>&1; test \$? -lt 2"
    check '... compares' grep -q 'of [1-9][0-9]* comparisons' "$work/out"
    check '... ranges' grep -q '^# violated: .*(range of repeats of each)' \
        "$work/out"
    check "tune on $cluster" "$bench" tune --rails "sim:$cluster" \
        --sizes 64,32K --ranks 4 --output "$work/table"
    check '... and its table' run allgather $cluster --ranks 4 \
        --table "$work/table"
done

# A copy of n bytes takes n ns there, and follows each message.
run lat "$SOURCE/tests/platforms/two-rails.platform" --sizes 8,64K \
    --engine nonthreaded && mv "$work/r.csv" "$work/first.csv"
check 'messages are copied where they arrive' run lat \
    "$SOURCE/tests/platforms/two-rails.platform" --sizes 8,64K \
    --engine nonthreaded --consume
check '... each once, which takes its time' python3 -c 'import csv, sys
first, copied = (list(csv.DictReader(open(f))) for f in sys.argv[1:])
for a, b in zip(first, copied, strict=True):
    us = float(b["pingpong_us"]) - float(a["pingpong_us"])
    assert abs(us - int(a["bytes"]) / 1e3) < 2e-3, (a, b)' \
    "$work/first.csv" "$work/r.csv"
check '... and is said' grep -q 'the target copies each message' "$work/out"

# --- tables, and how many ranks there are -------------------------------------

# platform FILE FLAG: of connectx-4x4, with another time of a flag
platform()
{
    sed "s/^flag *=.*/flag = $2/" \
        "$SOURCE/providers/sim/platforms/connectx-4x4.platform" >"$1"
}

# ignored OPTION…: the table is said to be another's
ignored()
{
    "$bench" allgather --sizes 64 --table "$work/table" --repeat 1 "$@" \
        >"$work/out" 2>"$work/err" &&
        grep -q "'$work/table' is ignored: .*rails sim:tuned@.*here" \
            "$work/err"
}

platform "$work/tuned.platform" '300 ns'
check 'tune on a cluster of a file' "$bench" tune --sizes 64 --shapes 8 \
    --collective allgather --rails "sim:$work/tuned.platform" \
    --output "$work/table"
check '... names the platform' \
    grep -q '^rails sim:tuned@[0-9a-f]*,sim0$' "$work/table"
check '... with as many ranks on a node as it says' \
    grep -q '^allgather 8 4 1 ' "$work/table"
check '... it is taken there' run allgather "$work/tuned.platform" \
    --ranks 8 --sizes 64 --table "$work/table"
check '... without a word' [ ! -s "$work/err" ]
DRAIL_SIM_PATH=$work check '... by its name, too' run allgather tuned \
    --ranks 8 --sizes 64 --table "$work/table"
check '... still without a word' [ ! -s "$work/err" ]
check '... not on another one' ignored --rails sim:qsnet2-4x4 --ranks 8
platform "$work/tuned.platform" '301 ns'
check '... nor on a changed one' ignored --rails "sim:$work/tuned.platform"
check '... nor on real rails' ignored --rails shm0 --ranks 2

check 'as many ranks as the cluster has' run allgather qsnet2-4x4 --sizes 64
check '... 16, 4 on a node' csv 'r["ranks"] == "16" and r["ppn"] == "4"'
check 'less of a large one' run bcast t3d --sizes 64
check '... 32 nodes' csv 'r["ranks"] == "32" and r["ppn"] == "1"'
check 'nodes of other ranks' run barrier qsnet2-4x4 --ppn 2
check '... all of them' csv 'r["ranks"] == "8"'
check 'two ranks are of two nodes' run lat qsnet2-4x4 --sizes 64
check '... and far from each other' csv 'float(r["pingpong_us"]) > 1.5'
refused 'groups of one node' '--ppn two.nodes' \
    "$bench" mbw --rails sim:qsnet2-4x4 --ranks 4

run allgather qsnet2-4x4 --ranks 16 --algorithm all --sizes 1K
mv "$work/r.csv" "$work/first.csv"
run allgather qsnet2-4x4 --ranks 16 --algorithm all --sizes 1K
check 'the same in every run' cmp "$work/first.csv" "$work/r.csv"
check 'as many on a node as the cluster says' csv 'r["ppn"] == "4"'

# --- comparing ----------------------------------------------------------------

sed 's/^post = [^#]*/post = 0.9 us /' \
    "$SOURCE/providers/sim/platforms/qsnet2-4x4.platform" >"$work/slow.platform"
run allgather qsnet2-4x4 --ranks 8 --sizes 64 --algorithm direct
mv "$work/r.json" "$work/first.json"
run allgather "$work/slow.platform" --ranks 8 --sizes 64 --algorithm direct
check 'two repeats tell simulated results apart' sh -c "'$bench' diff \
    '$work/first.json' '$work/r.json' --output '$work/diff'; test \$? -eq 1"
check '... what posts for longer is slower' grep -q '[^0-9] 1 slower' \
    "$work/diff"
check '... and not by chance' sh -c "! grep -q 'chance\|p <' '$work/diff'"
check 'a result and itself' "$bench" diff "$work/r.json" "$work/r.json" \
    --output "$work/diff"
check '... are the same' grep -q ' 0 faster, 0 slower, 1 the same' "$work/diff"

# --- bad input ----------------------------------------------------------------

# wrong NAME SED 'REGEX…': a platform file, changed
wrong()
{
    sed "$2" "$SOURCE/providers/sim/platforms/qsnet2-4x4.platform" \
        >"$work/x.platform"
    refused "$1" "--rails x.platform:[0-9]+: $3" \
        "$bench" allgather --rails "sim:$work/x.platform"
}
wrong 'an unknown key' 's/^post =/poste =/' 'poste allowed.are.post,'
wrong 'no unit' 's/^latency = .*/latency = 1/' 'has.no.unit in.us.or.ns'
wrong 'another unit' 's/^rate = .*/rate = 9 us/' 'another.unit MB/s'
wrong 'no rate' 's/^rate = .*/rate = 0 GB\/s/' 'is.zero from.0.001.MB/s'
wrong 'more ranks on a node than cores' 's/^ranks = .*/ranks = 5/' 'up.to.4'
wrong 'another section' 's/^.message./[massage]/' 'massage .message.,'
sed 's/^post =/poste =/' "$SOURCE/providers/sim/platforms/t3d.platform" \
    >"$work/x.platform"
refused 'the line is the one' \
    "x.platform:$(grep -n '^poste' "$work/x.platform" | cut -d: -f1):" \
    "$bench" bw --rails "sim:$work/x.platform"

# an installation without SimGrid, and one without the provider
mkdir "$work/build" "$work/none"
cp -r "$BUILD/bin" "$BUILD/lib" "$work/build"
simgrid=$(ldd "$BUILD/lib/dapl_rail/libdapl_sim.so" |
    sed -n 's/^[[:space:]]*\(libsimgrid[^ ]*\) .*/\1/p')
: >"$work/none/$simgrid"
refused 'SimGrid is missing' \
    "--rails Debian:.libsimgrid[0-9] libsimgrid-dev $simgrid" \
    env LD_LIBRARY_PATH="$work/none" "$work/build/bin/railbench" bw \
    --rails sim:t3d
rm "$work/build/lib/dapl_rail/libdapl_sim.so"
refused 'the provider is missing' '--rails Debian:.libsimgrid libdapl_sim.so' \
    "$work/build/bin/railbench" bw --rails sim:t3d

# --- the line on a terminal ---------------------------------------------------

# terminal TEST OPTION…: its stderr, as a terminal has got it, and its stdout
terminal()
{
    python3 - "$work" "$asan" "$bench" "$@" <<'EOF'
import os, pty, re, subprocess, sys, threading
work, asan, command = sys.argv[1], sys.argv[2], sys.argv[3:]
ours, theirs = pty.openpty()
seen = b""
def read():
    global seen
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:
            return
        if not data:
            return
        seen += data
reader = threading.Thread(target=read)
with open(work + "/out", "wb") as out:
    child = subprocess.Popen(command, stdout=out, stderr=theirs)
    os.close(theirs)
    reader.start()
    status = child.wait()
reader.join()
assert status == 0, (status, seen)
seen = re.sub(r"(%s)\r\n" % asan, "", seen.decode())
*lines, end = seen.split("\r\033[K")
assert end == "", repr(end)                 # nothing is left
assert lines[0] == "" and len(lines) > 1, lines
times = [float(re.fullmatch(r"railbench \w+: .*repeat \d+; "
                            r"([0-9.]+) ms of virtual time", line)[1])
         for line in lines if line]
assert times == sorted(times) and times[-1] > 0 <= times[0], times
assert not any(" s;" in line for line in lines), lines   # of no real time
with open(work + "/out", "rb") as out:
    assert b"\033" not in out.read()
EOF
}
check 'a terminal shows the virtual time of a collective' terminal \
    allgather --rails sim:t3d --sizes 4K,8K,16K --algorithm direct
check '... and its figures' grep -q '^ *16384 *direct' "$work/out"
check '... of a stream' terminal bw --rails sim:t3d --sizes 64K:1M \
    --iterations 100
refused 'a test that cuts rails' '--rails sim:qsnet2-4x4 cut' \
    "$bench" degrade --rails sim:qsnet2-4x4
refused 'a test of this machine' '--rails' \
    "$bench" limits --rails sim:qsnet2-4x4
refused 'a test without rails' '--rails' \
    "$bench" verify --rails sim:qsnet2-4x4
refused 'an unknown cluster' '--rails sim:none-such platform' \
    "$bench" bw --rails sim:none-such
refused 'more ranks than cores' '--rails 17.ranks allowed' \
    "$bench" allgather --rails sim:qsnet2-4x4 --ranks 17
refused 'more ranks on a node than cores' '--rails 16.ranks.on.a.node' \
    "$bench" allgather --rails sim:qsnet2-4x4 --ranks 16 --ppn 16
check 'railinfo says what they are' sh -c \
    "'$BUILD/bin/railinfo' --all | grep -q '^sim0 .*virtual time'"
