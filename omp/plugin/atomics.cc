// SPDX-License-Identifier: BSD-3-Clause
//
// A plugin of GCC 12. Locked instructions are atomic in one process only; the
// ranks of a Cluster OpenMP program hold copies of a page. So this pass turns
// the builtins of `omp atomic`, `omp flush`, reductions, _Atomic and
// std::atomic into calls: __atomic_fetch_add_4 becomes
// railomp_atomic_fetch_add_4 of librailomp (omp/runtime/constructs/atomic.c),
// which carries it out where the word has its home.
//
// The pass runs when functions enter SSA form. By then `ompexp` has expanded
// all constructs, also in the functions that it has made of regions, and no
// pass has folded the builtins.

#include "gcc-plugin.h"

#include "plugin-version.h"

#include "tree.h"

#include "function.h"

#include "basic-block.h"

#include "gimple.h"

#include "gimple-iterator.h"

#include "cfgloop.h"
#include "cgraph.h"
#include "context.h"
#include "diagnostic-core.h"
#include "ssa.h"
#include "stringpool.h"
#include "tree-into-ssa.h"
#include "tree-pass.h"

#include <map>
#include <string>

int plugin_is_GPL_compatible; // BSD-3-Clause is

namespace
{

// These ask, or order the compiler only: they touch no memory.
bool is_local(const std::string &name)
{
    return name == "__atomic_always_lock_free" ||
           name == "__atomic_is_lock_free" || name == "__atomic_signal_fence";
}

// A function of the runtime.
tree declare(const std::string &name, tree type)
{
    // as build_fn_decl() does, which knows no type
    tree decl = build_decl(UNKNOWN_LOCATION, FUNCTION_DECL,
                           get_identifier(name.c_str()), type);
    DECL_EXTERNAL(decl) = 1;
    TREE_PUBLIC(decl) = 1;
    DECL_ARTIFICIAL(decl) = 1;
    TREE_NOTHROW(decl) = 1;
    return decl;
}

// The function in place of this builtin, or NULL_TREE.
tree replacement(tree callee)
{
    if (!fndecl_built_in_p(callee, BUILT_IN_NORMAL))
        return NULL_TREE;
    const std::string name = IDENTIFIER_POINTER(DECL_NAME(callee));
    const bool is_atomic = !name.compare(0, 9, "__atomic_");
    if ((!is_atomic && name.compare(0, 7, "__sync_")) || is_local(name))
        return NULL_TREE;
    return declare("railomp_" + name.substr(2), TREE_TYPE(callee));
}

bool replace_builtin(gcall *call)
{
    tree callee = gimple_call_fndecl(call);
    tree decl = callee ? replacement(callee) : NULL_TREE;
    if (!decl)
        return false;
    gimple_call_set_fndecl(call, decl);
    update_stmt(call);
    return true;
}

// .ATOMIC_COMPARE_EXCHANGE (word, expected, desired, bytes, order, failed) is
// what `omp atomic` of a float begins as: a pair of the old value and whether it
// was the expected one.
bool replace_compare_exchange(gimple_stmt_iterator *i, gcall *call)
{
    if (!gimple_call_internal_p(call, IFN_ATOMIC_COMPARE_EXCHANGE))
        return false;
    tree pair = gimple_call_lhs(call), expected = gimple_call_arg(call, 1);
    tree type = TREE_TYPE(expected);
    const unsigned bytes = tree_to_uhwi(TYPE_SIZE_UNIT(type));
    tree decl = declare("railomp_compare_swap_" + std::to_string(bytes),
                        build_function_type_list(type, ptr_type_node, type,
                                                 type, integer_type_node,
                                                 NULL_TREE));
    gcall *swap = gimple_build_call(decl, 4, gimple_call_arg(call, 0), expected,
                                    gimple_call_arg(call, 2),
                                    gimple_call_arg(call, 4));
    gimple_set_location(swap, gimple_location(call));
    gimple_move_vops(swap, call);
    if (!pair) {
        gsi_replace(i, swap, true);
        return true;
    }
    tree part = TREE_TYPE(TREE_TYPE(pair));
    tree old = make_ssa_name(type), same = make_ssa_name(boolean_type_node);
    tree first = make_ssa_name(part), second = make_ssa_name(part);
    gimple_call_set_lhs(swap, old);
    gsi_insert_before(i, swap, GSI_SAME_STMT);
    for (gassign *a : {gimple_build_assign(same, EQ_EXPR, old, expected),
                       gimple_build_assign(first, NOP_EXPR, old),
                       gimple_build_assign(second, NOP_EXPR, same)})
        gsi_insert_before(i, a, GSI_SAME_STMT);
    gsi_replace(i, gimple_build_assign(pair, COMPLEX_EXPR, first, second),
                true);
    return true;
}

// The function of a flush, or NULL_TREE.
tree flush_in(gimple *statement)
{
    gcall *call = dyn_cast<gcall *>(statement);
    tree callee = call ? gimple_call_fndecl(call) : NULL_TREE;
    return callee && id_equal(DECL_NAME(callee), "railomp_sync_synchronize")
               ? callee
               : NULL_TREE;
}

// A loop with a flush may wait for what another thread writes. Programs go on
// from there without a flush, which processors forgive. So one is added where
// the loop is left.
bool flush_behind_loops(function *fun)
{
    std::map<class loop *, tree> waiting;
    basic_block bb;
    FOR_EACH_BB_FN(bb, fun)
    for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i); gsi_next(&i))
        if (tree flush = flush_in(gsi_stmt(i)))
            if (loop_outer(bb->loop_father))
                waiting[bb->loop_father] = flush;
    for (auto found : waiting)
        for (edge e : get_loop_exit_edges(found.first))
            if (!(e->flags & (EDGE_ABNORMAL | EDGE_EH)))
                gsi_insert_on_edge(e, gimple_build_call(found.second, 0));
    if (waiting.empty())
        return false;
    gsi_commit_edge_inserts();
    mark_virtual_operands_for_renaming(fun);
    return true;
}

const pass_data about = {
    GIMPLE_PASS, "railomp_atomics", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa,
    0,           0,                 0,             0,
};

class atomics : public gimple_opt_pass
{
  public:
    explicit atomics(gcc::context *context) : gimple_opt_pass(about, context) {}

    unsigned execute(function *fun) final override
    {
        bool changed = false;
        basic_block bb;
        FOR_EACH_BB_FN(bb, fun)
        for (gimple_stmt_iterator i = gsi_start_bb(bb); !gsi_end_p(i);
             gsi_next(&i)) {
            gcall *call = dyn_cast<gcall *>(gsi_stmt(i));
            if (call && (replace_builtin(call) ||
                         replace_compare_exchange(&i, call)))
                changed = true;
        }
        const bool added = loops_for_fn(fun) && flush_behind_loops(fun);
        if (changed || added)
            cgraph_edge::rebuild_edges();
        return added ? TODO_update_ssa : 0;
    }
};

} // namespace

int plugin_init(plugin_name_args *args, plugin_gcc_version *version)
{
    if (!plugin_default_version_check(version, &gcc_version)) {
        error("this plugin was built for GCC %s, not for GCC %s",
              gcc_version.basever, version->basever);
        return 1;
    }
    register_pass_info info = {new atomics(g), "ssa", 1,
                               PASS_POS_INSERT_AFTER};
    register_callback(args->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
    return 0;
}
