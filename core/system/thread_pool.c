// Members that sleep are woken for a job. Each has a run of its items, and when that is done takes from the end of the
// longest one left. The caller does not wait for those that wake up too late: when all items are taken it closes the
// job, and waits only for who is still at one.
#include "core/system/thread_pool.h"

#include "core/memory/memory.h"
#include <pthread.h>
#include <stdbool.h>

struct member {
    struct thread_pool *team;
    size_t number;
    pthread_t thread;
};
struct share {   // of items that nobody has taken
    size_t next, end;
};
struct thread_pool {
    size_t n_members, n_threads;   // asked for, and threads that were started
    struct member *members;        // from number 1 on
    pthread_mutex_t lock;
    pthread_cond_t has_job, is_done;
    // under the lock
    size_t n_jobs, n_working;   // jobs so far, and members at the present one
    bool is_open, is_over;      // is there work for who comes; is the team to end
    struct share *shares;       // of each member
    // the present job
    thread_pool_work_fn *work;
    void *context;
};

static struct share *longest_share(const struct thread_pool *t)
{
    struct share *longest = &t->shares[0];
    for (size_t i = 1; i < t->n_members; i++)
        if (t->shares[i].end - t->shares[i].next > longest->end - longest->next)
            longest = &t->shares[i];
    return longest;
}

static bool take_item(struct thread_pool *t, size_t member, size_t *ret_item)
{
    struct share *own = &t->shares[member];
    pthread_mutex_lock(&t->lock);
    struct share *from = own->next < own->end ? own : longest_share(t);
    bool is_any = from->next < from->end;
    if (is_any)
        *ret_item = from == own ? from->next++ : --from->end;
    pthread_mutex_unlock(&t->lock);
    return is_any;
}

static void take_items(struct thread_pool *t, size_t member)
{
    size_t item;
    while (take_item(t, member, &item))
        t->work(t->context, item, member);
}

static void *live(void *argument)
{
    struct member *m = argument;
    struct thread_pool *t = m->team;
    size_t seen = 0;
    pthread_mutex_lock(&t->lock);
    while (!t->is_over) {
        if (!t->is_open || t->n_jobs == seen) {
            pthread_cond_wait(&t->has_job, &t->lock);
            continue;
        }
        seen = t->n_jobs;
        t->n_working++;
        pthread_mutex_unlock(&t->lock);
        take_items(t, m->number);
        pthread_mutex_lock(&t->lock);
        if (--t->n_working == 0)
            pthread_cond_signal(&t->is_done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

struct thread_pool *thread_pool_new(size_t n_members)
{
    struct thread_pool *t = mem_alloc_zero(sizeof *t);
    t->n_members = n_members;
    t->members = mem_new_array(struct member, n_members + 1);
    t->shares = mem_new_array(struct share, n_members + 1);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->has_job, NULL);
    pthread_cond_init(&t->is_done, NULL);
    for (size_t i = 1; i < n_members; i++) {
        struct member *m = &t->members[t->n_threads];
        *m = (struct member){.team = t, .number = i};
        if (pthread_create(&m->thread, NULL, live, m) != 0)
            break;
        t->n_threads++;
    }
    return t;
}

void thread_pool_free(struct thread_pool *t)
{
    pthread_mutex_lock(&t->lock);
    t->is_over = true;
    pthread_cond_broadcast(&t->has_job);
    pthread_mutex_unlock(&t->lock);
    for (size_t i = 0; i < t->n_threads; i++)
        pthread_join(t->members[i].thread, NULL);
    pthread_cond_destroy(&t->has_job);
    pthread_cond_destroy(&t->is_done);
    pthread_mutex_destroy(&t->lock);
    mem_free_array(t->members, t->n_members + 1);
    mem_free_array(t->shares, t->n_members + 1);
    mem_free(t, sizeof *t);
}

static void open_job(struct thread_pool *t, size_t count, thread_pool_work_fn *work, void *context)
{
    pthread_mutex_lock(&t->lock);
    t->work = work;
    t->context = context;
    for (size_t i = 0; i < t->n_members; i++)
        t->shares[i] = (struct share){i * count / t->n_members, (i + 1) * count / t->n_members};
    t->n_jobs++;
    t->is_open = true;
    pthread_cond_broadcast(&t->has_job);
    pthread_mutex_unlock(&t->lock);
}

static void close_job(struct thread_pool *t)
{
    pthread_mutex_lock(&t->lock);
    t->is_open = false;
    while (t->n_working > 0)
        pthread_cond_wait(&t->is_done, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void thread_pool_share(struct thread_pool *t, size_t count, thread_pool_work_fn *work, void *context)
{
    if (t->n_threads == 0 || count < 2) {
        for (size_t i = 0; i < count; i++)
            work(context, i, 0);
        return;
    }
    open_job(t, count, work, context);
    take_items(t, 0);
    close_job(t);
}
