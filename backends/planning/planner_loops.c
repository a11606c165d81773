// How code becomes loops: neighbours of one shape join one loop, stages share outer axes.
#include "backends/planning/planner_loops.h"

#include "backends/planning/planner.h"

#include "backends/planning/planner_concat.h"
#include "backends/planning/planner_epilogue.h"
#include "backends/planning/planner_layouts.h"
#include "core/memory/arena.h"
#include <string.h>

// A loop with more than this gains nothing from growing further.
#define LOOP_ENOUGH_OPERANDS 24
#define LOOP_ENOUGH_INSTRUCTIONS 120

// --- building loops --------------------------------------------------------------------------------------------------

static void *grown(struct arena *a, const void *items, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return (void *)items;
    *capacity = *capacity ? 2 * *capacity : 4;
    void *more = arena_alloc(a, (size_t)*capacity * size, 16);
    if (count)
        memcpy(more, items, (size_t)count * size);
    return more;
}

uint16_t loop_add_operand(struct planner *p, struct loop *loop, const struct loop_access *access)
{
    loop->operands = grown(p->arena, loop->operands, loop->n_operands, &loop->operand_capacity, sizeof *access);
    loop->operands[loop->n_operands] = *access;
    return (uint16_t)loop->n_operands++;
}

uint16_t loop_add_instruction(struct planner *p, struct loop *loop, struct instruction instruction)
{
    loop->instructions =
        grown(p->arena, loop->instructions, loop->n_instructions, &loop->instruction_capacity, sizeof instruction);
    loop->instructions[loop->n_instructions] = instruction;
    return (uint16_t)(VALUE_OF_INSTRUCTION | loop->n_instructions++);
}

void loop_add_result(struct planner *p, struct loop *loop, uint16_t value, const struct loop_access *to)
{
    loop->results = grown(p->arena, loop->results, loop->n_results, &loop->result_capacity, sizeof *loop->results);
    loop->results[loop->n_results++] = (struct loop_result){value, *to};
}

struct loop *planner_add_loop(struct planner *p, struct step *step, int rank, int n_reduced, const int64_t *dim)
{
    struct loop *more = arena_array(p->arena, struct loop, step->n_loops + 1);
    if (step->n_loops)
        memcpy(more, step->loops, sizeof *more * (size_t)step->n_loops);
    step->loops = more;
    struct loop *loop = &more[step->n_loops++];
    loop->rank = rank;
    loop->n_reduced = n_reduced;
    memcpy(loop->dim, dim, sizeof *dim * (size_t)(rank + n_reduced));
    return loop;
}

struct loop_access access_of_view(const struct view *v)
{
    struct loop_access access = {.memory = v->memory,
                                 .dtype = v->dtype,
                                 .offset = v->offset,
                                 .block = v->block,
                                 .block_variable = v->block_axis};
    memcpy(access.stride, v->stride, sizeof v->stride[0] * (size_t)v->rank);
    return access;
}

// Whole blocks, from the beginning of one on, along one variable of the result.
bool planner_can_read_blocks(const struct affine_read *read, const struct view *v, const int64_t *dim)
{
    int variable = -1;
    for (int i = 0; i < read->n_terms; i++) {
        if (read->terms[i].axis != v->block_axis)
            continue;
        if (variable >= 0 || read->terms[i].coefficient != 1)
            return false;
        variable = read->terms[i].variable;
    }
    for (int i = 0; i < read->n_terms; i++)
        if (read->terms[i].variable == variable && read->terms[i].axis != v->block_axis)
            return false;
    return variable >= 0 && dim[variable] % v->block == 0 && read->base[v->block_axis] % v->block == 0;
}

