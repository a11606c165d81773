// Every item is done once, by members that do one at a time, job after job; and a job without a thread to share it.
#include "core/system/thread_pool.h"
#include "tests/support/check.h"
#include <stdatomic.h>

enum { MEMBERS = 4, ITEMS = 300, JOBS = 400 };

struct job {
    atomic_int times[ITEMS];
    atomic_int busy[MEMBERS];
    atomic_int n_clashes;
};

static void do_item(void *context, size_t item, size_t member)
{
    struct job *job = context;
    if (member >= MEMBERS || atomic_fetch_add(&job->busy[member], 1) != 0)
        atomic_fetch_add(&job->n_clashes, 1);
    atomic_fetch_add(&job->times[item], 1);
    atomic_fetch_sub(&job->busy[member], 1);
}

static void check_jobs_of(size_t n_members)
{
    struct thread_pool *team = thread_pool_new(n_members);
    for (size_t n = 0; n < JOBS; n++) {
        struct job job = {0};
        size_t count = n % ITEMS;
        thread_pool_share(team, count, do_item, &job);
        assert_int_equal(job.n_clashes, 0);
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(job.times[i], i < count);
    }
    thread_pool_free(team);
}

TEST(every_item_is_done_once)
{
    check_jobs_of(1);
    check_jobs_of(2);
    check_jobs_of(MEMBERS);
}

TEST(a_team_without_a_job_ends)
{
    thread_pool_free(thread_pool_new(MEMBERS));
}
