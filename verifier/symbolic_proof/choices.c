// The last answer that has a successor is changed for it, and what came behind it is asked anew.
#include "verifier/symbolic_proof/choices.h"

#include <assert.h>

void choices_begin(struct choices *c)
{
    c->next = 0;
}

uint32_t choose(struct choices *c, uint32_t count)
{
    assert(count > 0);
    if (count == 1)
        return 0;
    if (c->next == MOST_CHOICES) {
        c->are_too_many = true;
        return 0;
    }
    if (c->next == c->n) {
        c->answers[c->n] = 0;
        c->counts[c->n++] = count;
    }
    assert(c->counts[c->next] == count);
    return c->answers[c->next++];
}

bool choices_go_on(struct choices *c)
{
    c->n = c->next;
    while (c->n > 0 && c->answers[c->n - 1] + 1 == c->counts[c->n - 1])
        c->n--;
    if (c->n > 0)
        c->answers[c->n - 1]++;
    return c->n > 0;
}
