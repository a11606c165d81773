// CBC through its C interface. Columns are the nodes by id; with order constraints the classes follow, whose values are
// the paper's t scaled by the size of the class's component, so that epsilon becomes 1 (Tensat, Section 5.1). CBC sets
// a handler for SIGINT of its own: the signal is held back while it runs, and comes when our handler is back.
// What it takes for equal does not depend on the size of costs, which may be seconds: they are scaled.
#include "core/system/forked_work.h"
#include "egraph/extraction/components.h"
#include "egraph/extraction/ilp.h"
#include "egraph/extraction/problem.h"
#include <coin/Cbc_C_Interface.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct row {
    VEC(int) columns;
    VEC(double) factors;
};
struct program {
    const struct extraction_problem *problem;
    const struct ilp_question *question;
    Cbc_Model *model;
    double scale;   // of costs in the program: a power of two
    struct row row;
};

bool ilp_is_available(void)
{
    return true;
}

static void add_term(struct row *row, uint32_t column, double factor)
{
    vec_push(&row->columns, (int)column);
    vec_push(&row->factors, factor);
}

static void end_row(struct program *p, char sense, double side)
{
    Cbc_addRow(p->model, "", (int)p->row.columns.count, p->row.columns.items, p->row.factors.items, sense, side);
    vec_clear(&p->row.columns);
    vec_clear(&p->row.factors);
}

static void add_members(struct program *p, uint32_t class_id, double factor)
{
    for (uint32_t i = p->problem->first.items[class_id]; i < p->problem->first.items[class_id + 1]; i++)
        add_term(&p->row, p->problem->members.items[i], factor);
}

// The dearest node costs 2^16 or more, and less than twice that: CBC takes 1e-5 more or less for no difference.
static double find_scale(const struct extraction_problem *p)
{
    double dearest =
        LARGEST(double, 0, uint32_t, n, p->n_nodes, isfinite(p->nodes.items[n].cost) ? p->nodes.items[n].cost : 0);
    int exponent;
    frexp(dearest, &exponent);
    return dearest > 0 ? ldexp(1, 17 - exponent) : 1;
}

static void add_columns(struct program *p)
{
    char name[16];
    for (uint32_t n = 0; n < p->problem->n_nodes; n++) {
        double cost = p->problem->nodes.items[n].cost * p->scale;
        snprintf(name, sizeof name, "x%u", n);
        Cbc_addCol(p->model, name, 0, isfinite(cost) ? 1 : 0, isfinite(cost) ? cost : 0, 1, 0, NULL, NULL);
    }
}

static void add_roots(struct program *p)
{
    for (size_t i = 0; i < p->problem->roots.count; i++) {
        add_members(p, p->problem->roots.items[i], 1);
        end_row(p, 'E', 1);
    }
}

// A node that reads its own class is never taken; the sums over both sides would cancel.
static void forbid_node(struct program *p, uint32_t node)
{
    add_term(&p->row, node, 1);
    end_row(p, 'L', 0);
}

static void add_children(struct program *p, uint32_t node)
{
    const uint32_t *children = extraction_children(p->problem, node);
    for (uint32_t i = 0; i < extraction_n_children(p->problem, node); i++) {
        if (ANY(uint32_t, k, i, children[k] == children[i]))
            continue;
        if (children[i] == p->problem->nodes.items[node].class_id) {
            forbid_node(p, node);
            continue;
        }
        add_term(&p->row, node, 1);
        add_members(p, children[i], -1);
        end_row(p, 'L', 0);
    }
}

// t of the reader is above t of the child, within a component, if the node is taken.
static void add_order(struct program *p, const uint32_t *component, const uint32_t *size)
{
    const struct extraction_problem *e = p->problem;
    for (uint32_t c = 0; c < e->n_classes; c++)
        Cbc_addCol(p->model, "", 0, size[component[c]] - 1, 0, 0, 0, NULL, NULL);
    for (uint32_t n = 0; n < e->n_nodes; n++)
        for (uint32_t i = 0; i < extraction_n_children(e, n); i++) {
            uint32_t own = e->nodes.items[n].class_id, child = extraction_children(e, n)[i];
            if (own == child || component[own] != component[child])
                continue;
            add_term(&p->row, e->n_nodes + own, 1);
            add_term(&p->row, e->n_nodes + child, -1);
            add_term(&p->row, n, -(double)size[component[own]]);
            end_row(p, 'G', 1 - (double)size[component[own]]);
        }
}

