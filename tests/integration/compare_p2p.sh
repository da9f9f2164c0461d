#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/compare-p2p: bad input, and a short run with the peers that are
# built (make peers); those that are not are named.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

compare=$SOURCE/scripts/compare-p2p
export BUILD

# refused OPTION ARGUMENTS…: status 2 and one line that names the option
refused()
{
    local option=$1
    shift
    timeout -k 10 30 "$compare" "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ] &&
        grep -q -- "$option" "$work/err"
}

check 'unknown option' refused --nonsense --nonsense
check 'no rounds' refused --repeat --repeat 0
check 'unknown peer' refused --peers --peers openmpi,nonsense
check 'size twice' refused --bw-sizes --bw-sizes 4K,4096
check 'size that is none' refused --lat-sizes --lat-sizes 8,4Q
check 'one core' refused --cores --cores 0

# What fails once keeps its other rounds; what fails always is left out soon.
goes_on()
{
    python3 -B - "$compare" <<'PY'
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from os.path import dirname
sys.path.insert(0, dirname(sys.argv[1]))
loader = SourceFileLoader("compare_p2p", sys.argv[1])
p2p = module_from_spec(spec_from_loader("compare_p2p", loader))
loader.exec_module(p2p)


class Fake:
    def __init__(self, name, fails):
        self.name, self.fails, self.launches = name, fails, 0

    def measure(self, kind, sizes):
        self.launches += 1
        if self.launches in self.fails:
            raise p2p.Failure("no luck")
        return [("send", size, 1.0, 2.0) for size in sizes]


good, unlucky, broken = fakes = [
    Fake("good", []), Fake("unlucky", [2]), Fake("broken", range(9))]
samples, _, tries = p2p.measure(fakes, [("lat", [8])], 5, [0, 1])
assert list(samples[("lat", 8, "good", "send")]) == [1, 2, 3, 4, 5]
assert list(samples[("lat", 8, "unlucky", "send")]) == [1, 3, 4, 5]
assert broken.launches == 3 and ("lat", 8, "broken", "send") not in samples
told = dict(tries.failures(5))
assert told["unlucky", "lat"] == "failed in 1 of 5 rounds: no luck", told
assert told["broken", "lat"].startswith("failed in each of 3"), told
rows = p2p.summarize(samples)
assert {row["program"]: row["repeats"] for row in rows} == {
    "good": 5, "unlucky": 4}, rows
PY
}
check 'a launch that fails' goes_on

short_run()
{
    timeout -k 10 200 "$compare" --repeat 1 --lat-sizes 8 --bw-sizes 64K \
        "$work/p2p" >"$work/out" 2>"$work/err" || {
        cat "$work/out" "$work/err"
        return 1
    }
    python3 - "$work/p2p" <<'PY'
import csv, sys
folder = sys.argv[1]
text = open(folder + "/p2p.txt", encoding="utf-8").read()
with open(folder + "/p2p.csv", newline="") as file:
    rows = list(csv.DictReader(file))
kinds = {(row["program"], row["test"], row["method"]) for row in rows}
assert {("dapl_rail", "lat", "single"), ("dapl_rail", "bw", "single"),
        ("dapl_rail", "bw", "threaded")} <= kinds, kinds
for row in rows:
    assert float(row["latency_us"]) > 0, row
    assert float(row["bandwidth_MBps"]) > 0, row
for peer in ("Open MPI", "MPICH", "UCX", "libfabric"):
    measured = any(row["program"] == peer for row in rows)
    assert measured != (f"{peer}: left out" in text), peer
PY
}
if [ "$(nproc)" -ge 2 ]; then
    check 'a short run' short_run
fi
