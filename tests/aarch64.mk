# SPDX-License-Identifier: BSD-3-Clause
# make deps-aarch64   a cross compiler, qemu-user and libraries (root)
# make test-aarch64   unit and provider tests, built for aarch64 (its weaker
#                     order of memory, its larger pages) and run under qemu-user

AARCH64      := $(BUILD)/aarch64
AARCH64_ROOT := $(abspath $(AARCH64))/sysroot
AARCH64_LIBS := $(AARCH64_ROOT)/usr/lib/aarch64-linux-gnu
AARCH64_MAKE := BUILD=$(AARCH64) CC=aarch64-linux-gnu-gcc \
  CFLAGS='-O2 -g -isystem $(AARCH64_ROOT)/usr/include -isystem $(AARCH64_ROOT)/usr/include/aarch64-linux-gnu' \
  LDFLAGS='-L$(AARCH64_LIBS) -Wl,-rpath-link,$(AARCH64_LIBS)'
AARCH64_RUN  := qemu-aarch64 -L /usr/aarch64-linux-gnu \
  -E LD_LIBRARY_PATH=$(AARCH64_LIBS)

# Left out: what qemu-user does not emulate, or not well: other processes'
# memory (process_vm_readv), RLIMIT_AS, threads in a process that was forked
# from one with threads; test_access reads its maps 16,384 times.
AARCH64_WITHOUT := access atomic_lock death ep_attributes fork maps posted
AARCH64_TESTS := $(filter-out $(AARCH64_WITHOUT:%=$(AARCH64)/test/provider/test_%),\
  $(patsubst tests/%.c,$(AARCH64)/test/%,\
    $(wildcard tests/unit/test_*.c tests/provider/test_*.c)))

.PHONY: deps-aarch64 test-aarch64
deps-aarch64:
	scripts/aarch64-sysroot $(AARCH64_ROOT)

test-aarch64:
	$(MAKE) $(AARCH64_MAKE) $(AARCH64)/lib/dapl_rail/libdapl_shm.so \
	  $(AARCH64)/lib/dapl_rail/dat.conf $(AARCH64_TESTS)
	tests/run --under '$(AARCH64_RUN)' $(if $(TESTS),--match '$(TESTS)') \
	  $(AARCH64_TESTS)
