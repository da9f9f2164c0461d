#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/compare-layer: bad input, what it says of stand-ins, and a short run with
# the libraries that are built (make peers).
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

compare=$SOURCE/scripts/compare-layer
export BUILD

refused 'unknown option' --nonsense "$compare" --nonsense
refused 'no rounds' --repeat "$compare" --repeat 0
refused 'unknown peer' --peers "$compare" --peers mpich,nonsense
refused 'unknown collective' --collectives "$compare" --collectives barrier
refused 'no whole doubles' --sizes "$compare" --collectives scan --sizes 4

# ------------------------------------------------- stand-ins for all it starts --

built=$BUILD
stand=$work/build
wheels=$work/wheels
mkdir -p "$stand/bin/peers" "$stand/lib" "$wheels/mpich/bin" "$wheels/impi/bin"
touch "$stand/lib/libdcoll_mpi_mpich.so"
for key in mpich impi; do
    printf '#!/bin/sh\n' >"$stand/bin/peers/mpi_coll.$key-wheel"
    cat >"$wheels/$key/bin/mpiexec" <<END
#!/usr/bin/env python3
import os, sys
layer = any(word.startswith("LD_PRELOAD=") for word in sys.argv)
with open("$work/order", "a") as file:
    print("$key", "layer" if layer else "plain", file=file)
cores = sorted(os.sched_getaffinity(0))
print("# $key 9\\n# cores", cores[0], cores[1 % len(cores)])
print("what,bytes,iterations,latency_us,each_us,kept_late")
for run in sys.argv[1:]:
    if run.startswith("bcast:"):
        print("bcast", run.split(":")[1], 1, 10, 6 if layer else 12, 0, sep=",")
END
done
# BESIDE: it runs on other cores; UNMEASURED: it knows nothing of 64 bytes
cat >"$stand/bin/railbench" <<END
#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == "limits":
    sys.exit()
with open("$work/order", "a") as file:
    print("dcoll", file=file)
cores = sorted(os.sched_getaffinity(0))
print(json.dumps({
    "version": "v9", "revision": "r8",
    "pinning": [{"main_core": cores[rank % len(cores)] + ("BESIDE" in os.environ)}
                for rank in range(2)],
    "results": [{"bytes": size, "each": {"latency_us": {"median": 4}}}
                for size in (8, 64)
                if size == 8 or "UNMEASURED" not in os.environ]}))
END
chmod 755 "$stand"/bin/railbench "$stand"/bin/peers/* "$wheels"/*/bin/*

# stands_in ROUNDS: two libraries, two sizes
stands_in()
{
    rm -rf "$work/order" "$work/result"
    BUILD=$stand timeout -k 10 60 "$compare" --repeat "$1" --ranks 2 \
        --sizes 8,64 --collectives bcast --wheels "$wheels" \
        --peers mpich-wheel,impi-wheel "$work/result" >"$work/out" 2>&1 &&
        return 0
    cat "$work/out"
    return 1
}
# tells TEXT: the table does
tells() { grep -Eq -- "$1" "$work/result/layer.txt" || { cat "$work/out"; false; }; }
# Each begins a round, in each library's turn, and no library is always first.
takes_turns()
{
    python3 - "$work/order" <<'PY'
import sys
with open(sys.argv[1], encoding="utf-8") as file:
    names = [line.split()[-1] for line in file]
with open(sys.argv[1], encoding="utf-8") as file:
    keys = [line.split()[0] for line in file]
assert len(names) == 6 * 2 * 3, names
groups = [names[at:at + 3] for at in range(0, len(names), 3)]
assert all(sorted(group) == ["dcoll", "layer", "plain"] for group in groups)
firsts = [group[0] for group in groups]
assert {firsts.count(part) for part in groups[0]} == {4}, firsts
libraries = [next(key for key in keys[at:at + 3] if key != "dcoll")
             for at in range(0, len(keys), 6)]
assert {libraries.count(key) for key in ("mpich", "impi")} == {3}, libraries
PY
}

check 'six rounds' stands_in 6
check '… in turn' takes_turns
check '… whose means tell of how many points' tells \
    '2 ranks: geometric mean 2.00; .* 1.50 of dcoll.s time, of 2 of 2 points$'
check '… which are enough' tells '2.00  \[2.00, 2.00\] ahead +1.50$'
check '… and how dcoll ran' tells '^dcoll: dapl_rail v9 \(r8\)$'
check '… by which command' tells '^    .*bin/railbench bcast --sizes 8,64 .*--each'
check '… with the rounds of each ratio' sh -c \
    'head -1 "$0" | grep -q ",over_dcoll_rounds$" && grep -c ",6$" "$0" | grep -qx 4' \
    "$work/result/layer.csv"
UNMEASURED=yes check 'five rounds, and a point is missing' stands_in 5
check '… as is told' tells 'of dcoll.s time, of 1 of 2 points, 1 with few rounds$'
check '… where it is' tells '6\.00 +4\.00 .* 1\.50 few$'
BESIDE=yes
export BESIDE
check 'dcoll on other cores' eval '! stands_in 3 >/dev/null'
check '… is told' tells 'ranks, dcoll: failed in each of 3 rounds: .*not on cores'
check '… and in no figure' tells "; dcoll's time: not measured\$"
unset BESIDE

rm "$stand/bin/railbench"
check 'no railbench' eval '! stands_in 1 >/dev/null'
check '… is told' grep -q 'no .*railbench' "$work/out"
check '… before there is a folder' test ! -e "$work/result"

# ------------------------------------------------------------- the real ones --

BUILD=$built
of_mpi=neighbor_alltoallw
others=allgather,reduce_scatter
short_run()
{
    timeout -k 10 200 "$compare" --repeat 2 --ranks 2 --sizes 8,64K \
        --collectives "$others,$of_mpi" "$work/layer" >"$work/out" 2>&1 || {
        ! grep -q 'no MPI library is there' "$work/out" ||
            skip 'no MPI: nothing was compared (make deps)'
        cat "$work/out"
        return 1
    }
    python3 - "$work/layer" "$others" "$of_mpi" <<'PY'
import csv, sys
of_mpi = sys.argv[3].split(",")
with open(sys.argv[1] + "/layer.csv", newline="") as file:
    rows = list(csv.DictReader(file))
text = open(sys.argv[1] + "/layer.txt", encoding="utf-8").read()
points = {(row["collective"], row["bytes"]) for row in rows}
assert points == {(what, size) for what in sys.argv[2].split(",") + of_mpi
                  for size in ("8", "65536")}, points
for row in rows:
    assert row["rounds"] == "2" and row["place"] == "few", row
    assert float(row["plain_us"]) > 0 and float(row["layer_us"]) > 0, row
    assert row["library"] in text
    if row["collective"] in of_mpi:
        assert not row["dcoll_us"] and not row["over_dcoll"], row
    else:
        assert float(row["dcoll_us"]) > 0 and float(row["over_dcoll"]) > 0, row
assert "LD_PRELOAD=LIB/libdcoll_mpi_" in text, text
PY
}
check 'a short run' short_run
