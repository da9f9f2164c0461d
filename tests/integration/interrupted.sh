#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# SIGINT or SIGTERM to any rank of a job that met at a rendezvous ends all of
# it, soon, and what was measured is written and marked.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

# tests/run sets it; users don't: libinfinipath then takes over signals
unset IPATH_NO_BACKTRACE
export DRAIL_SECRET=of-sixteen-characters

cat >"$work/run.py" <<'PY'
"""run.py BENCH FOLDER SIGNAL VICTIM RANKS ARGUMENTS…: the seconds until all
ranks have ended. Rank 0 tells a terminal how far it is; the signal comes when
something has been measured."""
import os, re, select, signal, socket, subprocess, sys, time
bench, folder, name, victim, ranks, *arguments = sys.argv[1:]
csv = os.path.join(folder, "saved.csv")
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    place = "127.0.0.1:%d" % s.getsockname()[1]

screen, terminal = os.openpty()
told = b""

def listen(until):
    """Reads more of what rank 0 tells; false: there is no more."""
    global told
    try:
        ready = select.select([screen], [], [], max(0, until - time.monotonic()))
        more = os.read(screen, 65536) if ready[0] else b""
    except OSError:  # closed by all
        more = b""
    told += more
    return more

def start(rank):
    # a shell's children in the background ignore SIGINT
    return subprocess.Popen(
        [bench, *arguments, "--rank", str(rank), "--ranks", ranks,
         "--rendezvous", place, "--save", csv, "--output", "/dev/null"],
        stdin=subprocess.DEVNULL,
        stderr=open(f"{folder}/err.{rank}", "wb") if rank else terminal,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))

if os.path.exists(csv):
    os.remove(csv)
jobs = [start(rank) for rank in range(int(ranks))]
os.close(terminal)
end = time.monotonic() + 20
while not re.search(rb"repeat [2-9]", told) and listen(end):
    pass
if any(job.poll() is not None for job in jobs):
    sys.exit("ended before the signal")
begin = time.monotonic()
jobs[int(victim)].send_signal(getattr(signal, "SIG" + name))
end = begin + 20
while listen(end):  # a full terminal would stop rank 0
    pass
try:
    for job in jobs:
        job.wait(max(0, end - time.monotonic()))
    print(time.monotonic() - begin)
finally:
    for job in jobs:
        job.kill()
with open(f"{folder}/err.0", "wb") as err:
    err.write(told)
statuses = [job.returncode for job in jobs]
if statuses != [1] * len(jobs):
    sys.exit(f"statuses {statuses}")
PY

# ends SIGNAL VICTIM RANKS ARGUMENTS…: within a second; more where others keep
# this machine from it
ends()
{
    local took
    for _ in 1 2 3; do
        took=$(timeout -k 5 50 python3 "$work/run.py" "$BUILD/bin/railbench" \
            "$work" "$@") || return 1
        echo "$took s"
        python3 -c "import sys; sys.exit($took > 1)" && break
    done
    python3 -c "import sys; sys.exit($took > 1)" || return 1
    grep -q 'interrupted' "$work"/err.0
}
marked()
{
    python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert rows and all(row["partial"] == "yes" for row in rows), rows' "$work/saved.csv"
}

check 'SIGINT to rank 0: lat' ends INT 0 2 lat --sizes 8:64K
check '... rows are marked' marked
check 'SIGTERM to rank 1: bw' ends TERM 1 2 bw --sizes 8:64K
check '... rows are marked' marked
check 'SIGINT to rank 2: allgather' ends INT 2 3 allgather --repeat 1000
check '... rows are marked' marked
check 'SIGTERM to rank 1: rate' ends TERM 1 2 rate --repeat 1000
check 'SIGINT to rank 1: dsm' ends INT 1 2 dsm --part lock,barrier \
    --repeat 1000
if "$BUILD/bin/railinfo" tcp-lo >/dev/null 2>&1; then
    check 'SIGINT to rank 1 over tcp' ends INT 1 2 lat --rails tcp-lo \
        --engine single --sizes 8:64K
fi

# forked ranks, whose handlers a library of the provider replaces
over_tcp()
{
    timeout -s INT 3 "$BUILD/bin/railbench" lat --rails tcp-lo \
        --engine single --sizes 8:64K --save "$work/saved.csv" >"$work/out"
    marked
}
"$BUILD/bin/railinfo" tcp-lo >/dev/null 2>&1 ||
    skip 'no rails over tcp: their signals are not tested'
rm -f "$work/saved.csv"
check 'SIGINT to forked ranks over tcp: rows are marked' over_tcp
