// Threads that share the items of a job, and sleep between jobs. OpenMP's wait busily for what comes next: where
// jobs are short and many, as in the search, that takes from the thread that works as much as the others add, when
// the cores are two halves of one or have other work.
#pragma once
#include <stddef.h>

struct thread_pool;
typedef void thread_pool_work_fn(void *context, size_t item, size_t member);

// So many members at most, the caller of thread_pool_share among them; fewer where the system gives no more threads.
struct thread_pool *thread_pool_new(size_t n_members);
void thread_pool_free(struct thread_pool *t);
// Calls `work` once for every item below `count`, at most one at a time by the same member (0: the caller), and
// returns when all are done. Each member begins with a run of items that stand together, and who is done goes on with
// the end of what another one has left; so which member takes which item is left to chance.
void thread_pool_share(struct thread_pool *t, size_t count, thread_pool_work_fn *work, void *context);
