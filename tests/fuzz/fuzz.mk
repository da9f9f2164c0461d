# SPDX-License-Identifier: BSD-3-Clause
# make fuzz [FUZZ_SECONDS=60] [TESTS=name]   each target of libFuzzer so long
#
# Each tests/fuzz/fuzz_*.c is a target; see fuzz.h. They are built beside all
# that they test in a build of their own, which tells libFuzzer what runs.
# `make test` runs each for a moment.

FUZZ := BUILD=$(BUILD)/fuzz SANITIZE=fuzzer-no-link,address,undefined CC=clang \
        CFLAGS='-O1 -g1'
FUZZ_NAMES := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_TESTS := $(FUZZ_NAMES:%=$(BUILD)/fuzz/test/fuzz/%)

.PHONY: fuzz fuzzers
fuzz:
	$(MAKE) $(FUZZ) fuzzers
	FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) tests/run --match '$(TESTS)' \
	  --seconds $$(($(or $(FUZZ_SECONDS),60) + 300)) $(FUZZ_TESTS)

# ----------------------------------------- within the build that FUZZ names

# a target and the script that runs it
fuzzers: $(FUZZ_NAMES:%=$(BIN)/%) $(FUZZ_NAMES:%=$(TEST_BIN)/fuzz/%) \
         $(LIBSHM) $(DATCONF)

$(FUZZ_NAMES:%=$(TEST_BIN)/fuzz/%): tests/fuzz/run
	$(call say,COPY)install -m 755 $< $@

# those of the benchmark program use the libraries, as it does; all others look
# inside them
FUZZ_BENCH  := $(BIN)/fuzz_counts $(BIN)/fuzz_goal $(BIN)/fuzz_options $(BIN)/fuzz_result
FUZZ_INSIDE := $(filter-out $(FUZZ_BENCH),$(FUZZ_NAMES:%=$(BIN)/%))

FUZZ_ARCHIVE := $(TEST_BIN)/libfuzzed.a
$(FUZZ_ARCHIVE): $(RAIL_OBJ) $(COLL_OBJ) $(CORE_OBJ) $(SHM_OBJ) $(PLATFORM_OBJ)
	$(call say,AR)rm -f $@ && ar qcs $@ $^

$(FUZZ_BENCH): $(LIBBENCH) $(LIBRAIL) $(LIBCOLL)
$(FUZZ_BENCH): FUZZ_LIBS = $(LIBBENCH) -L$(LIB) -ldcoll -ldapl_rail
# libdapl_embedded after libdat2, as in libdapl_rail
$(FUZZ_INSIDE): $(FUZZ_ARCHIVE) $(LIBEMBED).$(SOVERSION)
$(FUZZ_INSIDE): FUZZ_LIBS = -Wl,--no-as-needed $(FUZZ_ARCHIVE) -ldat2 \
                            $(LIBEMBED).$(SOVERSION)

$(BIN)/fuzz_pack: $(BUILD)/obj/dsm/pages/pack.o $(BUILD)/obj/dsm/pages/diff.o
$(BIN)/fuzz_pack: FUZZ_LIBS += $(BUILD)/obj/dsm/pages/pack.o $(BUILD)/obj/dsm/pages/diff.o

# as those of the provider it is a DAT program
$(BIN)/fuzz_shm_peer: $(call helpers,provider)
$(BIN)/fuzz_shm_peer: FUZZ_LIBS += $(call helpers,provider) -lcmocka

$(FUZZ_NAMES:%=$(BIN)/%): $(BIN)/%: $(BUILD)/obj/tests/fuzz/%.o
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -fopenmp $(RPATH) $< $(FUZZ_LIBS) \
	  -lhwloc -lpthread -lm -o $@
