#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/run: what it is told, and how it tells what became of a test.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

for jobs in 0 -1 x 1.5 ''; do
    refused "--jobs '$jobs'" "--jobs '$jobs' allowed" \
        "$SOURCE/tests/run" --jobs "$jobs" /bin/true
done
refused 'unknown option' --nonsense "$SOURCE/tests/run" --nonsense

# ends STATUS SUMMARY PROGRAM…
ends()
{
    local wanted=$1 summary=$2 status
    shift 2
    timeout -k 10 60 "$SOURCE/tests/run" --jobs 2 "$@" >"$work/out" 2>&1
    status=$?
    [ $status -eq "$wanted" ] && [ "$(tail -1 "$work/out")" = "$summary" ] &&
        return 0
    cat "$work/out"
    return 1
}

mkdir -p "$work/test/some"
for status in 0 1 77; do
    printf '#!/bin/sh\nexit %d\n' $status >"$work/test/some/$status"
    chmod 755 "$work/test/some/$status"
done
check 'passed and skipped' ends 0 '1 passed, 0 failed, 1 skipped' \
    "$work/test/some/0" "$work/test/some/77"
check 'failed' ends 1 '1 passed, 1 failed' \
    "$work/test/some/0" "$work/test/some/1"
check 'nothing to do' ends 1 '0 passed, 0 failed'
