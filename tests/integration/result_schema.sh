#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Recorded results, and what railbench writes, are as result.schema.json says;
# and as tables.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

# Debian's, which has its packages
python=/usr/bin/python3
"$python" -c 'import jsonschema' 2>/dev/null ||
    skip 'no jsonschema: results are not checked (make deps)'

# fits FILE|FOLDER…: each of their results
fits()
{
    PYTHONPATH=$SOURCE/tools "$python" -B - "$SOURCE" "$@" <<'PY'
import json, sys
from jsonschema import Draft202012Validator
from railtools import results, rows
with open(sys.argv[1] + "/tools/railtools/result.schema.json") as file:
    schema = json.load(file)
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
wrong = 0
found = results.find(sys.argv[2:])
for path, result in found:
    for error in validator.iter_errors(result):
        wrong += 1
        print(f"{path}: {'/'.join(map(str, error.path))}: {error.message[:200]}")
    assert len(rows(result)) == len(result.get("results", ()))
sys.exit(not found or wrong > 0)
PY
}

# table FILE COLUMN: it has such a column in each row
table()
{
    PYTHONPATH=$SOURCE/tools "$python" -B -c '
import sys
from railtools import rows, results
for row in rows(results.load(sys.argv[1])):
    assert row[sys.argv[2]] is not None, row' "$@"
}

# written NAME ARGUMENT…: what railbench writes now
written()
{
    timeout -k 10 60 "$BUILD/bin/railbench" "${@:2}" --repeat 1 \
        --save "$work/$1.json" >/dev/null && fits "$work/$1.json"
}

check 'recorded results' fits "$SOURCE/results"
check 'bandwidth' written bw bw --sizes 8,4K
check '... as a table' table "$work/bw.json" batch.bandwidth_MBps.median
check 'a collective' written allgather allgather --sizes 8
check '... as a table' table "$work/allgather.json" collective.latency_us.median
check 'limits' written limits limits --sizes 4K
check 'shared memory' written dsm dsm --part lock
sed 's/"index": 0/"index": "first"/' "$work/bw.json" >"$work/broken.json"
misfits()
{
    ! fits "$work/broken.json" >/dev/null
}
check 'what does not fit is found' misfits
