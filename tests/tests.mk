# SPDX-License-Identifier: BSD-3-Clause
# make test                     all suites, in the plain build
# make test-sanitizers          the same in two more builds, ASan + UBSan, and
#                               TSan what has threads; what parses with
#                               libFuzzer for a second each (tests/fuzz)
# make test-bare                the README's commands in a bare Debian (root)
# make test-bare-build          what both begin with: packages and the build
# make test TESTS=provider/     only tests with this text in their path
# make tests                    builds the test programs of one build
# make test-mutations           is a missing barrier or lock of Cluster OpenMP found?
#                               (tests/omp/mutations.txt; takes hours)
# make test-hosts               those of several hosts (tests/hosts/hosts.mk)
#
# Each tests/<suite>/test_*.c is a program (other .c files there are helpers
# of that suite), each tests/integration/*.sh a script. All of them end up in
# $(BUILD)/test/<suite>/, from where tests/run runs them.

TESTS ?=

TEST_BIN := $(BUILD)/test
# $(call programs,suite) and $(call helpers,suite)
programs = $(patsubst tests/%.c,$(TEST_BIN)/%,$(wildcard tests/$(1)/test_*.c))
helpers  = $(filter-out $(BUILD)/obj/tests/$(1)/test_%,\
             $(call objects,tests/$(1)))

TEST_PROGRAMS := $(foreach suite,unit provider integration,\
                   $(call programs,$(suite)))
