#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/irregular-figures: bad input, that it measures what each figure of the
# seed shows, and what is left where some of it fails.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

figures=$SOURCE/scripts/irregular-figures
for bad in '--ranks 8' '--ranks 81' '--ranks x' '--nonsense'; do
    # shellcheck disable=SC2086
    refused "$bad" "${bad% *}" "$figures" $bad
done

# ends STATUS BUILD RANKS
ends()
{
    rm -rf "$work/result"
    BUILD=$2 timeout -k 10 200 "$figures" --quick --ranks "$3" "$work/result" \
        >"$work/out" 2>"$work/err"
    [ $? -eq "$1" ] && return 0
    cat "$work/out" "$work/err"
    return 1
}

# holds 'PYTHON ASSERTIONS': seen maps each figure to what it has of the CSV
holds()
{
    python3 -c "
import csv, sys
seen = {}
for row in csv.DictReader(open(sys.argv[1] + '/figures.csv', newline='')):
    seen.setdefault(row['figure'], []).append(row)
def of(figure, *names):
    return {tuple(row[name] for name in names) for row in seen[figure]}
$1" "$work/result"
}

check 'a quick run' ends 0 "$BUILD" 4
check 'all figures have their points' holds '
both = {name + n for name in ("a1", "a2", "a4") for n in ("", "-n1")}
mesh = {"a3", "a3-n1", "a4", "a4-n1", "a4-n2"}
short, long = {"16", "64", "256", "1024"}, {"1024", "2048", "4096"}
def check(figure, element, pattern, algorithms, sizes):
    assert of(figure, "element", "pattern") == {(element, pattern)}, figure
    wanted = {(a, size) for a in algorithms for size in sizes}
    assert of(figure, "algorithm", "elements") == wanted, figure
    assert len(seen.pop(figure)) == len(wanted), figure
for element, first in ("48", 15), ("22", 17):
    check(f"{first}a", element, "spike", {"a1", "a2", "a4"}, {"1024"})
    check(f"{first}b", element, "spike", {"a1-n1", "a2-n1", "a4-n1"}, {"1024"})
    for part, pattern in ("a", "spike"), ("b", "transpose"):
        check(f"{first + 1}{part}", element, pattern, both, short | long)
        check(f"{first + 4}{part}", element,
              pattern, mesh, short)
check("20", "48", "transpose", {"a3", "a4"}, long)
check("22a", "22", "spike", mesh, long)
check("22b", "22", "transpose", mesh, long)
check("23", "22", "transpose", {"a3-n1", "a4-n2"}, {"4096"})
assert not seen, seen.keys()'
check 'and times' holds '
for rows in seen.values():
    for row in rows:
        low, mid, high = (float(row["latency_us" + s])
                          for s in ("_lo", "", "_hi"))
        assert 0 < low <= mid <= high, row
        assert float(row["communicate_us"]) > 0, row
        assert (float(row["distribute_us"]) > 0) == (row["algorithm"][:2]
                                                     in ("a2", "a4")), row'
check 'and tables' sh -c '[ "$(grep -c "^Figure" "$0")" -eq 16 ]' \
    "$work/result/figures.txt"
check 'and a warning: one repetition is few' grep -q '^Fewer than 6 rep' \
    "$work/result/figures.txt"
if command -v gnuplot >/dev/null; then
    check 'and pictures' sh -c \
        '[ "$(find "$0" -size +0 -name "figures-*.svg" | wc -l)" -eq 16 ]' \
        "$work/result"
fi

# Numbers of ranks, and what fails: by a stand-in that gives what was measured
# with 4 ranks as measured with any.
mkdir -p "$work/build/bin"
gunzip -c "$work/result/figures.json.gz" >"$work/measured"
cat >"$work/build/bin/railbench" <<'END'
#!/usr/bin/env python3
import json, os, sys
work = os.environ["WORK"]
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
if given["--ranks"] == os.environ.get("FAILS"):
    sys.exit("no luck")
for run in json.load(open(work + "/measured"))["runs"]:
    if given["--pattern"] == run["configurations"][0]["pattern"] and \
            given["--element"] == str(run["options"]["element"]):
        run["options"]["ranks"] = int(given["--ranks"])
        print(json.dumps(run))
END
chmod 755 "$work/build/bin/railbench"
export WORK=$work
check '64 ranks' ends 0 "$work/build" 64
check 'over powers of two, and over squares' holds '
for figure in "15a", "15b", "17a", "17b":
    assert of(figure, "ranks") == {(n,) for n in ("4", "8", "16", "32", "64")}
assert of("23", "ranks") == {(n,) for n in ("25", "36", "49", "64", "81", "100")}
assert of("16a", "ranks") == of("22b", "ranks") == {("64",)}'
export FAILS=49
check 'a run that fails' ends 1 "$work/build" 64
check '… hinders no other' holds '
assert of("23", "ranks") == {(n,) for n in ("25", "36", "64", "81", "100")}'
check '… and is told' grep -q '49 ranks.*22 bytes, transpose: failed: .*no luck' \
    "$work/err" "$work/result/figures.txt"
FAILS=4
check 'nothing that could be measured' ends 1 "$work/build" 4
check '… leaves nothing' test ! -e "$work/result"
