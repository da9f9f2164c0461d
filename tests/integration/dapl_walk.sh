#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A few commands of a random walk over the options of genuine dapltest, dtest,
# dtestx and dtestcm, over single rails and a bond. A longer one: COMMANDS=200
# SECONDS_EACH=600 IAS='shm0 bond0' SEED=1.

# dtest's sides meet over one TCP port: where it may, this has its own network
if [ -z "${OWN_NETWORK:-}" ] && unshare --net ip link set lo up 2>/dev/null; then
    OWN_NETWORK=1 exec unshare --net sh -c 'ip link set lo up; exec bash "$0"' "$0"
fi

# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

export DAT_OVERRIDE=$BUILD/lib/dapl_rail/dat.conf
for ia in $(tested_ias) $([ -n "${IAS:-}" ] || echo bond0); do
    check "$ia" python3 "$SOURCE/tests/integration/dapl_walk.py" --ia "$ia" \
        --commands "${COMMANDS:-12}" --seconds "${SECONDS_EACH:-12}" \
        ${SEED:+--seed "$SEED"} --railinfo "$BUILD/bin/railinfo"
done
