#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railbench suite: a quick run makes a report that is whole and needs nothing
# else; a step that fails is told and hinders no other; nothing is left when it
# is interrupted. Also where it is installed.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

command -v gnuplot >/dev/null || {
    echo 'no gnuplot'
    exit 77
}
bench=$BUILD/bin/railbench
# the program's own folder tells where the script is
suite=("$SOURCE/scripts/suite" --bin "$BUILD/bin")
cd "$work" || exit 1

for bad in '--steps bw,none' '--ranks 0' '--ranks x' '--nonsense' '--quick=1'; do
    # shellcheck disable=SC2086
    refused "$bad" "${bad%[ =]*}" "${suite[@]}" $bad
done
refused 'no railbench' '--bin' "$SOURCE/scripts/suite" --bin "$work"

# whole FOLDER TEST…: well-formed, with a section and figures for each test,
# and no address of anything else
whole()
{
    python3 - "$@" <<'PY'
import re, sys, xml.etree.ElementTree as tree
folder, *tests = sys.argv[1:]
text = open(folder + "/report.html", encoding="utf-8").read()
root = tree.fromstring(text)
space = "{http://www.w3.org/1999/xhtml}"
sections = {s.get("id"): s for s in root.iter(space + "section")}
print(list(sections))
assert list(sections) == ["machine", *tests]
for name in tests:
    if name == "railinfo":
        assert "shm0" in "".join(sections[name].itertext())
        continue
    rows = list(sections[name].iter(space + "tr"))
    assert len(rows) > 1, name
    pictures = list(sections[name].iter("{http://www.w3.org/2000/svg}svg"))
    assert pictures or name in ("barrier", "atomic"), name  # of one size
    assert "railbench " + name in "".join(sections[name].itertext())
ids = re.findall(r"""\bid=['"]([^'"]+)""", text)
assert len(ids) == len(set(ids)), "a name twice"
used = re.findall(r"""(?:href=['"]#|url\(['"]?#)([^'")]+)""", text)
assert used and set(used) <= set(ids), set(used) - set(ids)
for link in re.findall(r"""(?:src|href)=['"]([^'"]+)""", text):
    assert link.startswith("#"), link
assert "cpu" in "".join(sections["machine"].itertext())
PY
}
all='railinfo bw bibw lat breakdown limits gather allgather alltoall bcast
    scatter reduce allreduce reduce_scatter_block scan exscan barrier'
present()
{
    local test
    for test in $all get send atomic; do
        [ "$test" != railinfo ] &&
            ! "$bench" --help | grep -q "^  $test " || echo "$test"
    done
}
mapfile -t tests < <(present)
check 'a quick run' timeout -k 10 280 "${suite[@]}" --quick \
    --ranks 2 --output report
# in the order of the suite
# shellcheck disable=SC2046
check '… is whole' whole report $(python3 - "${tests[@]}" <<'PY'
import sys
order = ("railinfo bw bibw lat get send atomic breakdown limits gather "
         "allgather alltoall bcast scatter reduce allreduce "
         "reduce_scatter_block scan exscan barrier").split()
print(*(name for name in order if name in sys.argv[1:]))
PY
)
check '… with settings, cores of limits' sh -c \
    'grep -q "<th class=\"key\">policy</th>" report/report.html &&
        grep -q "<th class=\"key\">cores</th>" report/report.html'
check '… no path of this machine' sh -c '! grep -q "$0" report/report.html' \
    "$work"
check '… with JSON, CSV and text' sh -c \
    'for t in bw limits bcast; do for e in json csv txt; do
        [ -s "report/$t.$e" ] || exit 1; done; done'
check 'an old report is left' timeout -k 10 100 "${suite[@]}" --quick \
    --steps lat --output report
check '… beside it' whole report-2 lat

# a railbench of which lat fails, and bw has no end where it is told so
mkdir bin
cat >bin/railbench <<END
#!/bin/sh
[ "\$1" = lat ] && { echo 'no luck <&>' >&2; exit 3; }
[ "\$1" = bw ] && [ -e "$work/hold" ] && {
    exec 9>"$work/left"
    flock -s 9
    touch "$work/held"
    sleep 300
}
exec "$bench" "\$@"
END
chmod 755 bin/railbench
ln -s "$BUILD/bin/railinfo" bin
fails()
{
    timeout -k 10 100 "$SOURCE/scripts/suite" --bin "$work/bin" --quick \
        --steps railinfo,lat,limits --output failed >out 2>err
    [ $? -eq 1 ]
}
check 'a step that fails' fails
check '… is named' grep -q \
    'lat failed: exit status 3: no luck &lt;&amp;&gt;' failed/report.html
check '… hinders no other' test -s failed/limits.svg
check '… in a report that can be read' python3 -c \
    'import xml.etree.ElementTree as t; t.parse("failed/report.html")'

# a gnuplot that has begun a picture and has no end
mkdir slow
cat >slow/gnuplot <<END
#!/bin/bash
exec 9>"$work/left"
flock -s 9
touch "\$(sed -n "s/^set output '\\(.*\\)'\$/\\1/p")"
touch "$work/held"
sleep 300
END
chmod 755 slow/gnuplot

# started STEPS FOLDER SIGNAL: the suite, interrupted once something is held
started()
{
    local pid
    rm -f held
    # the shell's children ignore SIGINT else, those of nohup SIGHUP
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$SOURCE/scripts/suite" --bin "$work/bin" \
        --quick --steps "$1" --output "$2" >out 2>err &
    pid=$!
    background+=("$pid")
    soon test -e held && kill -"$3" "$pid"
    wait "$pid"
    [ $? -eq 1 ] && flock -w 30 left true &&
        grep -qx 'railbench suite: interrupted' err
}
interrupted()
{
    touch hold
    started railinfo,bw,limits "stopped-$1" "$1" &&
        grep -q 'bw failed: interrupted' "stopped-$1/report.html" &&
        grep -q 'limits failed: not run' "stopped-$1/report.html"
}
half_drawn()
{
    PATH=$work/slow:$PATH started limits "drawing-$1" "$1" &&
        grep -q 'Pictures are missing: interrupted' "drawing-$1/report.html" &&
        [ -s "drawing-$1/limits.csv" ] &&
        [ -z "$(find "drawing-$1" -name '*.tmp' -o -name '*.svg')" ]
}
for signal in INT TERM; do
    check "$signal leaves nothing" interrupted $signal
done
rm -f hold
for signal in INT TERM HUP; do
    check "$signal leaves no half of a picture" half_drawn $signal
done

# as a user starts it, built and installed
installed()
{
    make -s -C "$SOURCE" BUILD="$BUILD" install PREFIX="$work/prefix" \
        >make.log 2>&1 || {
        cat make.log
        return 1
    }
    "$work/prefix/bin/railbench" suite --quick --steps lat --output installed &&
        whole installed lat &&
        grep -q 'by: railbench suite --quick --steps lat' \
            installed/report.html
}
check 'installed' installed
check 'railbench suite' sh -c '"$0" suite --help | grep -q -- --quick' \
    "$work/prefix/bin/railbench"