TEST_SCRIPTS  := $(patsubst tests/%.sh,$(TEST_BIN)/%,\
                   $(wildcard tests/integration/*.sh))
TEST_RPATH    := -Wl,-rpath,'$$ORIGIN/../../lib'

# unit tests may look inside the benchmark program and the collectives
LIBBENCH := $(TEST_BIN)/libbench.a
COLL_ARCHIVE := $(TEST_BIN)/libcoll.a

# The provider's tests over TCP, too: those that need what only shm has are not
# among them, or leave it out (util.h).
OFI_TESTS := cancel collective_calls collective_failures collectives connect counted_writes death descriptors evd extensions fork fork_posting \
  ia last_word many missing_evds place_reused rdma sendrecv shared_evd sleepers
OFI_PROGRAMS := $(if $(filter ofi,$(PROVIDERS)),\
  $(OFI_TESTS:%=$(TEST_BIN)/provider/tcp_%))
TEST_PROGRAMS += $(OFI_PROGRAMS)
# And over a bond: one that cuts long requests; some over one that does not.
BOND_TESTS := $(filter-out collective_calls collective_failures collectives counted_writes,$(OFI_TESTS)) access order srq
BOND_PROGRAMS := $(if $(filter bond,$(PROVIDERS)),\
  $(BOND_TESTS:%=$(TEST_BIN)/provider/bond_%))
BOND_WHOLE_PROGRAMS := $(if $(filter bond,$(PROVIDERS)),$(addprefix \
  $(TEST_BIN)/provider/bond_whole_,access collective_calls collective_failures collectives last_word \
  order rdma sendrecv))
# And over a bond of two rails of TCP: without those of collectives, which have
# rails of their own, and the one that wants what shm promises.
BOND_TCP_PROGRAMS := $(if $(filter bond,$(PROVIDERS)),$(if $(filter ofi,$(PROVIDERS)),\
  $(patsubst %,$(TEST_BIN)/provider/bond_tcp_%,$(filter-out death,$(BOND_TESTS)))))
TEST_PROGRAMS += $(BOND_PROGRAMS) $(BOND_WHOLE_PROGRAMS) $(BOND_TCP_PROGRAMS)
BOND_CONF := $(TEST_BIN)/provider/bond.conf
BOND_TCP_CONF := $(TEST_BIN)/provider/bond_tcp.conf

include tests/hosts/hosts.mk

.PHONY: test tests test-sanitizers test-mutations test-bare test-bare-build

# callbacks and stand-ins have parameters that they do not need
$(BUILD)/obj/tests/%.o: ALL_CFLAGS += -Wno-unused-parameter

$(LIBBENCH): $(filter-out %/bench/main.o,$(BENCH_OBJ))
	$(call say,AR)rm -f $@ && ar qcs $@ $^

$(COLL_ARCHIVE): $(COLL_OBJ)
	$(call say,AR)rm -f $@ && ar qcs $@ $^

$(call programs,unit): $(TEST_BIN)/unit/%: $(BUILD)/obj/tests/unit/%.o \
    $(call helpers,unit) $(COLL_ARCHIVE) $(LIBRAIL)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -fopenmp $(TEST_RPATH) $(filter %.o,$^) \
	  $(filter $(LIBBENCH),$^) $(COLL_ARCHIVE) \
	  -L$(LIB) -ldapl_rail -ldat2 -lhwloc -lcmocka -lpthread -lm -o $@
# not the one that the build for TSan has: there the benchmarks are not built
$(filter-out %/test_omp_team,$(call programs,unit)): $(LIBBENCH)

# the library exports nothing but its public calls
TUNING_OBJ := $(BUILD)/obj/dapl_rail/stripe/tuning
$(TEST_BIN)/unit/test_tuner $(TEST_BIN)/unit/test_learns_soon \
  $(TEST_BIN)/unit/test_tuner_change: \
  $(TUNING_OBJ)/tuner.o $(TUNING_OBJ)/comparison.o
$(TEST_BIN)/unit/test_adaptive_stream $(TEST_BIN)/unit/test_stream_corners: \
  $(addprefix $(TUNING_OBJ)/,\
  comparison.o cut.o pace.o rail_rate.o route.o timing.o tuner.o tuners.o \
  waterfill.o)
$(TEST_BIN)/unit/test_pace: $(TUNING_OBJ)/pace.o
$(TEST_BIN)/unit/test_node_copy: $(BUILD)/obj/dapl_rail/platform/machine.o
$(TEST_BIN)/unit/test_first_rate: $(TUNING_OBJ)/rail_rate.o
$(TEST_BIN)/unit/test_copy_trials: $(BUILD)/obj/providers/shm/memory/copy_choice.o
$(TEST_BIN)/unit/test_copy_trials $(TEST_BIN)/unit/test_copy_cold: \
  $(BUILD)/obj/providers/shm/memory/copy.o $(BUILD)/obj/providers/shm/memory/copy_cold.o
$(TEST_BIN)/unit/test_dsm_diff: $(BUILD)/obj/dsm/pages/diff.o
$(TEST_BIN)/unit/test_dsm_history: $(addprefix $(BUILD)/obj/dsm/pages/,history.o page_list.o)
$(TEST_BIN)/unit/test_dsm_pack: $(addprefix $(BUILD)/obj/dsm/pages/,diff.o pack.o)
$(TEST_BIN)/unit/test_dsm_pack_server: $(addprefix $(BUILD)/obj/dsm/sync/,\
  pack_exchange.o pack_server.o)
$(TEST_BIN)/unit/test_dsm_readahead: $(BUILD)/obj/dsm/pages/readahead.o
$(TEST_BIN)/unit/test_dsm_ticket: $(BUILD)/obj/dsm/sync/ticket.o
$(TEST_BIN)/unit/test_dsm_lock: $(filter-out %/control.o %/open.o,$(DSM_OBJ))
$(TEST_BIN)/unit/test_dsm_fences: $(BUILD)/obj/dsm/base/rdma.o
$(TEST_BIN)/unit/test_dsm_returns: $(BUILD)/obj/dsm/heap/returns.o
$(TEST_BIN)/unit/test_omp_pool: $(BUILD)/obj/omp/runtime/tasks/pool.o
$(TEST_BIN)/unit/test_omp_files: $(BUILD)/obj/omp/runtime/files.o
$(TEST_BIN)/unit/test_dsm_returns $(TEST_BIN)/unit/test_omp_pool: \
  private ALL_LDFLAGS += -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_unlock
$(TEST_BIN)/unit/test_coll_contended: private \
  ALL_LDFLAGS += -Wl,--wrap=cores_find,--wrap=contention_found
$(TEST_BIN)/unit/test_omp_team: private ALL_LDFLAGS += -Wl,--wrap=pthread_create
$(TEST_BIN)/unit/test_dsm_bench: $(DSM_OBJ)
$(TEST_BIN)/unit/test_omp_symbols: $(BUILD)/obj/omp/runtime/statistics/symbols.o
$(TEST_BIN)/unit/test_omp_team: $(DSM_OBJ) $(filter-out \
  %/guard.o %/heap.o %/library_heap.o %/query.o %/start.o %/stats.o,$(OMP_OBJ))
$(TEST_BIN)/unit/test_mapping: $(BUILD)/obj/providers/shm/memory/mapping.o
$(TEST_BIN)/unit/test_goal_faults: private ALL_LDFLAGS += -Wl,--wrap=calloc,--wrap=realloc
$(TEST_BIN)/unit/test_adopt_faults: private ALL_LDFLAGS += -Wl,--wrap=syscall,--wrap=calloc
$(TEST_BIN)/unit/test_adopt_faults: $(addprefix $(BUILD)/obj/providers/shm/memory/,\
  adopt.o mapping.o memfd.o share_pages.o)
JOB_OBJ := $(BUILD)/obj/dapl_rail/job
$(TEST_BIN)/unit/test_handshake: $(addprefix $(JOB_OBJ)/rendezvous/,\
  handshake.o sha256.o secret.o) $(BUILD)/obj/dapl_rail/base/error.o
MEET_OBJ := $(addprefix $(JOB_OBJ)/,socket.o transports.o \
  $(addprefix rendezvous/,address.o client.o server.o handshake.o secret.o \
  sha256.o)) $(BUILD)/obj/dapl_rail/base/error.o
$(TEST_BIN)/unit/test_rendezvous $(TEST_BIN)/unit/test_rendezvous_client: $(MEET_OBJ) \
  $(BUILD)/obj/dapl_rail/platform/machine.o
$(TEST_BIN)/unit/test_rendezvous_stopped: $(MEET_OBJ)
OOB_OBJ := $(addprefix $(JOB_OBJ)/,socket.o transports.o \
  supervise/oob_server.o supervise/oob_rank.o) \
  $(BUILD)/obj/dapl_rail/base/error.o $(BUILD)/obj/dapl_rail/platform/machine.o
$(TEST_BIN)/unit/test_given_up: $(OOB_OBJ)
$(TEST_BIN)/unit/test_supervisor_forked \
$(TEST_BIN)/unit/test_supervisor_interrupted: $(OOB_OBJ) \
  $(addprefix $(JOB_OBJ)/supervise/,supervisor.o signals.o)
$(TEST_BIN)/unit/test_socket_stopped: $(addprefix $(JOB_OBJ)/,socket.o \
  transports.o)
$(TEST_BIN)/unit/test_progress_stopped: \
  $(BUILD)/obj/dapl_rail/engine/progress.o
$(TEST_BIN)/unit/test_pmi2_wire: $(JOB_OBJ)/launch/pmi2_wire.o
$(TEST_BIN)/unit/test_host: $(addprefix $(JOB_OBJ)/rendezvous/,host.o sha256.o)
$(TEST_BIN)/unit/test_sim_hollow: $(BUILD)/obj/providers/sim/hollow.o
$(TEST_BIN)/unit/test_link_retire: $(addprefix $(BUILD)/obj/dapl_rail/,\
  links/queue.o links/failover/journal.o rails/fail.o base/error.o \
  base/sentence.o platform/resources.o)
$(TEST_BIN)/unit/test_solicit_refused: $(addprefix $(BUILD)/obj/dapl_rail/,\
  links/connect/solicit.o base/sentence.o)
$(TEST_BIN)/unit/test_requests_waiting: $(addprefix $(BUILD)/obj/dapl_rail/,\
  links/connect/conn_request.o links/connect/requests.o base/sentence.o)
$(TEST_BIN)/unit/test_atomic_answer: \
  $(BUILD)/obj/dapl_rail/messages/remote_atomic.o
$(TEST_BIN)/unit/test_ep_open $(TEST_BIN)/unit/test_slot_return: \
  $(addprefix $(BUILD)/obj/dapl_rail/,\
  $(addprefix links/,arrival.o credits.o growing.o ep.o ep_release.o ep_table.o link.o \
  queue.o slots.o failover/failover.o failover/journal.o) \
  rails/fail.o base/error.o base/sentence.o platform/resources.o)
$(TEST_BIN)/unit/test_link_buffers: $(BUILD)/obj/dapl_rail/links/buffers.o
$(TEST_BIN)/unit/test_heartbeat_checks: $(addprefix $(BUILD)/obj/dapl_rail/links/,\
  failover/heartbeat.o failover/outstanding.o)
$(TEST_BIN)/unit/test_reconnect_pause: \
  $(BUILD)/obj/dapl_rail/links/failover/reconnect.o
$(TEST_BIN)/unit/test_replay_order: \
  $(BUILD)/obj/dapl_rail/links/failover/incoming_replay.o
$(TEST_BIN)/unit/test_replay_placed: \
  $(BUILD)/obj/dapl_rail/links/failover/journal.o
$(TEST_BIN)/unit/test_inbox: $(BUILD)/obj/dapl_rail/messages/inbox.o
$(TEST_BIN)/unit/test_note_next: $(addprefix $(BUILD)/obj/dapl_rail/messages/,\
  note.o inbox.o)
$(TEST_BIN)/unit/test_sentence: $(BUILD)/obj/dapl_rail/base/sentence.o
$(filter $(TEST_BIN)/unit/test_sim_%,$(TEST_PROGRAMS)): $(PLATFORM_OBJ)
$(TEST_BIN)/unit/test_wait_bell: $(BUILD)/obj/providers/core/events/wait.o
$(TEST_BIN)/unit/test_receives: $(CORE_OBJ) $(SHM_OBJ)
$(TEST_BIN)/unit/test_tcp_close: $(CORE_OBJ) $(if $(filter ofi,$(PROVIDERS)),\
  $(addprefix $(BUILD)/obj/providers/ofi/,access.o burst.o connection.o transfer.o socket.o))
$(TEST_BIN)/unit/test_tcp_refused: $(CORE_OBJ) $(if $(filter ofi,$(PROVIDERS)),\
  $(addprefix $(BUILD)/obj/providers/ofi/,access.o burst.o transfer.o))
$(TEST_BIN)/unit/test_tcp_watch: $(if $(filter ofi,$(PROVIDERS)),\
  $(BUILD)/obj/providers/ofi/sleep.o)
$(TEST_BIN)/unit/test_bond_deliver: $(BUILD)/obj/providers/bond/message/deliver.o
$(TEST_BIN)/unit/test_bond_atomic: $(BUILD)/obj/providers/bond/message/atomic.o
$(TEST_BIN)/unit/test_bond_ended: $(addprefix $(BUILD)/obj/providers/bond/,\
  failover.o message/arrival.o)
$(TEST_BIN)/unit/test_bond_team: $(BUILD)/obj/providers/bond/members/team.o

# provider tests are plain DAT programs: they do not link libdapl_rail
$(call programs,provider): $(TEST_BIN)/provider/%: \
    $(BUILD)/obj/tests/provider/%.o $(call helpers,provider)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) $^ -ldat2 -lcmocka -lpthread -o $@

# a transport of the test's own below core
$(TEST_BIN)/provider/test_transport_offers: $(CORE_OBJ)
# the hostile end of a connection is set up as the provider does it
$(TEST_BIN)/provider/test_bad_segment: $(BUILD)/obj/providers/shm/connect/wire.o

$(BUILD)/obj/tests/integration/test_openmp.o: OBJ_CFLAGS = -fopenmp
$(BUILD)/obj/tests/integration/test_nested_team.o: OBJ_CFLAGS = -fopenmp
$(BUILD)/obj/tests/integration/test_dsm.o: OBJ_CFLAGS = -fopenmp
$(call programs,integration): $(TEST_BIN)/integration/%: \
    $(BUILD)/obj/tests/integration/%.o $(call helpers,integration) $(LIBRAIL) $(LIBCOLL) $(LIBDSM)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -fopenmp $(TEST_RPATH) $(filter %.o,$^) \
	  -L$(LIB) -Wl,--as-needed -lddsm -Wl,--no-as-needed -ldcoll -ldapl_rail -ldat2 -lcmocka -lpthread -lm -o $@

# $(call over,IA[,NAME=VALUE ]): the test program over another IA, with this in
# its environment
over = printf '\#!/bin/sh\n$(2)TEST_IA=$(1) exec "$${0%%/*}/test_$*"\n' > $@ && chmod +x $@
$(OFI_PROGRAMS): $(TEST_BIN)/provider/tcp_%: $(TEST_BIN)/provider/test_%
	$(call over,tcp-lo)
$(BOND_PROGRAMS): $(TEST_BIN)/provider/bond_%: $(TEST_BIN)/provider/test_% $(BOND_CONF)
	$(call over,bond0,DAT_OVERRIDE="$${0%%/*}/bond.conf" )
$(BOND_WHOLE_PROGRAMS): $(TEST_BIN)/provider/bond_whole_%: $(TEST_BIN)/provider/test_%
	$(call over,bond0)
$(BOND_TCP_PROGRAMS): $(TEST_BIN)/provider/bond_tcp_%: $(TEST_BIN)/provider/test_% $(BOND_TCP_CONF)
	$(call over,bond0,DAT_OVERRIDE="$${0%%/*}/bond_tcp.conf" )
$(BOND_TCP_CONF): $(DATCONF)
	$(call say,GEN)sed '/^bond0 /s/shm0 shm1/tcp-lo tcp-too policy=even/; /^tcp-lo /{p; s//tcp-too /}' \
	  $< > $@
$(BOND_CONF): $(DATCONF)
	$(call say,GEN)sed '/^bond0 /s/shm0 shm1/& policy=even/' $< > $@

$(TEST_SCRIPTS): $(TEST_BIN)/%: tests/%.sh
	$(call say,COPY)install -m 755 $< $@

# --- the builds ---------------------------------------------------------

ASAN = BUILD=$(BUILD)/asan WHEELS=$(WHEELS) SANITIZE=address,undefined CFLAGS='-O1 -g1'
TSAN = BUILD=$(BUILD)/tsan WHEELS=$(WHEELS) SANITIZE=thread CC=clang CFLAGS='-O1 -g1'

# It tells TSan of OpenMP's ordering; libomp does not find it by itself.
ARCHER = $(realpath $(shell clang -print-resource-dir)/../../libarcher.so)

# scripts take longest: they begin first
TEST_ALL := $(TEST_SCRIPTS) $(TEST_PROGRAMS)

# Foreign programs can't load a sanitized provider; documents, packages and what
# only scripts do are the same in every build, and peers there are for one; a
# sanitizer's calloc is not to be replaced; provider and transport are what has
# threads. Programs of railomp-cc are not sanitized themselves: accesses to what
# ranks share are not checked there, but the runtime's are. What openmp_locks
# compiles is refused before it runs for long.
PLAIN_ONLY := dapltest dtest dapl_walk bond impi2018 tcp docs install layers \
  suite compare_p2p compare_coll compare_layer mpi_layer mpi_faults mpi_forms \
  mpi_requests mpi_sets mpi_threads deb peers_present test_dsm_memory calibrate irregular_figures \
  reproduce reports build_mpi moved mpi4py timens tune_time rail_numbers \
  killed degrade_any openmp_locks
SANITIZED_ONLY := $(TEST_BIN)/integration/mpi_sanitized
# (ThreadSanitizer ends programs whose handler of SIGSEGV calls what is not safe
# in handlers, and programs that fork while they have threads. It does not see
# that a thread of a bond executes an atomic, or reads the source of a write,
# between two calls of the initiator in the same process: the order is that of
# memory mapped twice.)
TSAN_TESTS := $(filter-out $(TEST_BIN)/unit/% $(TEST_BIN)/integration/test_dsm%\
  $(TEST_BIN)/provider/test_bond_order $(TEST_BIN)/provider/bond_extensions\
  $(TEST_BIN)/provider/bond_tcp_extensions $(TEST_BIN)/provider/bond_last_word,\
  $(TEST_PROGRAMS)) $(TEST_BIN)/unit/test_omp_team $(SANITIZED_ONLY)

# what each build needs, and runs: peers are for tests of comparisons
ifneq ($(findstring thread,$(SANITIZE)),)
TESTED := $(TSAN_TESTS)
tests: $(PROVIDERS:%=$(PROVDIR)/libdapl_%.so) $(DATCONF) $(LIBDATCOLL) mpi $(TESTED)
else
TESTED := $(filter-out $(SANITIZED_ONLY),$(TEST_ALL)) $(HOSTS_TESTS)
tests: all $(TEST_ALL) $(HOSTS_TESTS) $(if $(SANITIZE),,peers)
endif

# They compare rates or times: nothing runs beside them.
TEST_ALONE := /test_adaptive,/test_auto,/test_copy_,/test_unequal_rails,$\
              /link_model,/test_idle_,/test_silent_wire,/rail_numbers,/tune_time,$\
              /degrade_seen,/calibrate
# Their processes poll, which keeps all processors busy: one of them runs at a
# time.
TEST_POLLING := /integration/mpi,/integration/impi,/compare_p2p,/compare_coll,$\
                /compare_layer,/integration/suite,/interrupted
# They wait for slow wires and processes: one of each list runs beside all
# others. Those of several hosts, which check rates, are in one list.
TEST_WAITING := /hosts/,_death,/test_close_delivers,/test_coll_long,$\
                /test_down_at_start,/test_faults,/test_launch,/test_pieces,$\
                /test_slow_transfers,/test_withdraw
TEST_WAITING_TOO := /integration/bond,/integration/install,/cluster_openmp,$\
                /compare_bond,/compare_hosts,/dapl_walk,/dtest,/odd_names,$\
                /runner,/server,/slow_rail,/timens,/ulimits,_collectives,$\
                _sleepers,/tcp_connect,/test_bond_connect,$\
                /test_bond_failover,/test_bond_memory,/test_bond_slow,$\
                /test_coll_order,/test_coll_slow,/test_coll_stopped,$\
                /test_confirm_late,$\
                /test_connect,/test_dsm_edges,/test_dsm_tcp,/test_eager_put,$\
                /test_ep_release,/test_first_use,/test_given_up,/test_goal,$\
                /test_handshake_stopped,/test_heartbeat,/test_job,$\
                /test_late_answers,/test_no_room,/test_reconnect,$\
                /test_rendezvous,/test_short_spread,/test_socket_stopped,$\
                /test_stopped_rank,/test_tcp_link,/test_tcp_peers,$\
                /test_tcp_withdraw,/test_unconnected,/test_wait_stopped,$\
                /test_waiting

TEST_ASAN = $(patsubst $(TEST_BIN)/%,$(BUILD)/asan/test/%,\
  $(filter-out $(PLAIN_ONLY:%=$(TEST_BIN)/integration/%),$(TEST_ALL)))
TEST_TSAN = $(TSAN_TESTS:$(TEST_BIN)/%=$(BUILD)/tsan/test/%)
TEST_RUNS = OMP_TOOL_LIBRARIES='$(ARCHER)' tests/run --again 5 \
  --alone '$(TEST_ALONE)' --polling '$(TEST_POLLING)' --waiting '$(TEST_WAITING)' \
  --waiting '$(TEST_WAITING_TOO)' \
  $(if $(TESTS),--match '$(TESTS)')

test: tests
	@$(TEST_RUNS) $(TESTED)

# a build after the other: their makes share one tree of sources, not of objects
test-sanitizers:
	@$(MAKE) $(ASAN) tests
	@$(MAKE) $(TSAN) tests
	@$(MAKE) $(FUZZ) fuzzers
	@$(TEST_RUNS) $(TEST_ASAN) $(TEST_TSAN) $(FUZZ_TESTS)

test-mutations:
	@tests/omp/mutations $(BUILD)/mutations $(if $(TESTS),--match '$(TESTS)')

test-bare:
	@tests/bare/readme

test-bare-build:
	@tests/bare/readme --build