struct loop_access planner_access_of_read(const struct affine_read *read, const struct view *v)
{
    struct loop_access access = {.memory = v->memory, .dtype = v->dtype, .offset = v->offset, .block = v->block};
    for (int a = 0; a < v->rank; a++)
        access.offset += read->base[a] / (v->block && a == v->block_axis ? v->block : 1) * v->stride[a];
    for (int i = 0; i < read->n_terms; i++) {
        access.stride[read->terms[i].variable] += read->terms[i].coefficient * v->stride[read->terms[i].axis];
        if (v->block && read->terms[i].axis == v->block_axis)
            access.block_variable = read->terms[i].variable;
    }
    return access;
}

struct view planner_view_for_read(struct planner *p, tensor_id t, const struct affine_read *read, const int64_t *dim)
{
    struct view v = planner_view(p, t, LAYOUT_ANY);
    if (v.block && !planner_can_read_blocks(read, &v, dim))
        v = planner_dense_instead(p, t, LAYOUT_CHANNELS_LAST);
    return v;
}

// So that equal work has equal text, whatever order the graph had.
static void sort_commutative_operands(struct instruction *i)
{
    bool is_commutative =
        i->kind == INSTRUCTION_APPLY && (i->fn == FN_ADD || i->fn == FN_MUL || i->fn == FN_MAX || i->fn == FN_MIN);
    if (is_commutative && i->a > i->b) {
        uint16_t a = i->a;
        i->a = i->b;
        i->b = a;
    }
}

uint16_t planner_append_code(struct planner *p, struct loop *loop, const struct stage_code *stage,
                             const uint16_t *reads)
{
    uint16_t values[CODE_MAX_INSTRUCTIONS];
#define VALUE(v) ((v)&VALUE_OF_INSTRUCTION ? values[(v) & ~VALUE_OF_INSTRUCTION] : reads[v])
    for (int i = 0; i < stage->n_instructions; i++) {
        struct instruction at = stage->instructions[i];
        if (at.kind != INSTRUCTION_CONSTANT) {
            int arity = at.kind == INSTRUCTION_APPLY ? function_arity((enum scalar_function)at.fn) : 1;
            at.a = VALUE(at.a);
            at.b = arity > 1 ? VALUE(at.b) : 0;
            at.c = arity > 2 ? VALUE(at.c) : 0;
            sort_commutative_operands(&at);
        }
        values[i] = loop_add_instruction(p, loop, at);
    }
    return VALUE(stage->result);
#undef VALUE
}

// --- storing what a loop has computed --------------------------------------------------------------------------------

static bool covers_domain(const struct loop *loop, const struct loop_access *access)
{
    for (int i = 0; i < loop->rank; i++)
        if (loop->dim[i] != 1 && access->stride[i] <= 0)
            return false;
    return access->block == 0;
}

// Dense strides with the axes in the order of the first operand that has all of them; row-major when none has.
static struct view view_like_operands(const struct planner *p, const struct loop *loop, enum dtype dtype,
                                      bool *ret_depends)
{
    struct type type = type_make(dtype, loop->rank, loop->dim);
    struct view result = view_dense(NO_MEMORY, &type, LAYOUT_ROWS), dense;
    *ret_depends = false;
    for (int i = 0; i < loop->n_operands; i++) {
        struct view like = result;
        *ret_depends |= p->plan->memory.items[loop->operands[i].memory].chooser != NO_TENSOR;
        memcpy(like.stride, loop->operands[i].stride, sizeof like.stride[0] * (size_t)loop->rank);
        if (covers_domain(loop, &loop->operands[i]) && view_dense_like(&like, &dense))
            return dense;
    }
    return result;
}

static enum layout layout_of_view(const struct view *v, unsigned mask)
{
    for (enum layout l = 0; l < LAYOUT_COUNT; l++)
        if (((mask | LAYOUT_BIT(LAYOUT_ROWS)) & LAYOUT_BIT(l)) && view_has_layout(v, l))
            return l;
    return LAYOUT_ROWS;
}

