# SPDX-License-Identifier: BSD-3-Clause
# Shared by tests that run the steps of docs/tutorial.md.
# shellcheck shell=bash

# A folder like the clone, where the build is `build`
tutorial=${work:?}/clone
mkdir -p "$tutorial/temporary"
for name in docs examples scripts tests; do
    ln -s "$SOURCE/$name" "$tutorial/$name"
done
ln -s "$BUILD" "$tutorial/build"

# tutorial_steps SECONDS OPTIONS…: they print what the tutorial says
tutorial_steps()
{
    (cd "$tutorial" && TMPDIR=$tutorial/temporary timeout -k 10 "$1" \
        tests/integration/tutorial.py "${@:2}" docs/tutorial.md) \
        >"$work/out" 2>&1
    local status=$?
    cat "$work/out"
    return $status
}

# nothing is left behind: neither in the clone nor in the steps' own folder
tutorial_leaves_nothing()
{
    [ "$(ls "$tutorial")" = $'build\ndocs\nexamples\nscripts\ntemporary\ntests' ] &&
        [ -z "$(ls "$tutorial/temporary")" ]
}
