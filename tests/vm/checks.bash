# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by what runs in the VM of scripts/softroce-vm: counts checks. One that
# fails does not end the run; `account` lists all that have failed, and its last
# line has the figures. Set before: limit, seconds for one check, and budget,
# seconds for all of them: what has not begun by then has failed.

: "${limit:?}" "${budget:?}"
passed=0
failed=()

# check NAME COMMAND…
check()
{
    local name=$1 from=$SECONDS left=$((budget - SECONDS)) status
    shift
    if [ $left -le 0 ]; then
        failed+=("$name: not begun, as the VM's $budget s were over")
        return
    fi
    timeout -k 10 $((left < limit ? left : limit)) "$@"
    status=$?
    if [ $status -eq 0 ]; then
        echo "ok - $name ($((SECONDS - from)) s)"
        passed=$((passed + 1))
        return
    fi
    echo "NOT OK - $name: exit status $status ($((SECONDS - from)) s)"
    failed+=("$name: exit status $status")
}

# The last lines of a run; its exit status.
account()
{
    local line
    for line in "${failed[@]}"; do
        echo "failed: $line"
    done
    echo "$passed passed, ${#failed[@]} failed"
    [ ${#failed[@]} -eq 0 ]
}
