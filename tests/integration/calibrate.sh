#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/calibrate: the file that it writes is a platform, which railbench runs
# on; what it refuses.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

calibrate=$SOURCE/scripts/calibrate
file=$work/here.platform

quickly()
{
    timeout -k 10 140 "$calibrate" --repeat 1 --time 0.1 "$@" \
        >"$work/out" 2>"$work/err" || {
        cat "$work/out" "$work/err"
        return 1
    }
}
# has REGEX…: lines of the file
has()
{
    local regex
    for regex in "$@"; do
        grep -Eq "^$regex" "$file" || {
            echo "no $regex"
            return 1
        }
    done
}

# says 'PYTHON ASSERTIONS' of functions of the script
says()
{
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SOURCE/tools python3 -c "
from types import SimpleNamespace as Some
from railtools import calibrate
$1"
}
check 'numbers as a platform has them' says '
for value, text in ((0, "0"), (1.23456, "1.235"), (12345678, "12350000"),
                    (1e-7, "0"), (0.000012, "0.000012"), (3e9, "3000000000"),
                    (100, "100")):
    assert calibrate.number(value) == text, (value, calibrate.number(value))
assert calibrate.quantity(3e12, "MB/s") == "1000000000 MB/s"
assert calibrate.quantity(0, "MB/s") == "0.001 MB/s"
assert calibrate.quantity(2e6, "us") == "1000000 us"'
check 'a bus beside a rail of the processor' says '
def bus(oneway, bothways, **rails):
    return "".join(calibrate.bus_lines({
        name: {"rate": Some(value=abs(rate)), "carried": rate < 0}
        for name, rate in rails.items()}, *(
            calibrate.Figure([value], "") for value in (oneway, bothways))))
assert "rate" not in bus(300, 400, a=-200, b=-200)
assert "duplex_rate" in bus(300, 190, a=-200, b=200)
assert "duplex_rate" in bus(300, 300, a=-200, b=200)
assert "rate" not in bus(300, 600, a=-200, b=200)
assert "rate = 300" in bus(300, 600, a=-200, b=200, c=200)
assert "rate = 300" in bus(300, 600, b=200, c=200)'
check 'each round its own ratio' says '
row = calibrate.Row(("gather", "tree", 64), [(1, 2), (30, 20), (8, 8)])
assert row.texts() == ["gather", "tree", "64", "8", "8", "1.00", "0.50", "1.50"]'
# shown FILE: the table where it belongs, beside the platform
shown()
{
    says "
calibrate.show(Some(nodes=2, repeat=1, file='$1'), [calibrate.Row(
    ('gather', 'tree', 64), [(1.0, 2.0)])])" \
        >"$work/out" 2>"$work/err"
}
check 'a table' shown x.platform
check '... on standard output' grep -q '^# predicted / measured' "$work/out"
check 'a table beside a platform' shown -
check '... on standard error' grep -q '^# predicted / measured' "$work/err"
check '... only' test ! -s "$work/out"
check 'two rails' quickly --nodes 3 --ppn 1 "$file"
check 'its sections' has 'nodes = 3$' 'ranks = 1$' '\[rail shm0\]' \
    '\[rail shm1\]' 'post = [0-9.]+ us +# [0-9.]+ to [0-9.]+: railbench' \
    'completion = [0-9.]+ us' 'notification = [0-9.]+ us' \
    'fork = [0-9.]+ us' 'copy_rate = [0-9.]+ MB/s'
if [ -e "$BUILD/lib/dapl_rail/libdapl_sim.so" ]; then
    check 'it is a platform' timeout -k 10 60 "$BUILD/bin/railbench" bw \
        --rails "sim:$file" --sizes 4M --iterations 1 --repeat 1
fi

# of a file that stays: what is there
stays()
{
    [ "$(cat "$1")" = mine ]
}
echo mine >"$work/mine.platform"
refused 'a file of somebody else' 'mine.platform.*--force' \
    "$calibrate" "$work/mine.platform"
check 'it stays' stays "$work/mine.platform"
echo mine >"$work/here.csv"
refused 'a table of somebody else' 'here.csv.*--force' \
    "$calibrate" --check --csv "$file"
refused 'a table of nothing' '--csv: allowed with --check' \
    "$calibrate" --csv "$file"
echo mine >"$file"
if [ -e "$BUILD/lib/dapl_rail/libdapl_sim.so" ]; then
    check 'both go by force, with predictions' quickly --force --check --csv \
        --ppn 1 "$file"
    check 'the table' test "$(wc -l <"$work/here.csv")" -eq 29
    check 'its summary' grep -Eq \
        '^# predicted / measured: .* of 28 within 0.80 to 1.25, ' "$work/out"
    check 'two nodes' has 'nodes = 2$'
fi

# interrupted while it measures: status 1, one line, and nothing is left
interrupted()
{
    local folder=$work/interrupted pid
    mkdir -p "$folder" "$work/slow/bin"
    printf '#!/bin/bash\ntouch %q/measures\nsleep 60\n' "$work" \
        >"$work/slow/bin/railbench"
    chmod +x "$work/slow/bin/railbench"
    BUILD=$work/slow "$calibrate" "$folder/x.platform" >"$work/out" \
        2>"$work/err" &
    pid=$!
    soon test -e "$work/measures" || return 1
    kill -TERM "$pid"
    wait "$pid"
    [ $? -eq 1 ] && grep -q interrupted "$work/err" &&
        [ "$(wc -l <"$work/err")" -eq 1 ] && [ -z "$(ls -A "$folder")" ]
}
check 'interrupted' interrupted

refused 'no platform' "FILE: 'x.txt'.*NAME.platform" "$calibrate" x.txt
refused 'no rails' "--rails: ',' is.wrong" "$calibrate" --rails , -
refused 'no time' "--time: '0' is.wrong" "$calibrate" --time 0 -
if [ "$(nproc --all)" -lt 100 ]; then
    refused 'more ranks than cores' '--ppn:.*100.*1.to' "$calibrate" \
        --ppn 100 -
fi
refused 'one node' '--check: one' "$calibrate" --nodes 1 --check "$file"
timeout -k 10 60 "$calibrate" --rails none --repeat 1 - >"$work/out" 2>"$work/err"
check 'a rail that is not there' test $? -eq 1 -a "$(wc -l <"$work/err")" -eq 1
