#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where a limit of the process is too low for a run, the run ends with a
# sentence that names the limit: not by a signal, nor with the peer to blame.
. "$SOURCE/tests/integration/checks.bash"
rb=$BUILD/bin/railbench
small=(--repeat 1 --iterations 3 --warmup 1)

# limited LIMIT WORDS COMMAND…: it does its work, or says one of the words
limited()
{
    local limit=$1 words=$2 status
    shift 2
    timeout -k 5 60 bash -c "ulimit $limit && exec \"\$@\"" in "$@" \
        >"$work/out" 2>"$work/err" </dev/null
    status=$?
    [ $status -eq 0 ] || { [ $status -eq 1 ] && grep -q "$words" "$work/err" &&
        ! grep -q signal "$work/err"; }
    check "ulimit $limit: ${*:2:2}" [ $? -eq 0 ]
    [ $failures -eq 0 ] || cat "$work/err"
}

# A sanitizer's own memory and threads are not to be limited
sanitized() { grep -q __sanitizer "$rb"; }

for limit in "-f 64" "-f 1024"; do
    limited "$limit" "ulimit -f" "$rb" bw --sizes 8,64K,4M "${small[@]}"
    limited "$limit" "ulimit -f" "$rb" allgather --ranks 3 --sizes 8 "${small[@]}"
    limited "$limit" "ulimit -f" "$rb" dsm --part range --repeat 1
done
limited "-l 0" "ulimit -l" "$rb" bw --sizes 8,64K,4M "${small[@]}"
limited "-Sn 12" "ulimit -n\|open files\|descriptor" "$rb" dsm --part range \
    --repeat 1
for n in 9 12 16 20 24; do
    limited "-n $n" "ulimit -n\|open files\|descriptor" "$rb" bw --sizes 8 "${small[@]}"
    limited "-n $n" "ulimit -n\|open files\|descriptor" "$rb" bw --sizes 8 \
        --rails tcp-lo "${small[@]}"
done
sanitized && exit
limited "-s 64" "ulimit -s" "$rb" bw --sizes 8 "${small[@]}"
limited "-v 100000" "ulimit -v\|memory" "$rb" bw --sizes 64M "${small[@]}"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=nobody --clear-groups "$rb" --version >"$work/out"; then
    for u in 1 3 6; do
        limited "-u $u" "ulimit -u" setpriv --reuid=nobody --clear-groups \
            bash -c "ulimit -u $u && exec \"\$@\"" in "$rb" bw --sizes 8 "${small[@]}"
    done
fi
