#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/reproduce: bad input, what its table computes, and that a row comes out
# the same each time.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

reproduce=$SOURCE/scripts/reproduce
refused 'a row that there is not' '--only: .xyz' "$reproduce" --only xyz
refused 'no row' '--only: ..' "$reproduce" --only ''
refused 'no runs at a time' '--jobs.*0.*1 to 256' "$reproduce" --jobs 0
refused 'that many ranks' '--ranks.*17.*16, 64' "$reproduce" --ranks 17
refused 'an option that there is not' '--nonsense' "$reproduce" --nonsense
check 'a list of some' sh -c '"$0" --list --only 002-allgather |
    grep -qx 002-allgather-4' "$reproduce"

# says 'PYTHON ASSERTIONS'
says()
{
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SOURCE/scripts python3 -c "
from predicted import *
class Line:
    def __init__(self, **points):
        self.line = {int(x[1:]): y for x, y in points.items()}
    def runs(self):
        return set()
    def points(self, results):
        return self.line
$1"
}

check 'by how much one is better' says '
base, other, ours = Line(_4=8.0, _8=9.0), Line(_4=4.0), Line(_4=2.0)
row = Factor("", "", "", 2.5, base, other, ours, 4)
found = row.found({})
assert (found.predicted, found.ours, found.same) == (2.0, 4.0, True)
assert abs(found.deviation + 0.2) < 1e-9 and not found.behind
assert Factor("", "", "", 2, base, ours, other, 4).found({}).behind
assert Factor("", "", "", 2, base, other, ours, 8).found({}).predicted is None
assert Factor("", "", "", 2, other, base, base, 4).found({}).same is False
rates = Factor("", "", "", 2, other, base, base, None, rate=True).found({})
assert rates.predicted == 9 / 4, rates'
check 'who wins from where to where' says '
low = Line(_4=1.0, _8=2.0, _16=4.0, _32=8.0)
high = Line(_4=2.0, _8=2.0, _16=3.0, _32=4.0)
def row(*ranges, ours=low):
    return Winner("", "", "", ranges, {"l": low, "h": high}, ours)
exact = row((4, 8, "l"), (16, 32, "h")).found({})
assert exact.predicted == "l 4–8, h 16–32" and exact.same, exact
assert exact.ours == 0.5 and exact.behind, exact
near = row((4, 16, "l"), (32, 64, "h"), ours=high).found({})
given = replace(row((4, 8, "l"), (16, 32, "h")), given=True)
assert given.found({}).same is None and "input" in given.found({}).detail
assert not any("winners" in line for line in summary([given], {
    "": given.found({})}))
assert near.same and near.detail.startswith("3 of 4") and not near.same is None
assert not row((4, 32, "l")).found({}).same
assert row((64, 64, "l")).found({}).predicted is None'
check 'a library that switches' says '
line = Pieces(((4, Line(_4=1.0, _8=1.0)), (8, Line(_4=2.0, _8=2.0)),
               (99, Line(_16=3.0))))
assert line.points({}) == {4: 1.0, 8: 2.0, 16: 3.0}
assert Best((line, Line(_4=0.5, _32=7.0))).points({}) == {
    4: 0.5, 8: 2.0, 16: 3.0, 32: 7.0}
assert Across(((2, line), (3, Line())), 8).points({}) == {2: 2.0}'
check 'what a platform leaves open' says '
import open_ranges
text = """[rail a]
rate = 2 GB/s   # open: 1 to 3 GB/s
duplex_rate = 2 GB/s
# open: post + latency + notification is 2 to 4 us
latency = 1 us
[rail b]
rate = 2 GB/s
[memory]
# open: 5 to 9 MB/s for one
copy_rate = 6 MB/s, 8 MB/s
[message]
post = 0.5 us
"""
found = open_ranges.ranges(text)
assert found == {
    ("rail", "rate", "2 GB/s"): ("1 GB/s", "3 GB/s"),
    ("rail", "latency", "1 us"): ("1.5 us", "3.5 us"),
    ("memory", "copy_rate", "6 MB/s, 8 MB/s"): ("5 MB/s", "9 MB/s")}, found
what = list(found)
assert open_ranges.changed(text, what[0], "3 GB/s").count("= 3 GB/s") == 3
assert "= 9 MB/s, 9 MB/s" in open_ranges.changed(text, what[2], "9 MB/s")'

if [ ! -e "$BUILD/lib/dapl_rail/libdapl_sim.so" ]; then
    echo 'no simulated rails here: skipped'
    exit
fi

# A row and a figure, twice; and what is kept is not run again.
twice()
{
    local take
    for take in 1 2; do
        rm -rf "$work/papers"
        mkdir -p "$work/build"
        ln -sfn "$BUILD/bin" "$BUILD/lib" "$work/build/"
        rm -rf "$work/build/papers"
        BUILD=$work/build timeout 60 "$reproduce" --only \
            004-latency-4K,004-6 "$work/papers" \
            >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
        mv "$work/papers" "$work/take$take"
    done
    diff -r "$work/take1" "$work/take2"
}
check 'the same each time' twice
check 'a row' grep -q '^004-latency-4K,"004, 5.2",ultra24-multihca,' \
    "$work/take1/table.csv"
check '… with what is open' grep -q '^004-latency-4K,rail.gap,' \
    "$work/take1/sensitivity.csv"
check '… and its command' grep -q '^1. `railbench lat --rails sim:ultra24-multihca' \
    "$work/take1/table.md"
check 'a figure' grep -q '^004-6-latency,multi-HCA threaded,4096,' \
    "$work/take1/figures.csv"
if command -v gnuplot >/dev/null; then
    check '… drawn' test -s "$work/take1/figures-004-6-latency.png"
fi
