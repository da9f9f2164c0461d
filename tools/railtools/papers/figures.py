# SPDX-License-Identifier: BSD-3-Clause
"""What the papers' evaluations show: their figures and numbers, and which runs
of railbench on the described clusters predict them. Not a program.

The papers' own algorithms run as they describe them: a step after the other
(--paced), striped from 1 KB on, the better of copying and zero copy; ours as
they are. Native algorithms, which the
papers measure theirs against, are made of our baseline algorithms, as the
papers describe them."""
from math import inf

from railtools import irregular
from railtools.options import size_name
from railtools.papers.predicted import (
    MOST,
    Across,
    Best,
    Each,
    Factor,
    Figure,
    Only,
    Pick,
    Pieces,
    Run,
    Sum,
    Together,
    Value,
    Winner,
)

TIME = "collective.latency_us.median"
# a simulation has no noise; calls that follow one another may overlap
FEW = ("--warmup", "1", "--iterations", "3")
K, M = 1 << 10, 1 << 20


def of(run, algorithm):
    return Pick(run, TIME, (("algorithm", algorithm),))


def better(runs, algorithm):
    return Best(tuple(of(run, algorithm) for run in runs))


def schemes(run, *options, **how):
    """Straight to where data belong, and by copies."""
    return tuple(run(*options, "--zero-copy", when, **how)
                 for when in ("on", "off"))


def pieces(*given):
    return Pieces(tuple(given))


# Explanations of misses, by the schedule. Never an excuse, never a fit.
NOTES = {
    "004-latency-multi-hca": "An input: fork is what two rails take longer "
    "below 128 bytes.",
    "004-bw-multi-hca-threaded": "The paper calls it surprising, too: two "
    "rails carry more than twice what one does (3350 of 1350 MB/s). In the "
    "model each has the rate of the single one.",
    "000-allgather-4K": "The native one is put together: a gather, a put of all "
    "blocks and a broadcast of them on a node, none of which overlap. That "
    "broadcast first copies into shared memory what the adapter might have put "
    "there: without these 60 of 278 µs the ratio is 1.96, and 4.58 where a tree "
    "of puts broadcasts.",
    "000-allgather-winners": "From 32 to 256 bytes gather-and-broadcast is up "
    "to 1.4 times behind, of which that copy in is most (1.1 without it). Up "
    "to 8 bytes it is within 4 % of the native one, which has the same "
    "broadcast. From 16 KB on, what an all-gather touches on a node, result "
    "and shared memory, exceeds a processor's second level cache of 256 KB, "
    "while each of its copies is short enough for the model's. With cache = "
    "32768 bytes, as if it were judged by all of them, and copy_rate = 600 MB/s, "
    "800 MB/s, its least, direct is the best from 16 KB to 1 MB, as the "
    "paper's; with that rate alone from 64 KB on.",
    "000-alltoall-winners": "Ours exchanges in steps of the factors of 16, 4 "
    "start-ups and 16 blocks on the critical path, where Bruck takes 3 and 18, "
    "direct 8 and 8 (railbench verify). What it is ahead of Bruck at 64 bytes, "
    "0.5 µs, are the two blocks, which cross the PCI bus in both directions: "
    "with duplex_rate = 1600 MB/s Bruck is the best there, too. At 128 bytes "
    "it is 7 µs ahead of direct, which are that one's start-ups, 3.3 µs each: "
    "without --paced, when they overlap, direct is the best from 128 bytes on. "
    "The paper's exchange needs correction steps, as 16 is no power of 3; two "
    "start-ups more, as its equation (4) has for an all-gather (6 of 16 ranks), "
    "would put it behind Bruck at both sizes.",
}
NOTES |= dict.fromkeys(
    ("004-latency-multi-port", "004-bw-multi-port-from"),
    "Two ports are two paths in the schedule as soon as a message is cut; that "
    "they hinder each other in one adapter below 4 KB, as the paper says, is "
    "known from two rails only, which is not used. The "
    "non-threaded way is ahead from 256 bytes on, as it starts no team and its "
    "waits overlap (see 004-wait-512-non-threaded).")
NOTES |= dict.fromkeys(
    (f"002-connections-{groups}" for groups in (1, 2, 3, 4)),
    "The ring's step is a whole latency, of which the three messages of direct "
    "share one: that is the first factor. Further groups post on cores of "
    "their own, and only gaps of 0.2 µs hold up what leaves and what comes. "
    "With receive_gap = 0.8 us the factors are 1.9, 2.7, 2.9 and 3.0: a port "
    "that takes so long for what comes would saturate as the paper's does. "
    "But eight messages at once would then take 6.4 µs, where 002, 3 has "
    "almost the same latency for 8 pairs as for one; nothing else in the papers "
    "says what it takes.")
NOTES |= dict.fromkeys(
    (f"004-{part}-{size}-single-rail" for part in ("post", "wait")
     for size in (512, 4096)),
    "An input: the platform file has one post and one turnaround from these "
    "four figures, so that what is off is the fit of two values to them.")
