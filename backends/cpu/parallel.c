// Within a part there is one thread: OpenMP's regions do not nest.
#include "backends/cpu/parallel.h"

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
