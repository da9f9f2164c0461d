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
    printf '#!/bin/sh\necho no such thing\nexit %d\n' $status >"$work/test/some/$status"
    chmod 755 "$work/test/some/$status"
done
check 'passed and skipped' ends 0 \
    '1 passed, 0 failed, 1 skipped (skipped: no such thing)' \
    "$work/test/some/0" "$work/test/some/77"
cp "$work/test/some/77" "$work/test/some/more"
printf '#!/bin/sh\nexit 77\n' >"$work/test/some/silent"
chmod 755 "$work/test/some/silent"
check 'skipped for several reasons' ends 0 "0 passed, 0 failed, 3 skipped \
(skipped: no such thing (2 tests); no reason given)" \
    --jobs 1 "$work/test/some/77" "$work/test/some/more" \
    "$work/test/some/silent"
check 'failed' ends 1 '1 passed, 1 failed' \
    "$work/test/some/0" "$work/test/some/1"
check 'nothing to do' ends 1 '0 passed, 0 failed'

# what fails once, is late once, is killed, or crashes in some way
cat >"$work/test/some/once" <<'END'
#!/bin/sh
[ -e "$0.seen" ] || { : >"$0.seen"; echo 'NOT OK too late'; exit 1; }
END
printf '#!/bin/sh\nkill -9 $$\n' >"$work/test/some/killed"
cat >"$work/test/some/sanitized" <<'END'
#!/bin/sh
[ -e "$0.seen" ] || { : >"$0.seen"; echo 'ERROR: AddressSanitizer: bad'; exit 1; }
END
sed 's/ERROR:.*bad/rank 1 was killed by signal 11/' \
    "$work/test/some/sanitized" >"$work/test/some/crashed"
sed 's/echo.*exit 1/sleep 20/' "$work/test/some/once" >"$work/test/some/late"
chmod 755 "$work/test/some/"*
once()
{
    rm -f "$work/test/some/"*.seen
    ends "$@"
}
check 'unsteady' once 0 '1 passed, 0 failed, 1 unsteady' --again 3 \
    "$work/test/some/once" "$work/test/some/0"
check 'what was wrong the first time' grep -q '^    NOT OK too late' \
    "$work/out"
check 'unsteady, unasked' once 1 '0 passed, 1 failed' "$work/test/some/once"
check 'fails each time' once 1 '0 passed, 1 failed, 1 unsteady' --again 3 \
    "$work/test/some/1" "$work/test/some/once"
check 'killed' once 1 '0 passed, 1 failed' --again 3 "$work/test/some/killed"
check 'a sanitizer' once 1 '0 passed, 1 failed' --again 3 \
    "$work/test/some/sanitized"
check 'a crash below it' once 1 '0 passed, 1 failed' --again 3 \
    "$work/test/some/crashed"
check 'out of time once' once 0 '0 passed, 0 failed, 1 unsteady' --again 3 \
    --seconds 2 "$work/test/some/late"
check 'more than a few' once 1 '0 passed, 4 failed' --again 3 \
    "$work/test/some/once" "$work/test/some/1" "$work/test/some/1" \
    "$work/test/some/1"
