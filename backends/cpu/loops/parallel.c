// Within a part there is one thread: OpenMP's regions do not nest.
#include "backends/cpu/loops/parallel.h"

#include "backends/cpu/loops/kernel_scope.h"
#include <stdatomic.h>

// Whoever runs the parts orders them. The numbers show it to sanitizers, which see nothing of others' code.
struct ordered {
    parallel_function *function;
    void *argument;
    atomic_int n_begun, n_ended;
};

static void run_in_order(void *context, int part, int parts)
{
    struct ordered *o = context;
    atomic_load_explicit(&o->n_begun, memory_order_acquire);
    o->function(o->argument, part, parts);
    atomic_fetch_add_explicit(&o->n_ended, 1, memory_order_release);
}

__attribute__((no_sanitize("thread"))) static void run_by_openmp(int parts, struct ordered *o)
{
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++)
        run_in_order(o, part, parts);
}

void parallel_for(const struct workers *w, int parts, parallel_function *function, void *argument)
{
    struct ordered o = {function, argument, 0, 0};
    if (parts == 1) {
        function(argument, 0, 1);
        return;
    }
    atomic_store_explicit(&o.n_begun, parts, memory_order_release);
    if (w && w->run)
        w->run(w->context, parts, run_in_order, &o);
    else
        run_by_openmp(parts, &o);
    atomic_load_explicit(&o.n_ended, memory_order_acquire);
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
