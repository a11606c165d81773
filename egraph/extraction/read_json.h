// E-graphs as JSON, in the format of the EGRAPHS community's extraction benchmark:
//   {"nodes": {NODE: {"op": TEXT, "cost": NUMBER, "eclass": CLASS, "children": [NODE, ...]}, ...},
//    "root_eclasses": [CLASS, ...]}
// A child names a node and means its class. A cost that is left out is 1, children that are left out are none; other
// fields are passed over.
#pragma once
#include "core/memory/arena.h"
#include "egraph/extraction/problem.h"

struct error;

struct extraction_names {
    struct arena arena;
    VEC(const char *) nodes, classes;   // by id
};
// Nodes are numbered in the order of the file, classes in that of their first nodes. False: `error` names the file and
// the place, EXIT_UNSUPPORTED when this build has no JSON reader; nothing is to be freed.
bool extraction_read_json(const char *path, struct extraction_problem *ret_problem, struct extraction_names *ret_names,
                          struct error *error);
void extraction_names_free(struct extraction_names *names);
