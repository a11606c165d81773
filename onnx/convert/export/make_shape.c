// Operators that move entries as ONNX nodes. Rules know concatenations and splits with two parts; a concatenation of
// concatenations on the same axis is written as one, and so is a split whose parts are split again: runtimes copy at
// each of them.
#include "onnx/convert/export/make_shape.h"

#include "onnx/convert/export/making.h"
#include "onnx/convert/reshape_sizes.h"
#include <string.h>

// --- sizes -----------------------------------------------------------------------------------------------------------
// Sizes that depend on symbols, as values of the written model: what ONNX infers is left to it (0 and -1 of Reshape, 1
// of Expand), and the rest is computed from the shapes of the model's inputs, each function of them once.
// Nodes that compute sizes stand before all others.

#define OPSET_OF_SHAPE_RANGES 15

static bool is_list_of_numbers(const struct exporter *x, uint32_t count, const int64_t *sizes)
{
    return ALL(uint32_t, i, count, !sizes_varies(&x->model->symbols.sizes, sizes[i]));
}

// --- vectors of one size ---------------------------------------------------------------------------------------------

static const char *one_number(struct exporter *x, int64_t value)
{
    return int_initializer(x, 1, &(int64_t){1}, &value);
}

static const char *emit_symbol(struct exporter *x, uint32_t symbol)
{
    const struct imported_symbol *s = &x->model->symbols.list.items[symbol];
    const char *name = fresh_name(x, "size"), *input = x->model->inputs.items[s->input].name;
    bool has_ranges = x->model->opset >= OPSET_OF_SHAPE_RANGES;
    const char *inputs[2] = {has_ranges ? name : fresh_name(x, "shape"), NULL};
    struct onnx_node *n = emit(x, "Shape", 1, &input, inputs[0]);
    if (has_ranges) {
        set_int_attribute(x, n, "start", s->axis);
        set_int_attribute(x, n, "end", s->axis + 1);
        return name;
    }
    inputs[1] = one_number(x, s->axis);
    set_int_attribute(x, emit(x, "Gather", 2, inputs, name), "axis", 0);
    return name;
}

static const char *size_name(struct exporter *x, int64_t size);

// NULL stands for nothing yet.
static const char *combined(struct exporter *x, const char *op, const char *a, const char *b)
{
    if (!a)
        return b;
    const char *name = fresh_name(x, "size");
    emit(x, op, 2, (const char *[]){a, b}, name);
    return name;
}

static const char *emit_sum(struct exporter *x, const struct size_factor *f)
{
    const struct sizes *s = &x->model->symbols.sizes;
    const char *sum = f->constant ? one_number(x, f->constant) : NULL;
    for (uint32_t i = 0; i < s->n_symbols; i++) {
        if (f->weights[i] == 0)
            continue;
        const char *symbol = size_name(x, s->probes[0][i]);
        sum = combined(x, "Add", sum,
                       f->weights[i] == 1 ? symbol : combined(x, "Mul", symbol, one_number(x, f->weights[i])));
    }
    return sum;
}

static const char *emit_factor(struct exporter *x, uint32_t factor)
{
    const struct size_factor *f = &x->model->symbols.sizes.factors[factor];
    const char *sum = factor < x->model->symbols.sizes.n_symbols ? emit_symbol(x, factor) : emit_sum(x, f);
    return f->divisor == 1 ? sum : combined(x, "Div", sum, one_number(x, f->divisor));
}

static const char *emit_product(struct exporter *x, const struct size_form *form)
{
    const struct sizes *s = &x->model->symbols.sizes;
    const char *product = form->constant == 1 ? NULL : one_number(x, form->constant);
    for (uint32_t i = 0; i < s->n_factors; i++) {
        struct size_form alone = {.constant = 1};
        alone.powers[i] = 1;
        for (int j = 0; j < form->powers[i]; j++)
            product = combined(x, "Mul", product, size_name(x, sizes_form_at(s, &alone, s->probes[0])));
    }
    return product;
}

static const char *emit_size(struct exporter *x, int64_t size)
{
    const struct sizes *s = &x->model->symbols.sizes;
    struct size_form form = sizes_form_of(s, size);
    uint32_t n = 0, last = 0;
    for (uint32_t i = 0; i < s->n_factors; i++) {
        n += form.powers[i];
        last = form.powers[i] ? i : last;
    }
    if (n == 0)
        return one_number(x, size);
    return n > 1 || form.constant != 1 ? emit_product(x, &form) : emit_factor(x, last);
}

// --- lists -----------------------------------------------------------------------------------------------------------

