#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/compare-layer: bad input, and a short run with the libraries that are
# built (make peers).
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

compare=$SOURCE/scripts/compare-layer
export BUILD

refused 'unknown option' --nonsense "$compare" --nonsense
refused 'no rounds' --repeat "$compare" --repeat 0
refused 'unknown peer' --peers "$compare" --peers mpich,nonsense
refused 'unknown collective' --collectives "$compare" --collectives scan

short_run()
{
    timeout -k 10 200 "$compare" --repeat 2 --ranks 2 --sizes 8,64K \
        --collectives allgather,bcast "$work/layer" >"$work/out" 2>&1 || {
        cat "$work/out"
        return 1
    }
    python3 - "$work/layer" <<'PY'
import csv, sys
with open(sys.argv[1] + "/layer.csv", newline="") as file:
    rows = list(csv.DictReader(file))
text = open(sys.argv[1] + "/layer.txt", encoding="utf-8").read()
points = {(row["collective"], row["bytes"]) for row in rows}
assert points == {(what, size) for what in ("allgather", "bcast")
                  for size in ("8", "65536")}, points
for row in rows:
    assert row["rounds"] == "2" and row["place"] == "few", row
    assert float(row["plain_us"]) > 0 and float(row["layer_us"]) > 0, row
    assert row["library"] in text
    assert float(row["dcoll_us"]) > 0 and float(row["over_dcoll"]) > 0, row
assert "LD_PRELOAD=LIB/libdcoll_mpi_" in text, text
PY
}
"$compare" --repeat 1 --ranks 2 --sizes 8 --collectives bcast "$work/first" \
    >"$work/out" 2>&1 ||
    { grep -q 'no MPI library is there' "$work/out" &&
        skip 'no MPI: nothing was compared (make deps-peers peers)'; }
check 'a short run' short_run