NOTES |= dict.fromkeys(
    (f"004-wait-{size}-threaded" for size in (512, 4096)),
    "The paper's messages take 1.7 µs more than their bytes at 512 bytes, 1.1 "
    "µs at 4 KB; the platform file has 1.4 µs for both.")
NOTES |= dict.fromkeys(
    (f"004-wait-{size}-non-threaded" for size in (512, 4096)),
    "In the schedule the second rail's events have come while the first one's "
    "were waited for. The paper lays what its wait takes, 2.5 to 5 times that "
    "of a single rail, to contention of hardware and software.")
NOTES |= dict.fromkeys(
    (f"004-ratio-{test}-{config}" for test in ("bw", "bibw")
     for config in ("multi-hca", "multi-port")),
    "At 2 MB the single thread has posted its 40 writes after 15 µs (5.5). For "
    "the other 16 ms the adapters work alone, on the same requests as those of "
    "two threads. The non-threaded batch takes 3.6 ms more over two adapters: "
    "neither posting nor waiting, at most 0.2 ms of a batch, can be the cause. "
    "The paper names no other cause; docs/papers.md lists what differs.")
NOTES |= dict.fromkeys(
    (f"004-ratio-wait-{size}" for size in (512, 4096)),
    "See 004-wait-512-non-threaded.")
NOTES |= dict.fromkeys(
    ("004-interrupts-bw", "004-interrupts-latency-8",
     "004-interrupts-wait-512-non-threaded",
     "004-interrupts-wait-4096-non-threaded"),
    "Tests a cause: an interrupt of 14 µs ends each wait, as the single rail's "
    "figures suggest. Short messages then take longer non-threaded than over "
    "one rail, as in the paper, but by less; no peak changes.")
NOTES |= dict.fromkeys(
    (f"004-interrupts-wait-{size}-threaded" for size in (512, 4096)),
    "The simulated target takes both notifications on one thread, one after "
    "the other; the paper's has two threads.")
NOTES |= dict.fromkeys(
    (f"004-post-{size}-{way}" for size in (512, 4096)
     for way in ("threaded", "non-threaded")),
    "A post takes 0.5 µs whatever its length; the paper's take 0.25 to 0.38 µs "
    "where each is half as long.")

# ---------------------------------------------- 000 and 001: QsNetII, 4 x 4

QSNET = "qsnet2-4x4"
NODES = 4
SHAPES = (4, 8, 16)  # 000, 7.4: evenly over the four nodes
STRIPED = ("--threshold", "1025")  # 000, 7.1: messages larger than 1 KB
WHOLE = ("--threshold", "64M")  # a single rail
NATIVE, OURS = "native (described)", "our best"


def doubled(low, high):
    return ",".join(size_name(1 << n) for n in range(low.bit_length() - 1,
                                                     high.bit_length()))


SHORT, LONG = doubled(4, 64 * K), "256K,1M"
SIZES = f"{SHORT},{LONG}"
FEWER = "4,4K,64K"  # over ranks
ALL_BLOCKS = doubled(16, M) + ",4M,16M"  # of all ranks together


