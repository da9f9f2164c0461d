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

# ends STATUS SUMMARY PROGRAM…: the line of figures is the summary
ends()
{
    local wanted=$1 summary=$2 status
    shift 2
    timeout -k 10 60 "$SOURCE/tests/run" --jobs 2 "$@" >"$work/out" 2>&1
    status=$?
    [ $status -eq "$wanted" ] && grep -qxF -- "$summary" "$work/out" &&
        return 0
    cat "$work/out"
    return 1
}

some=$work/test/some
mkdir -p "$some"
for status in 0 1 77; do
    printf '#!/bin/sh\necho no such thing\nexit %d\n' $status >"$some/$status"
    chmod 755 "$some/$status"
done
# last LINE…: what the output ends with
last()
{
    [ "$(tail -$# "$work/out")" = "$(printf '%s\n' "$@")" ] && return
    cat "$work/out"
    return 1
}
check 'passed and skipped' ends 0 '1 passed, 0 failed, 1 skipped' \
    "$some/0" "$some/77"
check '... and why' last '1 passed, 0 failed, 1 skipped' \
    "skipped: no such thing: $some/77"
cp "$some/77" "$some/more"
printf '#!/bin/sh\nexit 77\n' >"$some/silent"
chmod 755 "$some/silent"
check 'skipped for several reasons' ends 0 '0 passed, 0 failed, 3 skipped' \
    --jobs 1 "$some/77" "$some/more" "$some/silent"
check '... each with its tests' last \
    "skipped: no such thing: $some/77, $some/more" \
    "skipped: no reason given: $some/silent"
printf '#!/bin/sh\necho skipped: a part\necho figures: 7 MB/s\n' >"$some/part"
chmod 755 "$some/part"
check 'failures, figures, reasons' ends 1 '1 passed, 1 failed' --jobs 1 \
    "$some/1" "$some/part"
check '... in this order' last "failed: $some/1" \
    "figures of $some/part: 7 MB/s" '1 passed, 1 failed' \
    "skipped: a part: $some/part"
check 'failed' ends 1 '1 passed, 1 failed' \
    "$some/0" "$some/1"
check 'nothing to do' ends 1 '0 passed, 0 failed'

# a test that waits for the other passes only beside it
printf '#!/bin/sh\n: >"%s/told"\n' "$some" >"$some/tells"
printf '#!/bin/sh\nfor i in $(seq 50); do [ -e "%s/told" ] && exit; sleep .1; done\nexit 1\n' \
    "$some" >"$some/waits"
chmod 755 "$some/"{tells,waits}
if unshare --mount true 2>"$work/err"; then
    check 'beside the others' ends 0 '2 passed, 0 failed' --jobs 1 \
        --waiting /waits "$some/waits" "$some/tells"
    rm "$some/told"
    check 'beside one that polls' ends 0 '2 passed, 0 failed' \
        --waiting /tells --polling /waits "$some/waits" "$some/tells"
    rm "$some/told"
    check 'beside one of another list' ends 0 '3 passed, 0 failed' --jobs 1 \
        --waiting /waits --waiting /tells "$some/0" "$some/waits" "$some/tells"
fi
rm "$some/told"
sed 's/seq 50/seq 5/' "$some/waits" >"$some/polls"
chmod 755 "$some/polls"
check 'nothing else beside one that polls' ends 1 '1 passed, 1 failed' \
    --polling /polls "$some/polls" "$some/tells"

# what fails once, is late once, is killed, or crashes in some way
cat >"$some/once" <<'END'
#!/bin/sh
[ -e "$0.seen" ] || { : >"$0.seen"; echo 'NOT OK too late'; exit 1; }
END
printf '#!/bin/sh\nkill -9 $$\n' >"$some/killed"
cat >"$some/sanitized" <<'END'
#!/bin/sh
[ -e "$0.seen" ] || { : >"$0.seen"; echo 'ERROR: AddressSanitizer: bad'; exit 1; }
END
sed 's/ERROR:.*bad/rank 1 was killed by signal 11/' \
    "$some/sanitized" >"$some/crashed"
sed 's/echo.*exit 1/sleep 20/' "$some/once" >"$some/late"
chmod 755 "$some/"*
once()
{
    rm -f "$some/"*.seen
    ends "$@"
}
check 'unsteady' once 0 '1 passed, 0 failed, 1 unsteady' --again 3 \
    "$some/once" "$some/0"
check 'what was wrong the first time' grep -q '^    NOT OK too late' \
    "$work/out"
check 'unsteady, unasked' once 1 '0 passed, 1 failed' "$some/once"
check 'fails each time' once 1 '0 passed, 1 failed, 1 unsteady' --again 3 \
    "$some/1" "$some/once"
check 'killed' once 1 '0 passed, 1 failed' --again 3 "$some/killed"
check 'a sanitizer' once 1 '0 passed, 1 failed' --again 3 \
    "$some/sanitized"
check 'a crash below it' once 1 '0 passed, 1 failed' --again 3 \
    "$some/crashed"
check 'out of time once' once 0 '0 passed, 0 failed, 1 unsteady' --again 3 \
    --seconds 2 "$some/late"
many=("$some/"{1,1,1})
check 'more than a few' once 1 '0 passed, 4 failed' --again 3 \
    "$some/once" "${many[@]}"
