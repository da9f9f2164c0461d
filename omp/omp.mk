# SPDX-License-Identifier: BSD-3-Clause
# Cluster OpenMP: librailomp, what is linked into programs, the plugin of GCC 12
# and the compilers' wrappers.

OMP_OBJ := $(call objects,omp/runtime omp/runtime/constructs omp/runtime/statistics $\
  omp/runtime/system omp/runtime/tasks)
LIBOMP  := $(LIB)/librailomp.so
OMPDIR  := $(LIB)/railomp
OMP_PARTS := $(addprefix $(OMPDIR)/,program.o program_descriptors.o \
  program_environment.o program_files.o program_fortran.o program_io.o program_library_heap.o \
  program_mapping.o program_mutex.o program_poll.o program_protection.o program_returned.o program_signal.o \
  program_sockets.o program_system.o program_waits.o program_wide.o libgomp.spec)
# the plugin is one of the compiler that the wrappers call
OMP_CXX := g++
OMP_HEADERS := $(shell $(OMP_CXX) -print-file-name=plugin 2>/dev/null)/include
ifneq ($(wildcard $(OMP_HEADERS)/gcc-plugin.h),)
OMP_PARTS += $(addprefix $(OMPDIR)/,program_cxx.o atomics.so)
OMP_WRAPPERS := $(addprefix $(BIN)/railomp-,cc c++ fortran)
omp: $(OMP_WRAPPERS)
else
omp: without-plugin
endif

.PHONY: omp without-plugin
all: omp
omp: $(LIBOMP) $(OMP_PARTS)
without-plugin:
	@echo 'railomp-cc is not built: no gcc-12-plugin-dev (make deps installs it)'

$(LIBOMP).$(SOVERSION): $(OMP_OBJ) $(LIBDSM) $(LIBRAIL) omp/runtime/librailomp.map
	$(call say,LD)$(CC) -shared $(ALL_LDFLAGS) -Wl,-soname,$(notdir $@) \
	  -Wl,--version-script=omp/runtime/librailomp.map -Wl,-rpath,'$$ORIGIN' \
	  $(OMP_OBJ) -L$(LIB) -lddsm -ldapl_rail -lm -lpthread -o $@
$(LIBOMP): $(LIBOMP).$(SOVERSION)
	@ln -sf $(notdir $<) $@

# code of programs, which are not at any address, for the wrappers' compiler;
# libraries call it, too
$(BUILD)/obj/omp/wrapper/%.o: override CC = gcc
$(BUILD)/obj/omp/wrapper/%.o: override CXX = $(OMP_CXX)
$(BUILD)/obj/omp/wrapper/%.o: OBJ_CFLAGS = -fno-sanitize=all -fno-pie -mno-direct-extern-access \
  -fvisibility=default -fexceptions
$(OMPDIR)/%.o: $(BUILD)/obj/omp/wrapper/%.o
	$(call say,COPY)install -m 644 $< $@
$(OMPDIR)/%.spec: omp/wrapper/%.spec
	$(call say,COPY)install -m 644 $< $@
$(OMPDIR)/atomics.so: omp/plugin/atomics.cc
	$(call say,CXX,$<)$(OMP_CXX) -std=gnu++17 -O2 -g -Wall -fno-rtti -fPIC -shared \
	  -isystem $(OMP_HEADERS) $< -o $@
# Programs are not sanitized, but load the libraries of the sanitizers first if
# librailomp is.
comma := ,
OMP_SANITIZERS := $(filter -l%,$(patsubst undefined,-lubsan,$(patsubst address,-lasan,$\
  $(subst $(comma), ,$(SANITIZE)))))
$(BIN)/railomp-%: omp/wrapper/railomp-cc $(FLAGS_STAMP)
	$(call say,GEN)sed 's|@VERSION@|$(VERSION)|;s|@SANITIZERS@|$(OMP_SANITIZERS)|' $< > $@ && \
	  chmod 755 $@