def qsnet(test, ranks, *options, sizes=SIZES, ppn=None):
    return Run(test, QSNET, (
        "--ranks", str(ranks), "--ppn", str(ppn or ranks // NODES),
        "--sizes", sizes, *FEW, *options))


class Collective:
    """A collective of 000's: the paper's algorithms, ours, the native one."""

    def __init__(self, test, algorithms, ranks, single=(), sizes=SIZES,
                 ppn=None):
        def run(*options, sizes=sizes):
            return qsnet(test, ranks, *options, sizes=sizes, ppn=ppn)
        def those(names):
            return "--algorithm", ",".join(sorted(set(names)))
        # what serves nodes of several ranks only is not for one of each
        alone = (ppn or ranks // NODES) == 1
        algorithms = {label: name for label, name in algorithms.items()
                      if not (alone and name.startswith("smp-"))}
        single = tuple(piece for piece in single
                       if not (alone and piece[2].startswith("smp-")))
        paced = those([*algorithms.values(), *(
            name for _, one_rail, name in single if not one_rail)])
        lone = those(name for _, one_rail, name in single if one_rail)
        self.paced = schemes(run, *paced, "--paced", *STRIPED)
        # one port, one rail: what elan's event chains and trees use
        self.single = schemes(run, *lone, "--ports", "1", "--paced", *WHOLE,
                              sizes=sizes)
        # long blocks of all algorithms would take the memory of a cluster
        short = SHORT if sizes == SIZES else sizes
        free = schemes(run, "--algorithm", "all", sizes=short)
        if sizes == SIZES:
            free += schemes(run, *those(algorithms.values()), sizes=LONG)
        self.ours = Best(tuple(Each(one, TIME)
                               for one in (*free, *self.paced)))
        self.papers = {label: better(self.paced, name)
                       for label, name in algorithms.items()}
        self.native = pieces(*(
            (most, better(self.single if one_rail else self.paced, name))
            for most, one_rail, name in single))


# 000, 3.1: up to 2 KB the node's shared memory and a tree of the first
# processes; then a tree of all over one rail; above 4 KB with striping.
GATHER_NATIVE = ((2 * K, True, "smp-gather"), (4 * K, True, "tree"),
                 (inf, False, "tree"))
GATHER = {"tree": "binomial", "direct": "direct"}
# 000, 3.1: gather, then broadcast, up to 32 KB; then the ring. 001, 5: its
# all-gather does not benefit from striping.
ALLGATHER_NATIVE = ((32 * K, True, "gather-bcast"), (inf, True, "ring"))
ALLGATHER = {"direct": "direct", "exchange": "exchange", "bruck": "bruck",
             "gather-and-broadcast": "smp-gather-bcast",
             "SMP-direct": "smp-direct", "SMP-Bruck": "smp-bruck"}
# 000, 3.1: "as in the gather" the node's shared memory up to 2 KB, so that nodes
# exchange, a pair in each step; a pairwise exchange of all ranks up to 8 KB, then
# permission to send.
ALLTOALL_NATIVE = ((2 * K, True, "smp-direct"), (8 * K, True, "pairwise"),
                   (inf, False, "permission"))
ALLTOALL = {"direct": "direct", "exchange": "exchange", "bruck": "bruck"}


def by_shape(test, algorithms, native):
    return {n: Collective(test, algorithms, n, native,
                          SIZES if n == 16 else FEWER)
            for n in SHAPES}


gather = by_shape("gather", GATHER, GATHER_NATIVE)
allgather = by_shape("allgather", ALLGATHER, ALLGATHER_NATIVE)
alltoall = by_shape("alltoall", ALLTOALL, ALLTOALL_NATIVE)


class Broadcast:
    """QsNetII's, in hardware: a put between nodes that reaches them all, then,
    of several ranks, the node's shared memory."""

    def __init__(self, ranks):
        self.ranks, self.ppn = ranks, ranks // NODES

    def of(self, engine, *options):
        put = Run("lat", QSNET, (
            "--ppn", "1", "--engine", engine, "--sizes", ALL_BLOCKS, *options,
            *FEW))
        steps = [Pick(put, "pingpong.latency_us.median")]
        if self.ppn > 1:
            node = qsnet("bcast", self.ppn, "--algorithm", "shm-bcast",
                         sizes=ALL_BLOCKS, ppn=self.ppn)
            steps.append(of(node, "shm-bcast"))
        return Together(Sum(tuple(steps)), self.ranks)


def by_hardware(one, gathered, ranks):
    """000, 3.1 and 5.2.1: the native gather and a broadcast over one rail, up
    to where it turns to Tports; and the paper's own over both."""
    broadcast = Broadcast(ranks)
    one.native = Pieces(((4 * K, Sum((
        gathered.native, broadcast.of("single", *WHOLE)))),
        (inf, one.native)))
    if ranks > NODES:
        first = schemes(
            lambda *options: qsnet("gather", ranks, *options,
                                   sizes=SIZES if ranks == 16 else FEWER),
            "--algorithm", "smp-gather", "--paced", *STRIPED)
        one.papers["gather-and-broadcast"] = Sum((
            better(first, "smp-gather"),
            broadcast.of("nonthreaded", *STRIPED)))


for count, flat in allgather.items():
    by_hardware(flat, gather[count], count)


def with_native(one):
    return {**one.papers, NATIVE: one.native}


def shown(one):
    return {**with_native(one), OURS: one.ours}


def scaling(name, text, several, number):
    """Time over the number of ranks (figs. 9 to 11), at three sizes."""
    for size, ending in ((4, "4"), (4 * K, "4K"), (64 * K, "64K")):
        lines = {n: shown(one) for n, one in several.items()}
        yield Figure(
            f"{name}-ranks-{ending}",
            f"{text} of {ending} bytes, as figure {number} of Qian and Afsahi 2008",
            "Time (µs)",
            {label: Across(tuple((n, line[label])
                                 for n, line in lines.items()
                                 if label in line), size)
             for label in lines[16]}, unit="Number of ranks")


def collective_figures():
    for name, text, several, number in (
            ("000-9-gather", "Gather", gather, 9),
            ("000-10-alltoall", "All-to-all", alltoall, 10),
            ("000-11-allgather", "All-gather", allgather, 11)):
        yield Figure(name, f"{text}, 16 ranks on 4 nodes, as figure {number} "
                     "of Qian and Afsahi 2008", "Time (µs)", shown(several[16]))
        yield from scaling(name, text, several, number)


# 000, 4: the motivation
both_ways = Run("bibw", QSNET, (
    "--engine", "single,nonthreaded", "--sizes", "4:1M", *STRIPED, *FEW))
BOTH_WAYS = {
    "one rail": Pick(both_ways, "batch.bandwidth_MBps.median",
                     (("engine", "single"),)),
    "two rails": Pick(both_ways, "batch.bandwidth_MBps.median",
                      (("engine", "nonthreaded"),))}
PER_NODE = "4:256K"
shm_pair = qsnet("bcast", 2, "--algorithm", "shm-bcast", sizes=PER_NODE,
                 ppn=2)
put_pair = Run("lat", QSNET, ("--ppn", "2", "--engine", "nonthreaded",
                              "--sizes", PER_NODE, *STRIPED, *FEW))
put_one_rail = Pick(Run("lat", QSNET, (
    "--ppn", "2", "--engine", "single", "--sizes", PER_NODE, *WHOLE, *FEW)),
    "pingpong.latency_us.median")
SHM_STUDY = {
    "shared memory, point to point": of(shm_pair, "shm-bcast"),
    "put": Pick(put_pair, "pingpong.latency_us.median"),
}
# 000, fig. 2: k processes write to k sections of a shared memory region
MEMCPY = {f"{k}-memcpy": Pick(
    qsnet("memcpy", k, sizes=PER_NODE, ppn=k), TIME) for k in (1, 2, 3, 4)}
node_gather = Collective("gather", {"shared memory": "shm-gather"}, 4,
                         ((4 * K, True, "tree"), (inf, False, "tree")),
                         sizes=PER_NODE, ppn=4)
node_bcast = Collective("bcast", {"shared memory": "shm-bcast"}, 4,
                        ((inf, False, "binomial"),), sizes=PER_NODE, ppn=4)


def node_figures():
    yield Figure("000-1-put", "Put in both directions at once, as figure 1 of "
                 "Qian and Afsahi 2008", "Bandwidth (MB/s)", BOTH_WAYS, log=False)
    yield Figure("000-2-node", "Point to point within a node, and k copies at "
                 "once, as figure 2 of Qian and Afsahi 2008", "Time (µs)",
                 SHM_STUDY | {"put, one rail": put_one_rail} | MEMCPY)
    study = {}
    for label, one in (("gather", node_gather), ("broadcast", node_bcast)):
        study[f"{label} of 4 ranks, shared memory"] = \
            one.papers["shared memory"]
        study[f"{label} of 4 ranks, tree of puts"] = one.native
    yield Figure("000-3-node", "Within a node, as figure 3 of Qian and Afsahi "
                 "2008", "Time (µs)", study)


def seed_000_rows():
    for name, one, paper, size, label, native in (
            ("000-gather-4K", gather[16], 2.15, 4 * K, "direct",
             "a tree of all ranks over one port and one rail"),
            ("000-alltoall-2K", alltoall[16], 2.26, 2 * K, "direct",
             "an exchange of nodes' shared memory over one rail"),
            ("000-allgather-4K", allgather[16], 1.96, 4 * K, "SMP-Bruck",
             "a gather by a tree over one rail and a broadcast by hardware"),
            ("000-allgather-32K", allgather[16], 1.49, 32 * K, "direct",
             "a gather and a broadcast by trees over one rail")):
        yield Factor(name, "000, 7", f"{label} over the native one, {native} "
                     "(000, 3.1; 001, 5)", paper, one.native, one.papers[label],
                     one.ours, size, note=NOTES.get(name, ""))
    winners = (
        ("000-gather-trees", gather[16], GATHER, False, "000, 7.2",
         ((4, 256, "tree"), (512, M, "direct"))),
        ("000-gather-native", gather[16], ("direct",), True, "000, 7.2",
         ((4, 512, NATIVE), (K, M, "direct"))),
        ("000-gather-tree-native", gather[16], ("tree",), True, "000, 7.2",
         ((K, 8 * K, "tree"),)),
        ("000-alltoall-winners", alltoall[16], ALLTOALL, False, "000, 7.3",
         ((4, 64, "bruck"), (128, M, "direct"))),
        ("000-alltoall-native", alltoall[16], ("direct",), True, "000, 7.3",
         ((4, 256, NATIVE), (512, M, "direct"))),
        ("000-allgather-winners", allgather[16], ALLGATHER, True, "000, 7.4",
         ((4, 256, "gather-and-broadcast"), (512, 8 * K, "SMP-Bruck"),
          (16 * K, M, "direct"))))
    for name, one, labels, has_native, seed, ranges in winners:
        curves = {label: one.papers[label] for label in labels}
        if has_native:
            curves[NATIVE] = one.native
        yield Winner(name, seed, "the best of " + ", ".join(curves), ranges,
                     curves, one.ours, note=NOTES.get(name, ""))
    yield Winner("000-shm-put", "000, 4.2", "point to point within a node",
                 ((4, 2 * K, "shared memory, point to point"),
                  (4 * K, 256 * K, "put")), SHM_STUDY,
                 Best(tuple(SHM_STUDY.values())))
    yield Winner("000-node-gather", "000, 4.2", "gather of 4 ranks of a node",
                 ((4, 8 * K, "shared memory"), (16 * K, 256 * K, NATIVE)),
                 with_native(node_gather), node_gather.ours, tie=0.1)
    yield Winner("000-node-bcast", "000, 4.2", "broadcast to 4 ranks of a "
                 "node", ((256, 32 * K, "shared memory"),),
                 with_native(node_bcast), node_bcast.ours, tie=0.1)
    yield Factor("000-put-rails", "000, 4.1", "both-way bandwidth of two "
                 "rails over one (an input of the platform file)", 2.0,
                 BOTH_WAYS["one rail"], BOTH_WAYS["two rails"],
                 BOTH_WAYS["two rails"], None, rate=True, headline=False)


# --------------------------------------------------- 002: ConnectX, 4 x 4

CONNECTX = "connectx-4x4"
MULTI_WAYS = {"gather-based": "mc-gather", "1-group": "mc-single",
              "2-group": "mc-2group", "4-group": "mc-allgroup",
              "1-group, one connection": "mc-single-ring"}


def connectx(*options):
    return Run("allgather", CONNECTX, (
        "--ranks", "16", "--ppn", "4", *options, *FEW))


# 002, 7: the best of two schemes; long blocks as for 000
SCHEMES = (
    *schemes(connectx, "--algorithm", "all", "--sizes", "1:64K"),
    *schemes(connectx, "--algorithm", ",".join(
        ("doubling", *MULTI_WAYS.values())), "--sizes", "128K:512K"))
MULTI: dict = {label: better(SCHEMES, name)
               for label, name in MULTI_WAYS.items()}
MVAPICH = better(SCHEMES, "doubling")  # 002, 2.2: recursive doubling by RDMA
MULTI_OURS = Best(tuple(Each(run, TIME) for run in SCHEMES))


RECEIVED = "collective.bandwidth_MBps.median"
GAINS = {1: 1.8, 2: 2.6, 3: 2.7, 4: 2.7}  # 002, 4: up to


def exchange(groups):
    """002, 4: so many groups of ranks on four nodes, each for itself."""
    return Run("mbw", CONNECTX, (
        "--ranks", "16", "--ppn", "4", "--groups", str(groups),
        "--algorithm", "direct,ring", "--sizes", "4:256K", *FEW))


def received(groups, algorithm):
    return Pick(exchange(groups), RECEIVED, (("algorithm", algorithm),))


ONE_CONNECTION = received(1, "ring")


def seed_002_figures():
    yield Figure("002-1-aggregate", "What an adapter receives in independent "
                 "all-gathers, as figure 1 of Qian et al. 2008", "Bandwidth (MB/s)",
                 {"1 group, one connection": ONE_CONNECTION} | {
                     f"{g} group{'s' if g > 1 else ''}": received(g, "direct")
                     for g in GAINS}, log=False)
    yield Figure("002-5-allgather", "All-gather, 16 ranks on 4 nodes, as "
                 "figure 5 of Qian et al. 2008", "Time (µs)",
                 {**MULTI, NATIVE: MVAPICH, OURS: MULTI_OURS})


def seed_002_rows():
    for groups, paper in GAINS.items():
        name = f"002-connections-{groups}"
        yield Factor(name, "002, 4", f"most gain of {groups} groups of three "
                     "connections a rank over one group of one", paper,
                     ONE_CONNECTION, received(groups, "direct"),
                     Each(exchange(groups), RECEIVED, rate=True), MOST,
                     rate=True, note=NOTES.get(name, ""))
    for label, paper, size, ending in (
            ("gather-based", 3.1, 4, "4"), ("1-group", 2.3, 64, "64"),
            ("2-group", 1.8, 4 * K, "4K")):
        name = f"002-allgather-{ending}"
        yield Factor(name, "002, 7", f"{label} over the native one, recursive "
                     "doubling by RDMA without shared memory (002, 2.2)",
                     paper, MVAPICH, MULTI[label], MULTI_OURS, size,
                     note=NOTES.get(name, ""))
    yield Winner("002-allgather-winners", "002, 7", "the best of all, with "
                 "the native one",
                 ((1, 32, "gather-based"), (64, 2 * K, "1-group"),
                  (4 * K, 64 * K, "2-group"), (128 * K, 512 * K, NATIVE)),
                 {**MULTI, NATIVE: MVAPICH}, MULTI_OURS,
                 note=NOTES.get("002-allgather-winners", ""))


# -------------------------------------------- 003: irregular, T3D and SP2

MACHINES = {48: "t3d", 22: "sp2"}  # by bytes of an element (003, 4)


def irregular_runs():
    """{(ranks, element, pattern): Run}: a run serves several figures."""
    return {(ranks, element, pattern): Run("alltoallv", MACHINES[element], (
        "--ranks", str(ranks), "--ppn", "1", "--engine", "single",
        "--pattern", pattern, "--element", str(element),
        "--elements", ",".join(map(str, sizes)),
        "--algorithm", ",".join(algorithms),
        "--warmup", "1", "--iterations", "1"))
        for (ranks, element, pattern), (algorithms, sizes)
        in irregular.measurements(64).items()}


IRREGULAR = irregular_runs()


def irregular_curves(figure):
    """{algorithm: curve} of one of figures 15 to 23."""
    def curve(ranks, algorithm):
        return Pick(IRREGULAR[ranks, figure.element, figure.pattern], TIME,
                    (("algorithm", algorithm),), "elements")
    if figure.over == irregular.RANKS:
        return {name: Across(tuple((n, curve(n, name)) for n in
                                   figure.numbers_of_ranks(64)),
                             figure.sizes[0]) for name in figure.algorithms}
    return {name: Only(curve(64, name), figure.sizes)
            for name in figure.algorithms}


def seed_003_figures():
    for figure in irregular.FIGURES:
        ranks = figure.over == irregular.RANKS
        yield Figure(
            f"003-{figure.name}", irregular.caption(figure, {"ranks": 64})
            + f", {MACHINES[figure.element]}", "Time (µs)",
            irregular_curves(figure), unit="Number of ranks" if ranks
            else "Elements of the longest message (M_max)")


# Of figures that are alike, by their numbers' beginnings.
NOTES_003 = {
    "15": "A2 sends 2 (P - 1) messages and carries each byte twice, A4 about "
    "4 sqrt P messages and each byte four times: of 16 ranks 30 and 12, whose "
    "start-ups (684 µs on the T3D) are what two more crossings of 8 KB cost; "
    "the longest message has 1024 elements, 48 KB. That A2 also marks P² "
    "slices in each stage (3.1.2) no figure of the platform says. Copies are "
    "not the cause: if they cost nothing, A4 takes 15.1 ms for 16.4, A2 10.6 "
    "for 10.8.",
    "16": "As figure 15: of 64 ranks the start-ups that A4 saves are what two "
    "more crossings of some 43 KB cost, 900 elements; the paper has no "
    "such limit up to 4096. If copies cost nothing, A4 takes 17.5 ms for "
    "18.4 at 1024 elements, A2 16.0 for 16.2.",
    "19": "A3 sends half as many messages as A4, but whole: a rank in between "
    "may get several of the longest, one after the other. At 1024 elements "
    "A3 takes 25.1 ms (25.0 if copies cost nothing), A4 18.4 (17.5): what "
    "waits for one another counts here, copies hardly, and A4 is ahead from "
    "fewer elements on.",
    "21": "As figure 19; with two buffers A4-n2 also hides its copies behind "
    "what it sends.",
    "17": "As figure 15: on the SP2 the start-ups that A4 saves 16 ranks "
    "(792 µs) are what two more crossings of 11 KB cost, 510 elements; the "
    "longest message has 1024.",
    "18": "As figure 16: on the SP2 the start-ups that A4 saves 64 ranks are "
    "what two more crossings of 62 KB cost, 2800 elements; the paper has no "
    "such limit up to 4096."}
NOTES_003["22"] = NOTES_003["21"]

# figure, what the paper says of it, the winner, from, to, among whom
BEST_OF = (
    ("15a", "4.1: blocking, A4 is the fastest", "a4", 4, 64, None),
    ("16a", "4.1: blocking, A4 is the fastest", "a4", 16, 4096,
     irregular.BLOCKING),
    ("16b", "4.1: blocking, A4 is the fastest", "a4", 16, 4096,
     irregular.BLOCKING),
    ("17a", "4.1: blocking, A4 is the fastest", "a4", 4, 64, None),
    ("18a", "4.1: blocking, A4 is the fastest", "a4", 16, 4096,
     irregular.BLOCKING),
    ("18b", "4.1: blocking, A4 is the fastest", "a4", 16, 4096,
     irregular.BLOCKING),
    ("19a", "4.2: up to 1024 elements, A3 beats A4", "a3", 16, 1024,
     ("a3", "a4")),
    ("19b", "4.2: up to 1024 elements, A3 beats A4", "a3", 16, 1024,
     ("a3", "a4")),
    ("20", "4.2: from 1024 elements on, A4 beats A3", "a4", 1024, 4096, None),
    ("21a", "4.2: A3-n1 is the fastest", "a3-n1", 16, 1024, None),
    ("21b", "4.2: A4-n2 is the fastest", "a4-n2", 16, 1024, None),
    ("22a", "4.2: A3-n1 is the fastest", "a3-n1", 1024, 4096, None),
    ("22b", "4.2: A4-n2 is the fastest", "a4-n2", 1024, 4096, None),
    ("23", "4.2: A4-n2 over A3-n1, P = 25 to 100", "a4-n2", 25, 100, None))


def seed_003_rows():
    figures = {figure.name: figure for figure in irregular.FIGURES}
    for name, what, label, low, high, among in BEST_OF:
        curves = irregular_curves(figures[name])
        yield Winner(f"003-{name}", "003, " + what.split(":")[0],
                     f"figure {name}: {what.split(': ')[1]}",
                     ((low, high, label),),
                     {key: curves[key] for key in among or curves},
                     Best(tuple(curves.values())),
                     note=NOTES_003.get(name[:2], ""))


# ----------------------------------------------- 004: two rails, Ultra24

ULTRA = {"multi-port": "ultra24-multiport", "multi-HCA": "ultra24-multihca"}
SINGLE = "single rail"


def ultra(test, platform, *options):
    """As the paper does it, and as we do."""
    run = Run(test, platform, (
        "--engine", "single,nonthreaded,threaded", "--team",
        "forkjoin,resident", "--wait", "serial,any", "--notify-by", "send",
        *FEW, *options))
    return run


PAPER_WAYS = {
    SINGLE: (("engine", "single"),),
    "non-threaded": (("engine", "nonthreaded"), ("wait", "serial")),
    "threaded": (("engine", "threaded"), ("team", "forkjoin"))}


def ultra_curves(run, figure, rate):
    """The paper's three ways, and our best of all engines."""
    ways = {label: Pick(run, figure, where)
            for label, where in PAPER_WAYS.items()}
    return ways, Each(run, figure, "label", rate)


def ultra_both(test, figure, *options, rate=False):
    """{configuration: (ways, ours)}"""
    return {name: ultra_curves(ultra(test, platform, *options), figure, rate)
            for name, platform in ULTRA.items()}


RATE, LATENCY = "batch.bandwidth_MBps.median", "batch.latency_us.median"
# 004, 4.3: any length is cut in two
ultra_bw = ultra_both("bw", RATE, "--sizes", "8:2M", "--threshold", "0",
                      rate=True)
ultra_bibw = ultra_both("bibw", RATE, "--sizes", "8:2M", "--threshold", "0",
                        rate=True)
ultra_lat = ultra_both("lat", LATENCY, "--sizes", "8:4K", "--threshold", "0")
BREAKDOWN = {part: ultra_curves(
    ultra("breakdown", ULTRA["multi-HCA"], "--sizes", "512,4K"),
    f"batch.{part}_us.median", False) for part in ("post", "wait")}


# µs of 5.5, as PAPER_WAYS
TIMES = {"post": {512: (10, 15, 7), 4 * K: (9, 14, 5)},
         "wait": {512: (36, 184, 35), 4 * K: (78, 197, 45)}}

# the same cluster, if each wait ends in an interrupt
INTERRUPTS = "ultra24-multihca-interrupts"
interrupts_bw = ultra_curves(ultra(
    "bw", INTERRUPTS, "--sizes", "8:2M", "--threshold", "0"), RATE, True)
interrupts_lat = ultra_curves(ultra(
    "lat", INTERRUPTS, "--sizes", "8:4K", "--threshold", "0"), LATENCY, False)
interrupts_wait = ultra_curves(ultra(
    "breakdown", INTERRUPTS, "--sizes", "512,4K"), "batch.wait_us.median",
    False)


def breakdown_rows(part, curves, prefix="004"):
    ways, ours = curves
    for size, papers in TIMES[part].items():
        for label, paper in zip(PAPER_WAYS, papers):
            name = f"{prefix}-{part}-{size}-{label.replace(' ', '-')}"
            what = f"µs of {part}ing, 20 messages of {size} bytes, {label}"
            if label == SINGLE:
                what += " (an input of the platform file)"
            yield Value(name, "004, 5.5", what, paper, ways[label], ours,
                        size, note=NOTES.get(name, ""))


# The paper's central result, from MB/s of 5.3 and 5.4, and µs of 5.5.
BETWEEN_WAYS = "threaded : non-threaded"
PEAKS = (("bw", "004, 5.3", ultra_bw, {"multi-HCA": 3350 / 2600,
                                       "multi-port": 1800 / 1350}),
         ("bibw", "004, 5.4", ultra_bibw, {"multi-HCA": 5045 / 3950,
                                           "multi-port": 3150 / 2350}))


def between_ways(name, seed, what, paper, curves, **how):
    ways, ours = curves
    return Factor(name, seed, f"{what}, {BETWEEN_WAYS}", paper,
                  ways["non-threaded"], ways["threaded"], ours, tie=0.02,
                  note=NOTES[name], **how)


def ratio_rows():
    for test, seed, both, papers in PEAKS:
        for config, paper in papers.items():
            yield between_ways(
                f"004-ratio-{test}-{config.lower()}", seed,
                f"peak of {config}, {test}", paper, both[config], rate=True,
                group=BETWEEN_WAYS)
    for size, (_, one_thread, threads) in TIMES["wait"].items():
        yield between_ways(
            f"004-ratio-wait-{size}", "004, 5.5",
            f"shorter waiting, 20 messages of {size} bytes",
            one_thread / threads, BREAKDOWN["wait"], x=size,
            group=BETWEEN_WAYS)


def interrupts_rows():
    """Does the cause that the single rail's figures suggest explain it?"""
    yield between_ways(
        "004-interrupts-bw", "004, 5.3", "peak of multi-HCA, bw",
        PEAKS[0][3]["multi-HCA"], interrupts_bw, rate=True, headline=False)
    ways, ours = interrupts_lat
    name = "004-interrupts-latency-8"
    yield Factor(name, "004, 5.2", "latency of 8 bytes, one rail over "
                 "multi-HCA non-threaded", 2 / 10, ways[SINGLE],
                 ways["non-threaded"], ours, 8, headline=False,
                 note=NOTES[name])
    yield from breakdown_rows("wait", interrupts_wait, "004-interrupts")


def overlaid(both):
    """Both configurations in one picture."""
    lines = {SINGLE: both["multi-HCA"][0][SINGLE]}
    for name, (ways, _) in both.items():
        lines |= {f"{name} {label}": curve for label, curve in ways.items()
                  if label != SINGLE}
    return lines | {f"{name} our best": ours
                    for name, (_, ours) in both.items()}


def seed_004_figures():
    for name, caption, axis, both, log in (
            ("004-6-latency", "RDMA write latency, as figure 6",
             "Latency (µs)", ultra_lat, True),
            ("004-7-8-bw", "Uni-directional bandwidth, as figures 7 and 8",
             "Bandwidth (MB/s)", ultra_bw, False),
            ("004-9-10-bibw", "Bi-directional bandwidth, as figures 9 and 10",
             "Bandwidth (MB/s)", ultra_bibw, False)):
        yield Figure(name, caption + " of Cai et al. 2009", axis, overlaid(both),
                     log=log)
    yield Figure("004-11-12-breakdown", "Elapsed time of 20 messages, as "
                 "figures 11 and 12 of Cai et al. 2009", "Time (µs)",
                 {f"{label}, {part}": curve
                  for part, (ways, _) in BREAKDOWN.items()
                  for label, curve in ways.items()}, log=False)


def seed_004_rows():
    for test, both, seed, numbers in (
            ("bw", ultra_bw, "004, 5.3", (
                ("multi-port", "threaded", 1.33), ("multi-HCA", "threaded",
                                                   2.48),
                ("multi-HCA", "non-threaded", 1.90))),
            ("bibw", ultra_bibw, "004, 5.4", (
                ("multi-port", "threaded", 1.34), ("multi-HCA", "threaded",
                                                   2.14),
                ("multi-HCA", "non-threaded", 1.68)))):
        for config, way, paper in numbers:
            ways, ours = both[config]
            name = f"004-{test}-{config.lower()}-{way}"
            yield Factor(name, seed, f"peak of {config} {way} over one rail",
                         paper, ways[SINGLE], ways[way], ours, rate=True,
                         note=NOTES.get(name, ""))
    yield from ratio_rows()
    for part, curves in BREAKDOWN.items():
        yield from breakdown_rows(part, curves)
    yield from interrupts_rows()
    ways, _ = ultra_lat["multi-HCA"]
    yield Factor("004-latency-4K", "004, 5.2", "latency of 4 KB, one rail "
                 "over multi-HCA threaded", 1 / 0.62, ways[SINGLE],
                 ways["threaded"], ultra_lat["multi-HCA"][1], 4 * K,
                 headline=False)
    for config, low in (("multi-HCA", 512), ("multi-port", 2 * K)):
        ways, ours = ultra_lat[config]
        name = f"004-latency-{config.lower()}"
        yield Winner(name, "004, 5.2",
                     f"latency: {config} threaded beside one rail",
                     ((8, low // 2, SINGLE), (low, 4 * K, "threaded")), ways,
                     ours, headline=False, given=config == "multi-HCA",
                     note=NOTES.get(name, ""))
    for config, first in (("multi-HCA", 512), ("multi-port", 8 * K)):
        ways, ours = ultra_bw[config]
        name = f"004-bw-{config.lower()}-from"
        yield Winner(name, "004, 5.3",
                     f"bandwidth: from where on {config} threaded pays",
                     ((8, first // 2, SINGLE), (first, 2 * M, "threaded")),
                     {key: ways[key] for key in (SINGLE, "threaded")}, ours,
                     rate=True, headline=False, note=NOTES.get(name, ""))


def figures():
    return [*node_figures(), *collective_figures(), *seed_002_figures(),
            *seed_003_figures(), *seed_004_figures()]


def rows():
    return [*seed_000_rows(), *seed_002_rows(), *seed_003_rows(),
            *seed_004_rows()]
