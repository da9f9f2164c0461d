# SPDX-License-Identifier: BSD-3-Clause
# make deps-aarch64   a cross compiler, qemu-user and libraries (root)
# make test-aarch64   unit and provider tests, built for aarch64 and run under
#                     qemu-user, the provider's with its larger pages, too. Of
#                     its weaker order of memory a host like x86 shows nothing.

AARCH64      := $(BUILD)/aarch64
# what was downloaded outlives make clean
AARCH64_ROOT ?= $(CURDIR)/.aarch64
AARCH64_LIBS := $(AARCH64_ROOT)/usr/lib/aarch64-linux-gnu
AARCH64_MAKE := BUILD=$(AARCH64) CC=aarch64-linux-gnu-gcc \
  CFLAGS='-O2 -g -isystem $(AARCH64_ROOT)/usr/include -isystem $(AARCH64_ROOT)/usr/include/aarch64-linux-gnu' \
  LDFLAGS='-L$(AARCH64_LIBS) -Wl,-rpath-link,$(AARCH64_LIBS)'
AARCH64_RUN  := qemu-aarch64 -L /usr/aarch64-linux-gnu \
  -E LD_LIBRARY_PATH=$(AARCH64_LIBS)

# Left out: what qemu-user does not emulate, or not well: other processes'
# memory (process_vm_readv), RLIMIT_AS, threads in a process that was forked
# from one with threads; test_access reads its maps 16,384 times, and
# test_copy_choice starts itself again.
AARCH64_WITHOUT := access atomic_lock copy_choice death ep_attributes fork maps pid_again posted
AARCH64_TESTS := $(filter-out $(AARCH64_WITHOUT:%=$(AARCH64)/test/provider/test_%),\
  $(patsubst tests/%.c,$(AARCH64)/test/%,\
    $(wildcard tests/unit/test_*.c tests/provider/test_*.c)))
AARCH64_CHOSEN := $(if $(TESTS),\
  $(foreach test,$(AARCH64_TESTS),$(if $(findstring $(TESTS),$(test)),$(test))),\
  $(AARCH64_TESTS))
AARCH64_PAGES := 16384 65536 # beside those of the host

# $(call aarch64_run,options of qemu,tests)
define aarch64_run
	$(if $(strip $(2)),tests/run --under '$(AARCH64_RUN) $(1)' $(2))

endef

.PHONY: deps-aarch64 test-aarch64
deps-aarch64:
	scripts/aarch64-sysroot $(AARCH64_ROOT)

test-aarch64:
	$(MAKE) $(AARCH64_MAKE) $(AARCH64)/lib/dapl_rail/libdapl_shm.so \
	  $(AARCH64)/lib/dapl_rail/dat.conf $(AARCH64_CHOSEN)
	$(call aarch64_run,,$(AARCH64_CHOSEN))
	$(foreach pages,$(AARCH64_PAGES),$(call aarch64_run,-p $(pages),\
	  $(filter $(AARCH64)/test/provider/%,$(AARCH64_CHOSEN))))
