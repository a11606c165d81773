// The names that a file gives to nodes and classes.
#include "egraph/extraction/names.h"

#include "egraph/extraction/read_json.h"

void extraction_names_free(struct extraction_names *names)
{
    vec_free(&names->nodes);
    vec_free(&names->operators);
    vec_free(&names->classes);
    arena_free(&names->arena);
}
