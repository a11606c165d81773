// Within a part there is one thread: OpenMP's regions do not nest.
#include "backends/cpu/parallel.h"

#include "backends/cpu/kernel_scope.h"
#include <stddef.h>

void parallel_for(const struct workers *w, int parts, parallel_function *function, void *argument)
{
    if (parts == 1) {
        function(argument, 0, 1);
    } else if (w && w->run) {
        w->run(w->context, parts, function, argument);
    } else {
#pragma omp parallel for num_threads(parts) schedule(static, 1)
        for (int part = 0; part < parts; part++)
            function(argument, part, parts);
    }
}

struct scoped {
    parallel_function *function;
    void *argument;
};

static void run_in_scope(void *context, int part, int parts)
{
    const struct scoped *s = context;
    struct kernel_scope scope = kernel_scope_begin(1);
    s->function(s->argument, part, parts);
    kernel_scope_end(&scope);
}

void parallel_for_library(const struct workers *w, int parts, parallel_function *function, void *argument)
{
    struct scoped scoped = {function, argument};
    parallel_for(w, parts, run_in_scope, &scoped);
}