// A choice where there is one. Else what it becomes must not depend on choices: not on what a reader wants in this
// plan, nor on how operands stand that are choices.
void planner_store_value(struct planner *p, tensor_id t, enum layout layout)
{
    struct tensor_state *s = &p->tensors[t];
    const struct type *type = graph_type(p->g, t);
    bool depends;
    struct view like = view_like_operands(p, &p->plan->steps.items[s->step].loops[0], type->dtype, &depends), v;
    unsigned mask = planner_layouts(p, p->g->tensors.items[t].producer);
    if (mask || planner_whole_of(p, t)) {
        v = planner_allocate_chosen(
            p, t, type, planner_choose(p, t, mask, layout == LAYOUT_ANY ? layout_of_view(&like, mask) : layout));
    } else {
        v = planner_allocate(p, type, layout == LAYOUT_ANY || p->target->layouts ? LAYOUT_ROWS : layout);
        if (layout == LAYOUT_ANY && !depends)
            memcpy(v.stride, like.stride, sizeof v.stride);
    }
    struct loop_access to = access_of_view(&v);
    loop_add_result(p, &p->plan->steps.items[s->step].loops[0], s->value, &to);
    planner_note_writer(p, v.memory, s->step);
    s->standing = TENSOR_STORED;
    s->view = v;
}

// --- element-wise groups ---------------------------------------------------------------------------------------------

static bool has_domain(const struct loop *loop, const struct type *type)
{
    return loop->rank == type->rank && memcmp(loop->dim, type->dim, sizeof type->dim[0] * (size_t)type->rank) == 0;
}

// The open group that computes what the read gives at the same place; NO_STEP when there is none.
static uint32_t open_group_of(const struct planner *p, node_id node, const struct stage_code *stage, int read)
{
    tensor_id t = graph_inputs(p->g, node)[stage->reads[read].tensor], z = p->g->nodes.items[node].first_output;
    const struct tensor_state *s = &p->tensors[t];
    if (s->standing != TENSOR_IN_LOOP || p->plan->steps.items[s->step].is_pinned ||
        !has_domain(&p->plan->steps.items[s->step].loops[0], &stage->type) ||
        !read_is_identity(&stage->reads[read], graph_type(p->g, t), &stage->type) ||
        s->is_constant != p->tensors[z].is_constant)
        return NO_STEP;
    return s->step;
}

static bool would_be_too_large(const struct loop *a, const struct loop *b, const struct stage_code *stage)
{
    return a->n_operands + b->n_operands + stage->n_reads > LOOP_ENOUGH_OPERANDS ||
           a->n_instructions + b->n_instructions + stage->n_instructions > LOOP_ENOUGH_INSTRUCTIONS;
}

static bool is_same_access(const struct loop_access *a, const struct loop_access *b, int rank)
{
    return a->memory == b->memory && a->offset == b->offset && a->dtype == b->dtype && a->block == b->block &&
           a->block_variable == b->block_variable &&
           memcmp(a->stride, b->stride, sizeof a->stride[0] * (size_t)rank) == 0;
}

static uint16_t operand_once(struct planner *p, struct loop *loop, const struct loop_access *access)
{
    for (int i = 0; i < loop->n_operands; i++)
        if (is_same_access(&loop->operands[i], access, loop->rank))
            return (uint16_t)i;
    return loop_add_operand(p, loop, access);
}

