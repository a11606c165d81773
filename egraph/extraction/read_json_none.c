// A build without jansson reads no JSON, and says so.
#include "core/text/error.h"
#include "egraph/extraction/read_json.h"

void extraction_names_free(struct extraction_names *names)
{
}

bool extraction_read_json(const char *path, struct extraction_problem *ret_problem, struct extraction_names *ret_names,
                          struct error *error)
{
    return error_set_code(error, EXIT_UNSUPPORTED, path, "this build reads no JSON: it was made without jansson");
}
