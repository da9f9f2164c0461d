# SPDX-License-Identifier: BSD-3-Clause
# (first: make deps-vm)
# make test-vm                  the transport over genuine libdaplofa, on
#                               soft-RoCE rails in a VM: about 25 minutes
# make test-vm-short            a part of it, in at most 6 minutes; skipped, and
#                               says why, where there can be no VM
# make test-vm VM_RESULTS=DIR   where its results go (default: in $(BUILD))

VM_RESULTS ?= $(BUILD)/vm-results
VM_BIN := $(BUILD)/test/vm
VM_NEEDS := all $(VM_BIN)/late_thread.so $(VM_BIN)/rail_probe \
  $(TEST_BIN)/hosts/flood \
  $(addprefix $(TEST_BIN)/integration/test_,coll coll_nodes connect dsm eps \
    given_up messages notify_by peer_death reconnect transport) \
  $(addprefix $(TEST_BIN)/provider/test_,access cancel evd extensions \
    last_word missing_evds sendrecv shared_evd srq)

.PHONY: test-vm test-vm-short

$(VM_BIN)/late_thread.so: tests/vm/late_thread.c
	$(call say,LD)$(CC) $(ALL_CFLAGS) -shared $< -o $@

# plain DAT: shows what genuine providers tell when a link goes down
$(VM_BIN)/rail_probe: tests/vm/rail_probe.c
	$(call say,LD)$(CC) $(ALL_CFLAGS) $< -ldat2 -o $@

test-vm: $(VM_NEEDS)
	@mkdir -p $(VM_RESULTS)
	scripts/softroce-vm --rails 4 --timeout 3600 --writable $(VM_RESULTS) \
	  tests/vm/verbs $(BUILD) $(abspath $(VM_RESULTS))

test-vm-short: $(VM_NEEDS)
	@if ! reason=$$(scripts/softroce-vm --prepare 2>&1); then \
	  echo "skipped: $$(echo "$$reason" | tail -n 1)"; \
	  echo '0 passed, 0 failed, 1 skipped'; \
	  exit 0; \
	fi; \
	scripts/softroce-vm --rails 4 --timeout 360 tests/vm/short $(BUILD)
