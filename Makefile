# SPDX-License-Identifier: BSD-3-Clause
# dapl_rail: `make help` lists the targets.
#
# V=1            shows the commands
# WERROR=1       warnings are errors (.ci/run)
# Variants:      make BUILD=build/asan SANITIZE=address,undefined
#                make BUILD=build/tsan SANITIZE=thread CC=clang

# All processors, unless -j says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
MAKEFLAGS += --no-print-directory

BUILD    ?= build
# Open MPI, MPICH, Intel MPI and UCX as Python wheels (scripts/install-wheels)
WHEELS   ?= $(BUILD)/wheels

.DEFAULT_GOAL := all
include scripts/deps.mk

# This file looks at what is installed when it is read. So in `make deps bench`
# the packages come first, and another make, which finds them, does the rest.
AFTER_DEPS := $(if $(filter deps%,$(MAKECMDGOALS)),$(filter-out deps%,$(MAKECMDGOALS)))
ifneq ($(AFTER_DEPS),)
.PHONY: $(AFTER_DEPS) after-deps
$(AFTER_DEPS): after-deps
	@:
after-deps: $(filter deps%,$(MAKECMDGOALS))
	@$(MAKE) $(AFTER_DEPS)
else

VERSION   := 0.2.0
SOVERSION := 0

SANITIZE ?=
PREFIX   ?= /usr/local
LIBDIR   ?= $(PREFIX)/lib
DESTDIR  ?=

CC       ?= cc
ifeq ($(origin CXX),default)
CXX      := $(if $(findstring clang,$(CC)),clang++,c++)
endif
CFLAGS   ?= -O3 -g
WARN     ?= -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wshadow \
            $(if $(filter 1,$(WERROR)),-Werror)
ALL_CFLAGS := -std=gnu11 $(CFLAGS) $(WARN) -fPIC -fvisibility=hidden -MMD -MP \
              -D_GNU_SOURCE -I.
ALL_CXXFLAGS = -std=gnu++17 $(filter-out -std=% -Wmissing-prototypes \
               -Wstrict-prototypes,$(ALL_CFLAGS))
ALL_LDFLAGS := $(LDFLAGS) -Wl,-z,defs
ifneq ($(SANITIZE),)
ALL_CFLAGS  += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -DDRAIL_SANITIZE
# a sanitized shared library leaves the runtime's symbols to the executable
ALL_LDFLAGS := $(LDFLAGS) -fsanitize=$(SANITIZE)
endif

LIB      := $(BUILD)/lib
BIN      := $(BUILD)/bin
PROVDIR  := $(LIB)/dapl_rail

# the objects of folders and of all below them
sources = $(sort $(shell find $(1) -name '*.c' -o -name '*.cpp'))
objects = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(call sources,$(1))))

