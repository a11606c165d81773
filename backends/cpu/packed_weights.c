// Weights that somebody has packed before, for the kernels that pack one operand of theirs: taken as they are where
// they stand as the kernel wants them. Only then is the plain weight not asked for.
#include "backends/cpu/cpu_internal.h"
#include "backends/cpu/kept_memory.h"

bool cpu_packs_whole_weight(const struct plan *plan, const struct step *step)
{
    const struct view *v = &step->operands[CPU_PACKED_OPERAND];
    const struct plan_memory *memory = &plan->memory.items[v->memory];
    return memory->place == MEMORY_WEIGHT && memory->dtype == DTYPE_F32 && v->offset == 0 &&
           view_elements(v) == memory->elements && view_has_layout(v, LAYOUT_ROWS);
}

const void *cpu_find_packed(const struct step_request *r, const struct packing *packing, size_t bytes)
{
    if (!r->kept || !cpu_packs_whole_weight(r->plan, r->step))
        return NULL;
    return kept_memory_find_packed(r->kept, r->step->operands[CPU_PACKED_OPERAND].memory, packing, bytes);
}

bool cpu_provide_plain(const struct step_request *r)
{
    return !r->kept || kept_memory_provide(r->kept, r->step->operands[CPU_PACKED_OPERAND].memory, r->error);
}