static const char *find_made(const struct exporter *x, uint32_t count, const int64_t *sizes)
{
    const struct made_size *made =
        vec_find(&x->sizes, m, m->count == count && memcmp(m->sizes, sizes, count * sizeof *sizes) == 0);
    return made ? made->name : NULL;
}

static const char *remember_made(struct exporter *x, uint32_t count, const int64_t *sizes, const char *name)
{
    vec_push(&x->sizes, ((struct made_size){count, arena_copy_array(x->arena, sizes, count), name}));
    return name;
}

static const char *size_name(struct exporter *x, int64_t size)
{
    const char *made = find_made(x, 1, &size);
    return made ? made : remember_made(x, 1, &size, emit_size(x, size));
}

static const char *emit_list(struct exporter *x, uint32_t count, const int64_t *sizes)
{
    const char **parts = arena_array(x->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        parts[i] = sizes_varies(&x->model->symbols.sizes, sizes[i]) ? size_name(x, sizes[i]) : one_number(x, sizes[i]);
    const char *name = fresh_name(x, "sizes");
    set_int_attribute(x, emit(x, "Concat", count, parts, name), "axis", 0);
    return remember_made(x, count, sizes, name);
}

// A list of more than one is told from one size by its length.
static const char *made_list(struct exporter *x, uint32_t count, const int64_t *sizes)
{
    node_id current = x->current;
    const char *made = find_made(x, count, sizes);
    x->current = 0;
    if (!made)
        made = count == 1 ? size_name(x, *sizes) : emit_list(x, count, sizes);
    x->current = current;
    return made;
}

// The name of a list of sizes, which may depend on symbols: then it is what nodes make. For a reshape of the first
// input, or an expansion of it, sizes that follow from it are left to ONNX.
static const char *list_of_sizes(const struct making *m, uint32_t count, const int64_t *sizes)
{
    return is_list_of_numbers(m->x, count, sizes) ? list_initializer(m, count, sizes) : made_list(m->x, count, sizes);
}

static const char *shape_of_reshape(const struct making *m, uint32_t count, const int64_t *sizes, bool *ret_allows_zero)
{
    struct reshape_sizes said;
    if (is_list_of_numbers(m->x, count, sizes))
        return list_initializer(m, count, sizes);
    if (!reshape_sizes_of(&m->x->model->symbols.sizes, input_type(m, 0), count, sizes, &said))
        return cannot_export(m->x, "a reshape to nothing, beside sizes that are not known");
    *ret_allows_zero |= said.allows_zero;
    return list_of_sizes(m, count, said.list);
}

// A dimension that the input has is 1.
static const char *shape_of_expansion(const struct making *m, uint32_t count, const int64_t *sizes)
{
    const struct type *x = input_type(m, 0);
    int64_t list[MAX_RANK];
    for (uint32_t i = 0; i < count; i++) {
        int own = (int)i - ((int)count - x->rank);
        bool is_kept = own >= 0 && x->dim[own] == sizes[i] && sizes_varies(&m->x->model->symbols.sizes, sizes[i]);
        list[i] = is_kept ? 1 : sizes[i];
    }
    return list_of_sizes(m, count, list);
}

// --- shapes ----------------------------------------------------------------------------------------------------------

// A target shape with a zero keeps that dimension by being allowed to, or by the zero standing at its own place.
void make_reshape(struct making *m, const struct row *row)
{
    const struct attribute_value *shape = attribute_of(m, "shape");
    const struct type *x = input_type(m, 0);
    bool has_zero = false, is_at_place = true;
    for (uint32_t i = 0; i < shape->count; i++) {
        has_zero |= shape->ints[i] == 0;
        is_at_place &= shape->ints[i] != 0 || (i < (uint32_t)x->rank && x->dim[i] == 0);
    }
    bool allows_zero = has_zero && !is_at_place;
    const char *names[2] = {input_name(m, 0), shape_of_reshape(m, shape->count, shape->ints, &allows_zero)};
    if (allows_zero && opset_of(m) < OPSET_OF_ALLOWED_ZEROS)
        cannot_export(m->x, "a reshape to a size that is, or may be, nothing needs operator set 14");
    struct onnx_node *n = emit(m->x, row->onnx, 2, names, m->output);
    if (allows_zero)
        set_int_attribute(m->x, n, "allowzero", 1);
}

void make_broadcast(struct making *m, const struct row *row)
{
    const struct attribute_value *shape = attribute_of(m, "shape");
    const char *names[2] = {input_name(m, 0), shape_of_expansion(m, shape->count, shape->ints)};
    emit(m->x, row->onnx, 2, names, m->output);
}

// The end of a range: one step beyond the last entry, and for a negative step beyond the first a number that means it.
static int64_t end_of(int64_t start, int64_t size, int64_t step)
{
    int64_t end = start + size * step;
    return step < 0 && end < 0 ? -MAX_ELEMENTS : end;
}

// The axes that are really cut.
struct cuts {
    uint32_t n;
    bool has_steps;
    int64_t axes[MAX_RANK], starts[MAX_RANK], ends[MAX_RANK], steps[MAX_RANK];
};

static struct cuts cuts_of(const struct making *m)
{
    const struct attribute_value *start = attribute_of(m, "start"), *size = attribute_of(m, "size"),
                                 *step = attribute_of(m, "step");
    struct cuts c = {0};
    for (uint32_t i = 0; i < start->count; i++) {
        int64_t every = step->count ? step->ints[i] : 1;
        if (every == 1 && size->ints[i] == input_type(m, 0)->dim[i])
            continue;
        c.axes[c.n] = i;
        c.starts[c.n] = start->ints[i];
        c.ends[c.n] = end_of(start->ints[i], size->ints[i], every);
        c.steps[c.n++] = every;
        c.has_steps |= every != 1;
    }
    return c;
}

void make_slice(struct making *m, const struct row *row)
{
    struct cuts c = cuts_of(m);
    if (!is_list_of_numbers(m->x, c.n, c.ends) || !is_list_of_numbers(m->x, c.n, c.starts))
        cannot_export(m->x, "a slice to a size that is not known");
    if (opset_of(m) < 10) {
        if (c.has_steps)
            cannot_export(m->x, "a slice with steps needs operator set 10");
        struct onnx_node *n = emit_plain(m, row->onnx, m->output);
        set_ints_attribute(m->x, n, "axes", c.n, c.axes);
        set_ints_attribute(m->x, n, "ends", c.n, c.ends);
        set_ints_attribute(m->x, n, "starts", c.n, c.starts);
        return;
    }
    const char *names[5] = {input_name(m, 0), list_initializer(m, c.n, c.starts), list_initializer(m, c.n, c.ends),
                            list_initializer(m, c.n, c.axes), NULL};
    if (c.has_steps)
        names[4] = list_initializer(m, c.n, c.steps);
    emit(m->x, row->onnx, c.has_steps ? 5 : 4, names, m->output);
}

static void emit_pad(struct making *m, uint32_t count, const int64_t *pads, double value)
{
    const char *names[3] = {input_name(m, 0), NULL, NULL};
    if (opset_of(m) < 11) {
        struct onnx_node *n = emit(m->x, "Pad", 1, names, m->output);
        set_ints_attribute(m->x, n, "pads", count, pads);
        set_float_attribute(m->x, n, "value", value);
        return;
    }
    names[1] = list_initializer(m, count, pads);
    names[2] = value == 0 ? NULL : real_initializer(m->x, output_type(m)->dtype, value);
    emit(m->x, "Pad", names[2] ? 3 : 2, names, m->output);
}

void make_pad(struct making *m, const struct row *row)
{
    const struct attribute_value *pads = attribute_of(m, "pads");
    emit_pad(m, pads->count, pads->ints, real_of(m, "value"));
}

void make_enlarge(struct making *m, const struct row *row)
{
    const struct type *x = input_type(m, 0), *z = output_type(m);
    int64_t pads[2 * MAX_RANK] = {0};
    for (int i = 2; i < x->rank; i++)
        pads[i] = pads[x->rank + i] = (z->dim[i] - x->dim[i]) / 2;
    emit_pad(m, 2 * (uint32_t)x->rank, pads, 0);
}

void make_trilu(struct making *m, const struct row *row)
{
    int64_t k = int_of(m, "k");
    const char *names[2] = {input_name(m, 0), int_initializer(m->x, 0, NULL, &k)};
    set_int_attribute(m->x, emit(m->x, row->onnx, 2, names, m->output), "upper", int_of(m, "part") == 0);
}

void make_one_hot(struct making *m, const struct row *row)
{
    int64_t depth = int_of(m, "depth");
    const char *names[3] = {input_name(m, 0), int_initializer(m->x, 0, NULL, &depth), input_name(m, 1)};
    set_int_attribute(m->x, emit(m->x, row->onnx, 3, names, m->output), "axis", int_of(m, "axis"));
}

// --- concatenation ---------------------------------------------------------------------------------------------------

typedef VEC(const char *) name_list;

// Is the tensor made by a concatenation on that axis, for this one reader?
static bool is_part_of_concatenation(const struct exporter *x, tensor_id tensor, int64_t axis)
{
    const struct node *n = graph_producer(x->graph, tensor);
    return n->op->id == OP_CONCAT && n->attributes[0].ints[0] == axis && x->wanted.uses[tensor] == 1 &&
           !x->wanted.tensors[tensor] && !x->is_constant[x->graph->tensors.items[tensor].producer];
}

static void collect_joined(struct exporter *x, tensor_id tensor, int64_t axis, name_list *names)
{
    if (!is_part_of_concatenation(x, tensor, axis)) {
        vec_push(names, name_of(x, tensor));
        return;
    }
    node_id n = x->graph->tensors.items[tensor].producer;
    for (uint32_t i = 0; i < x->graph->nodes.items[n].n_inputs; i++)
        collect_joined(x, graph_inputs(x->graph, n)[i], axis, names);
}

bool joins_concatenations(const struct exporter *x, node_id node)
{
    const struct node *n = &x->graph->nodes.items[node];
    return n->op->id == OP_CONCAT && !x->is_constant[node] &&
           ANY(uint32_t, i, n->n_inputs,
               is_part_of_concatenation(x, graph_inputs(x->graph, node)[i], n->attributes[0].ints[0]));
}

void make_concat(struct making *m, const struct row *row)
{
    LOCAL_LIST(name_list, names);
    for (uint32_t i = 0; i < m->node->n_inputs; i++)
        collect_joined(m->x, m->inputs[i], int_of(m, "axis"), &names);
    struct onnx_node *n = emit(m->x, row->onnx, (uint32_t)names.count, names.items, m->output);
    set_int_attribute(m->x, n, "axis", int_of(m, "axis"));
}

// --- split -----------------------------------------------------------------------------------------------------------

bool is_divided_further(const struct exporter *x, node_id split)
{
    const struct node *n = &x->graph->nodes.items[split];
    return ANY(uint32_t, i, n->n_outputs, x->divided_by[n->first_output + i] != NO_NODE);
}

static uint32_t count_parts(const struct exporter *x, node_id split)
{
    const struct node *n = &x->graph->nodes.items[split];
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        node_id further = x->divided_by[n->first_output + i];
        count += further == NO_NODE ? 1 : count_parts(x, further);
    }
    return count;
}

