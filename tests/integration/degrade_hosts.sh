#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/degrade-hosts says so when what it starts on hosts fails; nothing else
# is done then; and what it starts tells no path of this machine. Stands in for
# the testbed and its commands.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

mkdir "$work/bin" "$work/result"
cat >"$work/bin/testbed" <<'END'
#!/bin/sh
exit 3
END
# rank 0 fails
cat >"$work/bin/on" <<'END'
#!/bin/sh
exit $((DRAIL_RANK == 0 ? 4 : 0))
END
chmod 755 "$work"/bin/*

# ends STATUS WORD…: it does, has made no folder, and said nothing
ends()
{
    local wanted=$1 status
    shift
    (cd "$work" && PATH=$work/bin:$PATH timeout -k 10 60 \
        "$SOURCE/scripts/degrade-hosts" "$@") >"$work/out" 2>&1
    status=$?
    [ $status -eq "$wanted" ] && [ ! -s "$work/out" ] &&
        [ ! -e "$work/$2" ] && return 0
    echo "status $status"
    cat "$work/out"
    return 1
}

# refused OPTION: with one line that names it
refused()
{
    timeout -k 10 60 "$SOURCE/scripts/degrade-hosts" "$@" >"$work/out" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$work/out")" -eq 1 ] &&
        grep -q -- "$1" "$work/out"
}

for event in cut back slow; do
    check "$event" ends 3 --event $event rail0 0.5
done
check 'a rank' ends 4 --ranks "$work/result"
check 'a rate is missing' refused --rate

# A clone, whose hosts only say what they were to run.
clone=$work/clone
mkdir -p "$clone/scripts" "$clone/build/bin"
cp "$SOURCE/scripts/degrade-hosts" "$clone/scripts"
cat >"$clone/scripts/testbed" <<'END'
#!/bin/bash
[[ $* = '--hosts 2 --rails 2 --rate 50mbit '* ]] && shift 6 && exec "$@"
END
cat >"$work/bin/on" <<END
#!/bin/sh
shift
echo "\$*" >>"$work/ran"
"\$@"
END
cat >"$clone/build/bin/railbench" <<END
#!/bin/sh
for files; do :; done
echo {} >"\${files%%,*}"
[ "\$PWD" = "$clone" ]
END
printf '#!/bin/sh\n' >"$clone/scripts/plot"
chmod 755 "$clone"/scripts/* "$clone/build/bin/railbench" "$work/bin/on"

# runs WHERE BUILD DIR: there, with options for railbench
runs()
{
    rm -f "$work/ran"
    (cd "$1" && PATH=$work/bin:$PATH BUILD=$2 timeout -k 10 60 \
        "$clone/scripts/degrade-hosts" --rate 50 "$3" -- --time 4s) \
        >"$work/out" 2>&1 && [ "$(wc -l <"$work/ran")" -eq 2 ] && return 0
    cat "$work/out" "$work/ran"
    return 1
}
# tells DIR: what each rank was to run, from the clone
tells()
{
    [ "$(sort -u "$work/ran")" = "build/bin/railbench degrade --rails \
tcp-rail0,tcp-rail1 --on-event scripts/degrade-hosts --event --time 4s --save \
$1/degrade.json,$1/degrade.csv,$1/degrade.txt" ] && return 0
    cat "$work/ran"
    return 1
}
check 'from elsewhere, in the clone' runs "$work" "$clone/build" clone/one
check '… is told as from the clone' tells one
check 'from within' runs "$clone/scripts" build ../two
check '… likewise' tells two
check 'to elsewhere' runs "$work" build three
check '… is told whole' tells "$work/three"
