// Properties: equations between terms that hold for all tensors and attribute values (TASO paper, Section 3).
//
//     (property split0-of-concat
//       (comment "The first part of a concatenation is its first operand.")
//       (equal (split0 $i (concat $i ?x ?y)) ?x)
//       (where (defined (concat $i ?x ?y))))
//
// A property is a strong (Kleene) equality: either both sides are ill-typed, or both are well-typed, of equal type,
// split trees and values. What is true only where something is well-typed says so by (defined TERM) under `where`, next
// to conditions as rules have them; (plain ?x) says that no axis of ?x has a split tree. Variables that stand on one
// side only are allowed: they are universal.
//
// What no argument proves for all sizes may be taken as true by a sentence that says why it is, (axiom "..."); whatever
// rests on it names it.
#pragma once
#include "core/system/shared_files.h"
#include "substitutions/rule.h"

#define MAX_GUARDS 8

struct property {
    const char *name, *comment;   // comment: "" when there is none
    const char *axiom;            // why it is taken as true; NULL: it is to be proved
    struct pattern pattern;
    term_id left, right;
    uint32_t n_conditions, n_guards;
    const struct condition *conditions;
    term_id guards[MAX_GUARDS];   // terms that must be well-typed
    uint32_t plain;               // one bit per variable that must have no split trees
    const char *file;
    unsigned line, column;
};
struct property_set {
    struct arena *arena;
    VEC(struct property *) properties;
};

void property_set_init(struct property_set *set, struct arena *arena);
void property_set_free(struct property_set *set);
// Adds the properties of a file. Names must be unique in the set.
bool property_set_read(struct property_set *set, const char *path, struct error *error);
// The same from text; `file` names it in errors.
bool property_set_parse(struct property_set *set, const char *file, const char *text, size_t size, struct error *error);
// Reads every *.properties file of a folder, in the order of their names.
bool property_set_read_folder(struct property_set *set, const char *folder, struct error *error);
// The folder of the properties that come with the programs; as shared_file_find.
const char *property_standard_folder(char buffer[SHARED_PATH_SIZE]);
const struct property *property_find(const struct property_set *set, const char *name);   // NULL: none
void property_print(struct text *out, const struct property *p);                          // parse after print is equal
