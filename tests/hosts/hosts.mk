# SPDX-License-Identifier: BSD-3-Clause
# make test-hosts               jobs over several hosts on this machine
#                               (scripts/testbed): needs root, is skipped
#                               elsewhere
#
# Each tests/hosts/*.sh is a script; $(FLOOD) and $(REDUCE_LONG) are what some of
# them run.

HOSTS_TESTS := $(patsubst tests/%.sh,$(TEST_BIN)/%,\
                 $(wildcard tests/hosts/*.sh))
FLOOD       := $(TEST_BIN)/hosts/flood
REDUCE_LONG := $(TEST_BIN)/hosts/reduce_long

$(HOSTS_TESTS): $(TEST_BIN)/%: tests/%.sh
	$(call say,COPY)install -m 755 $< $@

$(FLOOD): $(BUILD)/obj/tests/hosts/flood.o $(LIBRAIL)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) $(TEST_RPATH) $< -L$(LIB) -ldapl_rail -o $@

$(REDUCE_LONG): $(BUILD)/obj/tests/hosts/reduce_long.o $(LIBCOLL) $(LIBRAIL)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) $(TEST_RPATH) $< -L$(LIB) -ldcoll -ldapl_rail -o $@

$(HOSTS_TESTS) $(TEST_BIN)/integration/flood: | $(FLOOD) $(REDUCE_LONG)

.PHONY: test-hosts
test-hosts: tests
	@tests/run --jobs 1 $(if $(TESTS),--match '$(TESTS)') $(HOSTS_TESTS)
