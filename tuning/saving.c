// The larger the file, the rarer.
#include "tuning/saving.h"

#include "backends/backend.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include "tuning/limits.def"

void saving_consider(struct saving *s, struct backend *b)
{
    struct error ignored = {0};
    double started = clock_seconds();
    if (started - s->last < TIMES_ITS_DURATION * s->took)
        return;
    backend_save_costs(b, &ignored);
    s->last = clock_seconds();
    s->took = s->last - started;
}