// All of group `from` moves into group `to`; nobody outside reads `from` yet.
static void merge_groups(struct planner *p, uint32_t to, uint32_t from)
{
    struct loop *target = &p->plan->steps.items[to].loops[0], *source = &p->plan->steps.items[from].loops[0];
    uint16_t *operands = arena_array(p->arena, uint16_t, source->n_operands + 1);
    uint16_t first = (uint16_t)(VALUE_OF_INSTRUCTION | target->n_instructions);
    for (int i = 0; i < source->n_operands; i++)
        operands[i] = operand_once(p, target, &source->operands[i]);
#define MOVED(v) ((v)&VALUE_OF_INSTRUCTION ? (uint16_t)(first + ((v) & ~VALUE_OF_INSTRUCTION)) : operands[v])
    for (int i = 0; i < source->n_instructions; i++) {
        struct instruction at = source->instructions[i];
        if (at.kind == INSTRUCTION_APPLY) {
            int arity = function_arity((enum scalar_function)at.fn);
            at.a = MOVED(at.a);
            at.b = arity > 1 ? MOVED(at.b) : 0;
            at.c = arity > 2 ? MOVED(at.c) : 0;
            sort_commutative_operands(&at);
        }
        loop_add_instruction(p, target, at);
    }
    for (node_id n = p->plan->steps.items[from].first_node, next; n != NO_NODE; n = next) {
        struct tensor_state *s = &p->tensors[p->g->nodes.items[n].first_output];
        next = p->plan->next_node[n];
        s->value = MOVED(s->value);
        s->step = to;
        p->plan->next_node[n] = NO_NODE;
        planner_attach_node(p, to, n);
    }
#undef MOVED
    p->plan->steps.items[from].n_loops = 0;
    p->plan->steps.items[from].first_node = NO_NODE;
}

static uint32_t group_for(struct planner *p, node_id node, const struct stage_code *stage)
{
    uint32_t group = NO_STEP;
    for (int i = 0; i < stage->n_reads; i++) {
        uint32_t other = open_group_of(p, node, stage, i);
        if (other == NO_STEP || other == group)
            continue;
        static const struct loop nothing;
        const struct loop *mine = group == NO_STEP ? &nothing : &p->plan->steps.items[group].loops[0];
        if (would_be_too_large(mine, &p->plan->steps.items[other].loops[0], stage))
            continue;
        if (group == NO_STEP)
            group = other;
        else
            merge_groups(p, group, other);
    }
    return group;
}

static uint32_t open_group(struct planner *p, node_id node, const struct stage_code *stage)
{
    bool is_constant = p->tensors[p->g->nodes.items[node].first_output].is_constant;
    uint32_t id = planner_open_step(p, p->target->loops, NO_NODE, is_constant);
    planner_add_loop(p, &p->plan->steps.items[id], stage->type.rank, 0, stage->type.dim);
    return id;
}

// What must be stored for this node is stored before the group is chosen: that may pin groups.
static void join_group(struct planner *p, node_id node, const struct stage_code *stage)
{
    uint16_t reads[CODE_MAX_READS];
    uint32_t group = group_for(p, node, stage);
    struct view views[CODE_MAX_READS];
    bool is_inside[CODE_MAX_READS];
    for (int i = 0; i < stage->n_reads; i++) {
        is_inside[i] = group != NO_STEP && open_group_of(p, node, stage, i) == group;
        tensor_id t = graph_inputs(p->g, node)[stage->reads[i].tensor];
        if (is_inside[i])
            reads[i] = p->tensors[t].value;
        else
            views[i] = planner_view_for_read(p, t, &stage->reads[i], stage->type.dim);
    }
    // A tensor of the group read at other places had to be stored, which pinned the group.
    if (group == NO_STEP || p->plan->steps.items[group].is_pinned)
        group = open_group(p, node, stage);
    for (int i = 0; i < stage->n_reads; i++) {
        tensor_id t = graph_inputs(p->g, node)[stage->reads[i].tensor];
        if (is_inside[i] && p->tensors[t].step == group && p->tensors[t].standing == TENSOR_IN_LOOP)
            continue;
        if (is_inside[i])
            views[i] = planner_view_for_read(p, t, &stage->reads[i], stage->type.dim);
        struct loop_access access = planner_access_of_read(&stage->reads[i], &views[i]);
        reads[i] = operand_once(p, &p->plan->steps.items[group].loops[0], &access);
    }
    struct tensor_state *z = &p->tensors[p->g->nodes.items[node].first_output];
    z->value = planner_append_code(p, &p->plan->steps.items[group].loops[0], stage, reads);
    z->standing = TENSOR_IN_LOOP;
    z->step = group;
    planner_attach_node(p, group, node);
    planner_move_to_end(p, group);
}

// --- stages ----------------------------------------------------------------------------------------------------------

