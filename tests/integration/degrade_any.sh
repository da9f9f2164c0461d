#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/degrade-any: bad input; what it says of streams that go on, wait, end
# and hang, with messages that are lost, doubled and wrong; its table and its
# picture. tests/hosts/degrade_any.sh runs it.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

any=$SOURCE/scripts/degrade-any
export BUILD

for bad in '--faults 0' '--seed -1' '--kinds nonsense' \
    '--libraries nonsense' '--rate 9' '--outage 0.1' \
    '--bytes 3' '--window 0' '--jobs 17' '--time 0' \
    '--nonsense'; do
    # shellcheck disable=SC2086
    refused "$bad" "${bad% *}" "$any" $bad
done
if [ "$(id -u)" -eq 0 ] && [ -x "$BUILD/bin/peers/stream_drail" ]; then
    mkdir "$work/empty"
    refused 'nothing to continue' 'degrade-any.json' "$any" --libraries \
        dapl_rail --continue "$work/empty"
fi

# judged 'PYTHON': with helpers for traces of 10 s at 100 messages a second, and
# a fault from 4 to 7 s
judged()
{
    PYTHONPATH=$SOURCE/tools python3 -B -c "
from railtools.degrade_any import faults, judge, report
from railtools.degrade_any.judge import Trace

def trace(times, numbers=None, wrong=(), end=10.0):
    numbers = range(len(times)) if numbers is None else numbers
    return Trace([(at, number, int(number in wrong))
                  for at, number in zip(times, numbers)], end)

def judged(came, sent=None, reported=False, rails=2, over=22.0):
    sent = sent or trace([at for at, _, _ in came.messages])
    task = {'bytes': 250000, 'outage': 3.0}
    return judge.judge([sent, came], task, 4.0, 7.0, over, rails, reported)

def holds(row, **wanted):
    assert {name: row[name] for name in wanted} == wanted, row

steady = [index / 100 for index in range(1000)]
still = [at for at in steady if not 4 <= at < 7.2]
half = [at for at in steady if not 4.1 <= at < 7 or round(at * 100) % 2]
$1"
}
check 'goes on at half of the rate' judged '
row = judged(trace(half))
holds(row, outcome="goes on", lost=0, doubled=0, wrong=0)
assert 18 < row["stall_ms"] < 22 and 50 < row["meanwhile_pct"] < 55, row
assert row["settled_ms"] == 0 and row["back_ms"] == 0, row'
check 'waits for the end of the fault' judged '
row = judged(trace(still))
holds(row, outcome="waits", lost=0, settled_ms=None)
assert 3190 < row["stall_ms"] < 3220 and row["meanwhile_pct"] == 0, row
assert 100 < row["back_ms"] < 250, row'
check 'ends by an error' judged '
came = trace([at for at in steady if at < 4], end=None)
row = judged(came, sent=trace(steady[:408]), reported=True, over=4.8)
holds(row, outcome="ends", lost=0, stall_ms=None, ended_ms=800)'
check 'hangs, and has lost what was under way' judged '
came = trace([at for at in steady if at < 4], end=None)
holds(judged(came, sent=trace(steady[:408])), outcome="hangs", lost=8)'
check 'lost, doubled and wrong' judged '
numbers = list(range(1000))
numbers[500], numbers[600] = 499, 599
row = judged(trace(steady, numbers, wrong={7}), sent=trace(steady))
holds(row, outcome="goes on", lost=2, doubled=2, wrong=1)'
check 'half a line of a trace' judged "
with open('$work/trace', 'w') as file:
    file.write('message 1.5 0 0\nmessage 2.5 1 1\nfailed 3 a b\nmess')
found = judge.read('$work/trace')
assert found.messages == [(1.5, 0, 0), (2.5, 1, 1)], found
assert found.failed == (3, 'a b') and found.end is None, found
assert judge.read('$work/none').messages == []"
check 'faults are those of the seed' judged '
draws = [faults.drawn(1, "flapping", number, 3) for number in range(20)]
assert draws == [faults.drawn(1, "flapping", number, 3) for number in range(20)]
assert draws != [faults.drawn(2, "flapping", number, 3) for number in range(20)]
assert {draw.rail(["rail0", "rail1"]) for draw in draws} == {"rail0", "rail1"}
assert {draw.rail(["rail1"]) for draw in draws} == {"rail1"}
assert all(sum(draw.flaps) >= 3 > sum(draw.flaps[:-1]) for draw in draws)'

# made DIR: a result of two libraries, of which one hangs
made()
{
    mkdir -p "$1" && judged "
import argparse, gzip, json
args = argparse.Namespace(faults=1, seed=1, kinds=['cut', 'slow'], rate=200,
                          outage=3.0, bytes=250000, window=8, jobs=1)
class Library:
    why = ''
    def __init__(self, name):
        self.name = self.key = name
    def told(self):
        return 'A=B'
record = report.record_of(args, [Library('one'), Library('two')], {
    'version': 'v', 'revision': 'r', 'machine': {
        'host': 'h', 'cpu': 'c', 'allowed_threads': 2}}, ['any'], ['a note'])
rest = {'rails': ['rail0'], 'leaves': True, 'why': '', 'version': 'V 1',
        'commands': ['run it']}
hung = trace([at for at in steady if at < 4], end=None)
report.add(record, {'library': 'one', 'kind': 'cut', 'fault': 0, 'bytes': 9},
           judged(trace(half)) | rest)
report.add(record, {'library': 'two', 'kind': 'cut', 'fault': 0, 'bytes': 9},
           judged(hung, sent=trace(steady[:408])) | rest)
report.add(record, {'library': 'two', 'kind': 'slow', 'fault': 0, 'bytes': 9},
           {'failed': 'no wire'})
assert report.done(record) == {('one', 'cut', 0), ('two', 'cut', 0)}
with open('$1/degrade-any.md', 'w') as file:
    file.write(report.text(record))
with gzip.open('$1/degrade-any.json.gz', 'wt') as file:
    json.dump(record, file)"
}
check 'a result' made "$work/made"
says()
{
    grep -Fq -- "$1" "$work/made/degrade-any.md" && return 0
    cat "$work/made/degrade-any.md"
    return 1
}
check '… is marked' says '**Not complete: 2 of 4 runs.**'
check '… tells who went on' says '| cut | one | 1 | 1 | - | - | - | 20 | 0 |'
check '… and who hung' says '| cut | two | 1 | - | - | - | 1 | - | - |'
check '… with what was lost' says '| 8, 0, 0 |'
check '… and a run that failed' says 'two, slow, fault 1: no run: no wire'
if command -v gnuplot >/dev/null; then
    check 'the picture' "$SOURCE/scripts/plot" --quiet "$work/made"
    check '… is there' grep -q 'A rail fails for 3 s' \
        "$work/made/degrade-any.svg"
fi