static void add_order_by_components(struct program *p)
{
    uint32_t n_classes = p->problem->n_classes;
    LOCAL_ARRAY(uint32_t, component, n_classes + 1);
    LOCAL_ZEROS(uint32_t, size, n_classes + 1);
    components_find(p->problem, component);
    for (uint32_t c = 0; c < n_classes; c++)
        size[component[c]]++;
    add_order(p, component, size);
}

static void add_rows(struct program *p)
{
    add_roots(p);
    for (uint32_t n = 0; n < p->problem->n_nodes; n++)
        add_children(p, n);
}

static void set_limits(struct program *p)
{
    Cbc_setLogLevel(p->model, 0);
    Cbc_setParameter(p->model, "logLevel", "0");
    Cbc_setParameter(p->model, "ratioGap", "0");
    Cbc_setParameter(p->model, "allowableGap", "0");
    if (p->question->max_seconds > 0) {
        Cbc_setParameter(p->model, "timeMode", "elapsed");
        Cbc_setMaximumSeconds(p->model, p->question->max_seconds);
    }
}

static void solve_undisturbed(Cbc_Model *model)
{
    sigset_t held, before;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    pthread_sigmask(SIG_BLOCK, &held, &before);
    struct sigaction ours;
    sigaction(SIGINT, NULL, &ours);
    Cbc_solve(model);
    sigaction(SIGINT, &ours, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void read_choice(const struct program *p, const double *values, uint32_t *ret_choice)
{
    for (uint32_t c = 0; c < p->problem->n_classes; c++)
        ret_choice[c] = EXTRACTION_NONE;
    for (uint32_t n = p->problem->n_nodes; n-- > 0;)
        if (values[n] > 0.5)
            ret_choice[p->problem->nodes.items[n].class_id] = n;
}

static enum ilp_status read_answer(const struct program *p, uint32_t *ret_choice, double *ret_bound)
{
    bool is_proved = Cbc_isProvenOptimal(p->model);
    const double *values = Cbc_bestSolution(p->model);
    *ret_bound = -INFINITY;
    if (Cbc_isProvenInfeasible(p->model) || Cbc_isInitialSolveProvenPrimalInfeasible(p->model))
        return ILP_INFEASIBLE;
    if (Cbc_isAbandoned(p->model) || Cbc_isInitialSolveAbandoned(p->model))
        return ILP_FAILED;
    *ret_bound = (is_proved ? Cbc_getObjValue(p->model) : Cbc_getBestPossibleObjValue(p->model)) / p->scale;
    if (!values)
        return ILP_STOPPED;
    read_choice(p, values, ret_choice);
    return is_proved ? ILP_OPTIMAL : ILP_FEASIBLE;
}

static enum ilp_status solve(const struct extraction_problem *p, const struct ilp_question *question,
                             uint32_t *ret_choice, double *ret_bound)
{
    struct program program = {.problem = p, .question = question, .model = Cbc_newModel(), .scale = find_scale(p)};
    add_columns(&program);
    if (question->form == ILP_ORDERED)
        add_order_by_components(&program);
    add_rows(&program);
    set_limits(&program);
    solve_undisturbed(program.model);
    enum ilp_status status = read_answer(&program, ret_choice, ret_bound);
    Cbc_deleteModel(program.model);
    vecs_free(&program, row.columns, row.factors);
    return status;
}

// --- in a copy of this process ---------------------------------------------------------------------------------------

struct asked {
    const struct extraction_problem *problem;
    const struct ilp_question *question;
};
struct answered {
    enum ilp_status status;
    double bound;
    uint32_t choice[];
};

static void solve_in_copy(void *context, void *ret_result)
{
    const struct asked *asked = context;
    struct answered *answered = ret_result;
    answered->status = solve(asked->problem, asked->question, answered->choice, &answered->bound);
}

static enum ilp_status solve_apart(const struct extraction_problem *p, const struct ilp_question *question,
                                   uint32_t *ret_choice, double *ret_bound)
{
    struct asked asked = {p, question};
    struct forked_work work = {solve_in_copy, &asked, question->is_interrupted, question->context};
    size_t size = sizeof(struct answered) + p->n_classes * sizeof *ret_choice;
    struct answered *answered = mem_alloc_zero(size);
    enum ilp_status status = ILP_STOPPED;
    *ret_bound = -INFINITY;
    if (forked_work_run(&work, answered, size)) {
        status = answered->status;
        *ret_bound = answered->bound;
        memcpy(ret_choice, answered->choice, p->n_classes * sizeof *ret_choice);
    }
    mem_free(answered, size);
    return status;
}

enum ilp_status ilp_solve(const struct extraction_problem *p, const struct ilp_question *question, uint32_t *ret_choice,
                          double *ret_bound)
{
    return (question->is_interrupted ? solve_apart : solve)(p, question, ret_choice, ret_bound);
}