bool divides_part(const struct exporter *x, node_id split)
{
    const struct node *n = &x->graph->nodes.items[split];
    if (n->op->id != OP_SPLIT || x->is_constant[split])
        return false;
    tensor_id whole = graph_inputs(x->graph, split)[0];
    node_id producer = x->graph->tensors.items[whole].producer;
    const struct node *earlier = &x->graph->nodes.items[producer];
    return earlier->op->id == OP_SPLIT && earlier->attributes[0].ints[0] == n->attributes[0].ints[0] &&
           x->wanted.uses[whole] == 1 && count_parts(x, producer) + count_parts(x, split) <= MAX_OUTPUTS;
}

// A split of a part that nobody else reads becomes a part of the split that makes it, which comes later, as nodes are
// written from the last to the first.
static bool leave_to_earlier_split(const struct making *m)
{
    if (!divides_part(m->x, m->id))
        return false;
    m->x->divided_by[m->inputs[0]] = m->id;
    m->x->wanted.tensors[m->inputs[0]] = true;
    return true;
}

// Names and sizes of all parts, in order.
static void collect_parts(struct exporter *x, node_id split, name_list *names, int64_t *ret_sizes)
{
    const struct node *n = &x->graph->nodes.items[split];
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        tensor_id part = n->first_output + i;
        if (x->divided_by[part] != NO_NODE) {
            collect_parts(x, x->divided_by[part], names, ret_sizes);
            continue;
        }
        ret_sizes[names->count] = node_attribute(n, ROLE_PART_SIZES)->ints[i];
        vec_push(names, name_of(x, part));
    }
}

void make_split(struct making *m, const struct row *row)
{
    int64_t sizes[MAX_OUTPUTS];
    bool is_input = opset_of(m) >= 13;
    LOCAL_LIST(name_list, parts);
    if (leave_to_earlier_split(m))
        return;
    collect_parts(m->x, m->id, &parts, sizes);
    if (!is_input && !is_list_of_numbers(m->x, (uint32_t)parts.count, sizes))
        cannot_export(m->x, "a split into sizes that are not known needs operator set 13");
    const char *names[2] = {input_name(m, 0), NULL};
    if (is_input)
        names[1] = list_of_sizes(m, (uint32_t)parts.count, sizes);
    struct onnx_node *n = emit(m->x, row->onnx, is_input ? 2 : 1, names, NULL);
    for (size_t i = 0; i < parts.count; i++)
        add_output(m->x, n, parts.items[i]);
    set_int_attribute(m->x, n, "axis", int_of(m, "axis"));
    if (!is_input)
        set_ints_attribute(m->x, n, "split", (uint32_t)parts.count, sizes);
}