// The leading axes that all stages share, such that a stage reads another one only at its own place on them.
static int shared_axes(const struct code *code)
{
    int shared = MAX_RANK;
    for (int i = 0; i < code->n_stages; i++) {
        const struct type *first = &code->stages[0].type, *t = &code->stages[i].type;
        int n = 0;
        while (n < first->rank && n < t->rank && first->dim[n] == t->dim[n])
            n++;
        shared = n < shared ? n : shared;
    }
    for (int i = 0; i < code->n_stages; i++)
        for (int r = 0; r < code->stages[i].n_reads; r++) {
            const struct affine_read *read = &code->stages[i].reads[r];
            int aligned = 0;
            if (read->tensor < code->n_inputs)
                continue;
            for (int k = 0; k < read->n_terms; k++)
                if (read->terms[k].axis == aligned && read->terms[k].variable == aligned &&
                    read->terms[k].coefficient == 1)
                    aligned++;
            shared = aligned < shared ? aligned : shared;
        }
    return code->n_stages > 1 ? shared : 0;
}

// An output that is a part stands where it belongs.
static struct view allocate_stage(struct planner *p, node_id node, const struct code *code, int stage)
{
    const struct node *n = &p->g->nodes.items[node];
    const struct type *type = &code->stages[stage].type;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (code->outputs[i] == stage && p->tensors[n->first_output + i].part)
            return planner_allocate_chosen(p, n->first_output + i, type,
                                           planner_choose(p, n->first_output + i, 0, LAYOUT_ROWS));
    return planner_allocate(p, type, LAYOUT_ROWS);
}

static bool plan_stages(struct planner *p, node_id node, const struct code *code)
{
    const struct node *n = &p->g->nodes.items[node];
    struct view *views = arena_array(p->arena, struct view, code->n_inputs + code->n_stages);
    for (int i = 0; i < code->n_inputs; i++) {
        views[i] = planner_view(p, graph_inputs(p->g, node)[i], LAYOUT_ANY);
        if (views[i].block)
            views[i] = planner_dense_instead(p, graph_inputs(p->g, node)[i], LAYOUT_CHANNELS_LAST);
    }
    uint32_t id = planner_open_step(p, p->target->loops, node, p->tensors[n->first_output].is_constant);
    for (int i = 0; i < code->n_stages; i++) {
        const struct stage_code *stage = &code->stages[i];
        struct view *result = &views[code->n_inputs + i];
        int64_t dim[LOOP_MAX_RANK];
        uint16_t reads[CODE_MAX_READS];
        memcpy(dim, stage->type.dim, sizeof dim[0] * (size_t)stage->type.rank);
        memcpy(dim + stage->type.rank, stage->reduced, sizeof dim[0] * (size_t)stage->n_reduced);
        struct loop *loop = planner_add_loop(p, &p->plan->steps.items[id], stage->type.rank, stage->n_reduced, dim);
        for (int r = 0; r < stage->n_reads; r++) {
            struct loop_access access = planner_access_of_read(&stage->reads[r], &views[stage->reads[r].tensor]);
            reads[r] = loop_add_operand(p, loop, &access);
        }
        uint16_t value = planner_append_code(p, loop, stage, reads);
        *result = allocate_stage(p, node, code, i);
        planner_note_writer(p, result->memory, id);
        struct loop_access to = access_of_view(result);
        loop_add_result(p, loop, value, &to);
    }
    p->plan->steps.items[id].n_shared = shared_axes(code);
    planner_attach_node(p, id, node);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        struct tensor_state *s = &p->tensors[n->first_output + i];
        s->standing = TENSOR_STORED;
        s->view = views[code->n_inputs + code->outputs[i]];
        s->step = id;
    }
    return true;
}

bool planner_plan_code(struct planner *p, node_id node, const struct code *code)
{
    if (code->kind == CODE_STAGES)
        return plan_stages(p, node, code);
    if (planner_join_epilogue(p, node))
        return true;
    join_group(p, node, &code->stages[0]);
    return true;
}
