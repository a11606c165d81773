// Graphs as tests write them: in the text form, or as `x y = f32 4 8; w = weight f32 8 8; a b = split 1 :sizes 4 4 x; ...`.
#pragma once
#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/text.h"
#include "graph/graph.h"
#include "graph/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// `names = said`: leaves, each with the number that is said or the next one of its kind, or what an operator gives.
static inline void print_let(struct text *out, char *names, char *said, int *next_of_kind)
{
    enum dtype ignored;
    char first[16] = "", *rest = NULL;
    sscanf(said, "%15s", first);
    bool is_weight = strcmp(first, "weight") == 0;
    if (!is_weight && strcmp(first, "input") != 0 && !dtype_from_name(first, &ignored)) {
        text_printf(out, strchr(names, ' ') ? "(let (%s) (%s))" : "(let %s (%s))", names, said);
        return;
    }
    said += is_weight || strcmp(first, "input") == 0 ? strlen(first) : 0;
    int number = (int)strtol(said, &rest, 10);
    next_of_kind[is_weight] = rest == said ? next_of_kind[is_weight] : number;
    for (char *at, *name = strtok_r(names, " ", &at); name; name = strtok_r(NULL, " ", &at))
        text_printf(out, "(let %s (%s %d) (%s))", name, is_weight ? "weight" : "input", next_of_kind[is_weight]++,
                    rest);
}

// Outputs are what `output a b` behind the statements names, or the last name.
static inline void graph_text_complete(struct text *out, const char *statements)
{
    TEXT(copy);
    int next_of_kind[2] = {0};
    const char *outputs = "";
    text_add(&copy, statements);
    text_add(out, "(graph ");
    for (char *at, *s = strtok_r(copy.chars, ";", &at); s; s = strtok_r(NULL, ";", &at)) {
        s += strspn(s, " \n");
        char *equals = strstr(s, " = ");
        if (equals) {
            *equals = '\0';
            outputs = strrchr(s, ' ') ? strrchr(s, ' ') + 1 : s;
            print_let(out, s, equals + strlen(" = "), next_of_kind);
        } else if (*s) {
            outputs = s + strlen("output ");
        }
    }
    text_printf(out, " (output %s))", outputs);
}

// So many blocks of statements one behind the other: `#` in it is the number of each, from 1 on, and `@` the next one's.
static inline void graph_text_add_blocks(struct text *out, const char *block, int n)
{
    for (int i = 1; i <= n; i++)
        for (const char *c = block; *c; c++)
            if (*c == '#' || *c == '@')
                text_printf(out, "%d", *c == '#' ? i : i + 1);
            else
                text_add_n(out, c, 1);
}

// A new graph in `a`.
static inline bool graph_read_text(struct graph *ret_graph, struct arena *a, const char *text, struct error *error)
{
    TEXT(complete);
    const struct sexp *list;
    graph_init(ret_graph, a);
    if (*text == '(')
        text_add(&complete, text);
    else
        graph_text_complete(&complete, text);
    return sexp_parse(a, "graph", complete.chars, complete.count, &list, error) &&
           graph_parse(&list->items[0], "graph", ret_graph, error);
}
