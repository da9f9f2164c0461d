# SPDX-License-Identifier: BSD-3-Clause
# (first: make deps-aarch64)
# make test-aarch64   tests and benchmarks, built for aarch64 and run under
#                     qemu-user, the provider's with its larger pages, too. Of
#                     its weaker order of memory a host like x86 shows nothing.

AARCH64      := $(BUILD)/aarch64
AARCH64_LIBS := $(AARCH64_ROOT)/usr/lib/aarch64-linux-gnu
AARCH64_MAKE := BUILD=$(AARCH64) PROVIDERS=shm CC=aarch64-linux-gnu-gcc \
  CFLAGS='-O2 -g -isystem $(AARCH64_ROOT)/usr/include -isystem $(AARCH64_ROOT)/usr/include/aarch64-linux-gnu' \
  LDFLAGS='-L$(AARCH64_LIBS) -Wl,-rpath-link,$(AARCH64_LIBS)'
AARCH64_RUN  := qemu-aarch64 -L /usr/aarch64-linux-gnu \
  -E LD_LIBRARY_PATH=$(AARCH64_LIBS):$(AARCH64_ROOT)/lib/aarch64-linux-gnu

# Left out is what takes many minutes there
AARCH64_WITHOUT := provider/access integration/coll
# and what qemu-user does not emulate: a process's own maps, limits of memory
AARCH64_WITHOUT += provider/maps provider/ep_attributes
# memory of other processes (process_vm_readv)
AARCH64_WITHOUT += $(addprefix provider/,pid_again posted) $(addprefix integration/,coll_nodes \
  coll_ports coll_release finished messages readonly transport withdrawn)
# forks beside other threads
AARCH64_WITHOUT += $(addprefix provider/,atomic_lock death fork fork_opening)
# programs that start themselves again
AARCH64_WITHOUT += $(subst /test_,/,$(patsubst tests/%.c,%,\
  $(shell grep -lwE 'conf_restart|execv' tests/*/test_*.c)))

AARCH64_SUITES := unit provider integration
AARCH64_TESTS := $(filter-out \
  $(foreach test,$(AARCH64_WITHOUT),$(AARCH64)/test/$(subst /,/test_,$(test))),\
  $(patsubst tests/%.c,$(AARCH64)/test/%,\
    $(wildcard $(AARCH64_SUITES:%=tests/%/test_*.c))))
AARCH64_CHOSEN := $(if $(TESTS),\
  $(foreach test,$(AARCH64_TESTS),$(if $(findstring $(TESTS),$(test)),$(test))),\
  $(AARCH64_TESTS))
AARCH64_PAGES := 16384 65536 # beside those of the host
AARCH64_BENCH := bw bibw lat allgather alltoall

# $(call aarch64_run,options of qemu,tests)
define aarch64_run
	$(if $(strip $(2)),tests/run --seconds 900 --under '$(AARCH64_RUN) $(1)' $(2))

endef

.PHONY: test-aarch64
test-aarch64:
	$(MAKE) $(AARCH64_MAKE) all $(AARCH64_CHOSEN)
	$(call aarch64_run,,$(AARCH64_CHOSEN))
	$(foreach pages,$(AARCH64_PAGES),$(call aarch64_run,-p $(pages),\
	  $(filter $(AARCH64)/test/provider/%,$(AARCH64_CHOSEN))))
	$(if $(TESTS),,set -e; for test in $(AARCH64_BENCH); do \
	  $(AARCH64_RUN) $(AARCH64)/bin/railbench $$test --sizes 8,4K,64K \
	    --iterations 5 --warmup 1 --repeat 2 --validate; done)