CORE_OBJ  := $(call objects,providers/core)
SHM_OBJ   := $(call objects,providers/shm)
OFI_OBJ   := $(call objects,providers/ofi)
BOND_OBJ  := $(call objects,providers/bond)
PLATFORM_OBJ := $(call objects,providers/sim/reader)
SIM_OBJ   := $(call objects,providers/sim)
EMBED_OBJ := $(call objects,providers/embedded)
RAIL_OBJ  := $(call objects,dapl_rail)
COLL_OBJ  := $(call objects,coll)
OFFLOAD_OBJ := $(call objects,offload)
DSM_OBJ   := $(call objects,dsm)
BENCH_OBJ := $(call objects,$(filter-out $(addprefix bench/,info/ openmp/ peers/),$(wildcard bench/*/))) \
             $(BUILD)/obj/bench/clock.o $(BUILD)/obj/bench/startup.o $(BUILD)/obj/bench/interrupt.o $(BUILD)/obj/bench/main.o
INFO_OBJ  := $(call objects,bench/info) $(patsubst %,$(BUILD)/obj/bench/%.o,clock startup report/json report/utf8)

LIBRAIL   := $(LIB)/libdapl_rail.so
LIBEMBED  := $(LIB)/libdapl_embedded.so
LIBCOLL   := $(LIB)/libdcoll.so
LIBDSM    := $(LIB)/libddsm.so
LIBDATCOLL := $(PROVDIR)/libdcoll_dat.so
LIBSHM    := $(PROVDIR)/libdapl_shm.so
LIBOFI    := $(PROVDIR)/libdapl_ofi.so
LIBSIM    := $(PROVDIR)/libdapl_sim.so
LIBBOND   := $(PROVDIR)/libdapl_bond.so
DATCONF   := $(PROVDIR)/dat.conf
PLATFORMS := $(patsubst providers/sim/%,$(PROVDIR)/%,$(wildcard providers/sim/platforms/*.platform))
RAILBENCH := $(BIN)/railbench
RAILINFO  := $(BIN)/railinfo
RPATH     := -Wl,-rpath,'$$ORIGIN/../lib'

.PHONY: all help bench test plots reproduce install uninstall clean format
.DELETE_ON_ERROR:
.SECONDARY:

# rails over libfabric, and simulated ones, where those are; ThreadSanitizer does
# not follow actors
SIMGRID   := $(if $(findstring thread,$(SANITIZE)),,$(wildcard $\
               $(addsuffix /simgrid/s4u.hpp,/usr/include /usr/local/include)))
PROVIDERS ?= shm bond $(shell pkg-config --exists libfabric 2>/dev/null && echo ofi) \
             $(if $(SIMGRID),sim)

all: $(PROVIDERS:%=$(PROVDIR)/libdapl_%.so) $(DATCONF) $(LIBRAIL) $(LIBCOLL) $(LIBDATCOLL) $(LIBDSM) $(RAILBENCH) $(RAILINFO) examples \
     $(PLATFORM_OBJ) $(PLATFORMS)

help:
	@echo 'make deps      install what building and testing need (Debian packages, as root;'
	@echo '               Open MPI, MPICH, Intel MPI 2018 as Python wheels in $(WHEELS)/)'
	@echo 'make           build libraries and programs into $(BUILD)/'
	@echo 'make bench     run the bandwidth and latency benchmarks, write results/<host>-<date>/'
	@echo 'make compare   Open MPI, MPICH, UCX, libfabric next to us (first: make deps-peers)'
	@echo 'make test      build and run all tests; TESTS=word: those with it in their path'
	@echo 'make test-sanitizers  the same with ASan and UBSan, threads with TSan; fuzz a second each'
	@echo 'make test-bare the commands of the README in a bare Debian (root; debootstrap)'
	@echo 'make fuzz      libFuzzer on all that parses (FUZZ_SECONDS=60 each)'
	@echo 'make test-hosts  those of several hosts on one machine (root; scripts/testbed)'
	@echo 'make test-vm   the same over verbs rails, in a VM (first: make deps-vm)'
	@echo 'make test-aarch64  the tests for aarch64, under qemu-user (first: make deps-aarch64)'
	@echo 'make plots     draw the recorded results again with gnuplot'
	@echo 'make reproduce predict what the papers measured on simulated clusters, write results/papers/'
	@echo 'make install   install under PREFIX=$(PREFIX) (DESTDIR= for packaging)'
	@echo 'make uninstall remove what install put there'
	@echo 'make doxygen   the reference of the public calls, in $(BUILD)/doc/html/'
	@echo 'make dist      the sources of the last commit, in $(BUILD)/'
	@echo 'make deb       Debian packages of them, in $(BUILD)/deb/ (needs debhelper, chrpath)'
	@echo 'make format    clang-format over all sources'
	@echo 'make lint      ruff, mypy, shellcheck and clang-format, which it installs'
	@echo 'make clean     remove $(BUILD)/'

# $(call say,WORD): before a command, a line on what it makes (its target, or the
# second argument), instead of the command
say = $(if $(filter 1,$(V)),,@printf '%-4s %s\n' $(1) '$(or $(2),$@)';) mkdir -p '$(@D)';

# --- objects ---------------------------------------------------------------

# A file that holds a text and is new when the text changes: everything is
# rebuilt with the flags, what names the revision with the revision.
# $(call stamp,file,text)
define stamp
ifneq ($$(file <$(1)),$(2))
.PHONY: $(1)
endif
$(1):
	@mkdir -p $$(@D) && printf '%s' '$(2)' > $$@
endef

FLAGS_STAMP    := $(BUILD)/flags
REVISION_STAMP := $(BUILD)/revision
DATCONF_STAMP  := $(BUILD)/rails
PLACE          := $(abspath $(PROVDIR))
REVISION       := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
$(eval $(call stamp,$(FLAGS_STAMP),$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)))
$(eval $(call stamp,$(REVISION_STAMP),$(REVISION)))
$(eval $(call stamp,$(DATCONF_STAMP),$(PROVIDERS) $(PLACE)))

$(BUILD)/obj/%.o: %.c $(FLAGS_STAMP)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(OBJ_CFLAGS) -c $< -o $@

$(BUILD)/obj/%.o: %.cpp $(FLAGS_STAMP)
	$(call say,CXX,$<)$(CXX) $(ALL_CXXFLAGS) $(OBJ_CFLAGS) -c $< -o $@

$(BUILD)/obj/coll/run/execute/operators.o: OBJ_CFLAGS = -fopenmp-simd -Wno-pass-failed
$(BUILD)/obj/dapl_rail/platform/machine.o: OBJ_CFLAGS = -fopenmp
# only its structures; the library is loaded when there is a launcher
$(BUILD)/obj/dapl_rail/job/launch/pmix.o: OBJ_CFLAGS = $(shell pkg-config --cflags pmix)
$(BUILD)/obj/bench/pair/pool.o: OBJ_CFLAGS = -fopenmp
$(BUILD)/obj/bench/report/machine.o: $(REVISION_STAMP)
$(BUILD)/obj/bench/report/machine.o: OBJ_CFLAGS = -DDRAIL_REVISION='"$(REVISION)"'

# --- libraries and programs ------------------------------------------------

# a provider: loaded by libdat2, exports only dat_provider_init and _fini
$(LIBSHM): $(SHM_OBJ)
$(LIBOFI): $(OFI_OBJ)
$(LIBBOND): $(BOND_OBJ)
$(LIBOFI): LIBS = $(shell pkg-config --libs libfabric)
$(LIBSHM) $(LIBOFI) $(LIBBOND): $(CORE_OBJ) providers/provider.map
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,--version-script=providers/provider.map \
	  -Wl,-z,nodelete $(filter %.o,$^) $(LIBS) -ldat2 -lpthread -ldl -o $@

# and the world in which simulated ranks live
$(LIBSIM): $(SIM_OBJ) $(CORE_OBJ) providers/sim/sim.map
	$(call say,LD)$(CXX) -shared $(ALL_LDFLAGS) -Wl,--version-script=providers/sim/sim.map \
	  -Wl,-z,nodelete $(filter %.o,$^) -lsimgrid -ldat2 -lpthread -ldl -o $@

# the rails' entries, which libdapl_embedded completes by its own place; and with
# the place that they have now, for DAT_OVERRIDE
$(DATCONF).in: $(PROVIDERS:%=providers/%/dat.conf.in) $(DATCONF_STAMP)
	$(call say,GEN)cat $(filter %.in,$^) > $@

$(DATCONF): $(DATCONF).in
	$(call say,GEN)sed 's|@PROVDIR@|$(PLACE)|' $< > $@

$(PLATFORMS): $(PROVDIR)/%: providers/sim/%
	$(call say,COPY)install -m 644 $< $@

$(LIBEMBED).$(SOVERSION): $(EMBED_OBJ)
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(notdir $@) $^ -ldl -o $@
	@ln -sf $(notdir $@) $(LIBEMBED)

# libdapl_embedded after libdat2: then its constructor runs before libdat2's,
# which reads dat.conf (providers/embedded/embedded.c)
$(LIBRAIL).$(SOVERSION): $(RAIL_OBJ) $(LIBEMBED).$(SOVERSION) dapl_rail/libdapl_rail.map
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(notdir $@) -fopenmp \
	  -Wl,--version-script=dapl_rail/libdapl_rail.map -Wl,-rpath,'$$ORIGIN' \
	  -Wl,--no-as-needed $(RAIL_OBJ) -ldat2 $(LIBEMBED).$(SOVERSION) -lhwloc -lpthread -ldl -o $@

$(LIBCOLL).$(SOVERSION): $(COLL_OBJ) $(LIBRAIL) coll/libdcoll.map
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(notdir $@) \
	  -Wl,--version-script=coll/libdcoll.map -Wl,-rpath,'$$ORIGIN' \
	  $(COLL_OBJ) -L$(LIB) -ldapl_rail -lm -o $@

# loaded by a provider whose line of dat.conf names it
$(LIBDATCOLL): $(OFFLOAD_OBJ) $(LIBCOLL) offload/libdcoll_dat.map
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,--version-script=offload/libdcoll_dat.map \
	  -Wl,-z,nodelete -Wl,-rpath,'$$ORIGIN/..' $(OFFLOAD_OBJ) -L$(LIB) -ldcoll -ldapl_rail -lpthread -o $@

$(LIBDSM).$(SOVERSION): $(DSM_OBJ) $(LIBCOLL) $(LIBRAIL) dsm/libddsm.map
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(notdir $@) \
	  -Wl,--version-script=dsm/libddsm.map -Wl,-rpath,'$$ORIGIN' \
	  $(DSM_OBJ) -L$(LIB) -ldcoll -ldapl_rail -lpthread -o $@

$(LIBRAIL) $(LIBCOLL) $(LIBDSM): %: %.$(SOVERSION)
	@ln -sf $(notdir $<) $@

$(RAILBENCH): $(BENCH_OBJ) $(LIBRAIL) $(LIBCOLL) $(LIBDSM)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -fopenmp $(RPATH) $(BENCH_OBJ) -L$(LIB) -lddsm -ldcoll -ldapl_rail -lhwloc -lm -o $@

$(RAILINFO): $(INFO_OBJ) $(LIBRAIL)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) $(RPATH) $(INFO_OBJ) -L$(LIB) -ldapl_rail -o $@

EXAMPLES := $(patsubst examples/%.c,$(BIN)/examples/%,$(wildcard examples/*.c))
.PHONY: examples
examples: $(EXAMPLES)
$(BIN)/examples/%: $(BUILD)/obj/examples/%.o $(LIBRAIL) $(LIBCOLL)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../../lib' $< -L$(LIB) \
	  -Wl,--as-needed -ldcoll -ldapl_rail -o $@

# programs of several files each
CLUSTER        := examples/cluster_openmp
CLUSTER_SHARED := $(patsubst %,$(BUILD)/obj/$(CLUSTER)/%.o,cluster options)
CLUSTER_BIN    := $(patsubst $(BUILD)/obj/%.o,$(BIN)/%,\
                    $(filter-out $(CLUSTER_SHARED),$(call objects,$(CLUSTER))))
examples: $(CLUSTER_BIN)
$(BUILD)/obj/$(CLUSTER)/%.o: OBJ_CFLAGS = -fopenmp
$(CLUSTER_BIN): $(BIN)/%: $(BUILD)/obj/%.o $(CLUSTER_SHARED) $(LIBDSM)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -fopenmp -Wl,-rpath,'$$ORIGIN/../../../lib' \
	  $(filter %.o,$^) -L$(LIB) -lddsm -ldapl_rail -lm -o $@

# --- running ---------------------------------------------------------------

bench: all
	scripts/bench

plots: all
	scripts/plot results

reproduce: all
	scripts/reproduce

-include omp/omp.mk
-include tests/tests.mk
-include tests/fuzz/fuzz.mk
-include bench/peers/peers.mk
-include mpi/mpi.mk
-include tests/vm/vm.mk
-include tests/aarch64.mk
-include scripts/install.mk
-include scripts/package.mk
-include scripts/lint.mk

format: lint-tools
	@$(LINT)/bin/clang-format -i $$(git ls-files '*.c' '*.h' '*.cpp' '*.hpp')

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
endif
