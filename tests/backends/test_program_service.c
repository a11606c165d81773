// The service that compiles: what it gives, what it keeps, and what it does when the compiler, the disk or the folder is
// not as it should be. Nothing that others could have written may be run.
#include "backends/programs/programs.h"
#include "core/system/cores.h"
#include "tests/support/check.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define INSTRUCTION_SET "x86-64-v2"
#elif defined(__aarch64__)
#define INSTRUCTION_SET "armv8-a"
#else
#define INSTRUCTION_SET "native"
#endif
#define ADD(n) "int NAMED(run)(int x)\n{\n    return x + " #n "; // \"quoted\" \\ ?\?/ %s\n}\n"

typedef int run_fn(int);

// Seconds after which this machine hangs.
#define LONG_ENOUGH 600

struct place {
    char root[64], folder[96], compiler[96];
    size_t bytes;   // in use before the test
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    p->bytes = mem_in_use();
    strcpy(p->root, "/tmp/taso-test-XXXXXX");
    assert_non_null(mkdtemp(p->root));
    snprintf(p->folder, sizeof p->folder, "%s/programs", p->root);
    snprintf(p->compiler, sizeof p->compiler, "%s/cc", p->root);
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    char command[160];
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", p->root, p->root);
    assert_int_equal(system(command), 0);
    assert_int_equal(mem_in_use(), p->bytes);
    free(p);
    return 0;
}

#define TEST_IN_PLACE(function)                                                                                        \
    static void function##_in(struct place *p);                                                                        \
    TEST_BETWEEN(function, make_place, remove_place)                                                                   \
    {                                                                                                                  \
        function##_in(*state);                                                                                         \
    }                                                                                                                  \
    static void function##_in(struct place *p)

static struct programs *open_in(const char *folder, const char *compiler, double seconds)
{
    return programs_open(&(struct programs_options){
        .instruction_set = INSTRUCTION_SET, .folder = folder, .compiler = compiler, .seconds = seconds});
}

static struct programs *open_at(const struct place *p, const char *compiler)
{
    return open_in(p->folder, compiler, LONG_ENOUGH);
}

static void close_programs(struct programs **s)
{
    programs_close(*s);
}

#define PROGRAMS(name, opened) struct programs *name FREED_BY(close_programs) = opened

static int call(const struct program *program, int x)
{
    void *address = program_function(program, "run");
    run_fn *run;
    assert_non_null(address);
    memcpy(&run, &address, sizeof run);
    return run(x);
}

static bool find_one(struct programs *s, const char *text, struct program *ret_program, struct error *error)
{
    *error = (struct error){0};
    return programs_find(s, text, ret_program, error);
}

// All of them wait where the first one is asked for.
static bool find_all(struct programs *s, const char *const *texts, size_t n, struct program *ret_programs,
                     struct error *error)
{
    bool are_there = true;
    for (size_t i = 0; i < n; i++)
        programs_expect(s, texts[i]);
    for (size_t i = 0; i < n; i++)
        are_there = find_one(s, texts[i], &ret_programs[i], error) && are_there;
    return are_there;
}

// A file of the place.
#define IN_PLACE(path, name)                                                                                           \
    char path[96];                                                                                                     \
    snprintf(path, sizeof path, "%s/" name, p->root)

// Its script finds files of the place in $root.
static void write_compiler(const struct place *p, const char *script)
{
    FILE *f = fopen(p->compiler, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n[ \"$1\" = --version ] && echo test && exit 0\nroot=%s\n%s\n", p->root, script);
    fclose(f);
    assert_int_equal(chmod(p->compiler, 0700), 0);
}

// A compiler that says in a file of the place how often it ran.
static void write_counting_compiler(const struct place *p)
{
    write_compiler(p, "echo run >> $root/runs; exec /usr/bin/cc \"$@\"");
}

static int count_runs(const struct place *p)
{
    IN_PLACE(path, "runs");
    FILE *f = fopen(path, "r");
    int n = 0;
    for (int c; f && (c = fgetc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

// The contents of the folder of programs, as one path; the number of names.
static int list_kept(const struct place *p, char *ret_path, size_t size)
{
    DIR *folder = opendir(p->folder);
    int n = 0;
    for (const struct dirent *e; folder && (e = readdir(folder));)
        if (e->d_name[0] != '.') {
            snprintf(ret_path, size, "%s/%.64s", p->folder, e->d_name);
            n++;
        }
    if (folder)
        closedir(folder);
    return n;
}

// --- what it is for --------------------------------------------------------------------------------------------------

TEST_IN_PLACE(texts_become_functions)
{
    const char *texts[] = {ADD(1), ADD(2), ADD(1)};
    struct program found[3];
    PROGRAMS(s, open_at(p, NULL));
    assert_true(find_all(s, texts, 3, found, &(struct error){0}));
    assert_int_equal(call(&found[0], 10), 11);
    assert_int_equal(call(&found[1], 10), 12);
    assert_int_equal(call(&found[2], 10), 11);
    assert_null(program_function(&found[0], "absent"));
}

TEST_IN_PLACE(units_are_compiled_once_on_a_machine)
{
    const char *texts[] = {ADD(3), ADD(4)};
    struct program found[2];
    char path[256];
    write_counting_compiler(p);
    for (int i = 0; i < 3; i++) {
        PROGRAMS(s, open_at(p, p->compiler));
        OK(find_all(s, texts, 2, found, &error));
        assert_int_equal(call(&found[1], 1), 5);
        OK(find_one(s, texts[0], &found[0], &error));
        assert_int_equal(call(&found[0], 1), 4);
    }
    assert_int_equal(count_runs(p), cores_available() > 1 ? 2 : 1);   // a unit for each processor
    assert_int_equal(list_kept(p, path, sizeof path), 2);
}

// An object that has several texts is read once, whichever of its names finds it.
TEST_IN_PLACE(units_are_loaded_once)
{
    enum { N = 8, MOST_UNITS = 4 };
    const char *texts[N] = {ADD(40), ADD(41), ADD(42), ADD(43), ADD(44), ADD(45), ADD(46), ADD(47)};
    struct program found[N];
    int n_units = cores_available() < MOST_UNITS ? cores_available() : MOST_UNITS;
    for (int round = 0; round < 2; round++) {
        struct programs *s = open_at(p, NULL);
        assert_true(find_all(s, texts, N, found, &(struct error){0}));
        int n_loaded = 0;
        for (int i = 0; i < N; i++) {
            assert_int_equal(call(&found[i], 1), 41 + i);
            n_loaded += ALL(int, k, i, found[k].library != found[i].library);
        }
        assert_int_equal(n_loaded, n_units);
        programs_close(s);
    }
}

TEST_IN_PLACE(what_is_expected_is_compiled_with_what_is_asked_for)
{
    const char *expected[] = {ADD(20), ADD(21), ADD(22), "int NAMED(run)(int x) { return"};
    struct program found;
    struct error error = {0};
    write_counting_compiler(p);
    PROGRAMS(s, open_at(p, p->compiler));
    for (int i = 0; i < 3; i++)
        programs_expect(s, expected[i]);
    assert_int_equal(count_runs(p), 0);
    assert_true(find_one(s, ADD(23), &found, &error) && call(&found, 1) == 24);
    int n = count_runs(p);
    assert_int_equal(n, cores_available() > 1 ? 2 : 1);
    for (int i = 0; i < 3; i++)
        assert_true(find_one(s, expected[i], &found, &error) && call(&found, 1) == 21 + i);
    assert_int_equal(count_runs(p), n);
    programs_expect(s, expected[3]);
    assert_true(find_one(s, ADD(24), &found, &error) && call(&found, 1) == 25);
    assert_false(find_one(s, expected[3], &found, &error));
    programs_expect(s, ADD(25));
    programs_make_expected(s);
    n = count_runs(p);
    assert_true(find_one(s, ADD(25), &found, &error) && call(&found, 1) == 26);
    assert_int_equal(count_runs(p), n);
}

TEST_IN_PLACE(another_compiler_or_flag_compiles_again)
{
    struct program found;
    write_counting_compiler(p);
    struct programs_options o = {.instruction_set = INSTRUCTION_SET, .folder = p->folder, .compiler = p->compiler};
    for (int i = 0; i < 2; i++) {
        o.extra_flag = i ? "-DANOTHER" : NULL;
        PROGRAMS(s, programs_open(&o));
        assert_true(find_one(s, ADD(5), &found, &(struct error){0}));
    }
    assert_int_equal(count_runs(p), 2);
}

TEST_IN_PLACE(a_wrong_text_does_not_take_others_along)
{
    const char *texts[] = {ADD(6), "int NAMED(run)(int x) { return", ADD(7)};
    struct program found[3];
    struct error error = {0};
    PROGRAMS(s, open_at(p, NULL));
    programs_expect(s, texts[0]);
    programs_expect(s, texts[2]);
    assert_false(find_one(s, texts[1], &found[1], &error));
    assert_non_null(strstr(error.message, "failed"));
    assert_null(strchr(error.message, '\n'));
    assert_true(find_one(s, texts[0], &found[0], &error) && call(&found[0], 0) == 6);
    assert_false(find_one(s, texts[1], &found[1], &error));
    assert_true(find_one(s, texts[2], &found[2], &error) && call(&found[2], 0) == 7);
}

TEST_IN_PLACE(an_object_serves_where_there_is_no_compiler)
{
    const char *texts[] = {ADD(8), ADD(9)};
    struct program found[2];
    IN_PLACE(path, "given.so");
    struct programs *s = open_at(p, NULL);
    OK(find_all(s, texts, 2, found, &error));
    OK(programs_write(s, path, &error));
    programs_close(s);
    s = open_in("", "", 0);
    OK(programs_take(s, path, &error));
    OK(find_all(s, texts, 2, found, &error));
    assert_int_equal(call(&found[1], 1), 10);
    assert_false(find_one(s, ADD(10), &found[0], &(struct error){0}));
    assert_false(programs_write(s, path, &(struct error){0}));
    programs_close(s);
}

static void check_not_taken(const char *path, const char *instruction_set, const char *reason)
{
    struct error error = {0};
    PROGRAMS(
        s, programs_open(&(struct programs_options){.instruction_set = instruction_set, .folder = "", .compiler = ""}));
    assert_false(programs_take(s, path, &error));
    assert_non_null(strstr(error.message, reason));
    assert_null(strchr(error.message, '\n'));
}

static void change_byte(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    fputc(c ^ 1, f);
    fclose(f);
}

TEST_IN_PLACE(objects_that_do_not_fit_are_refused_in_one_line)
{
    struct program found;
    struct error error = {0};
    struct stat status;
    IN_PLACE(path, "given.so");
    IN_PLACE(link, "link.so");
    PROGRAMS(s, open_at(p, NULL));
    assert_false(programs_write(s, path, &error));   // there is none yet
    assert_true(find_one(s, ADD(8), &found, &error) && programs_write(s, path, &error));
    check_not_taken(path, "x86-64-v9", "another instruction set");
    assert_int_equal(symlink(path, link), 0);
    check_not_taken(link, INSTRUCTION_SET, "you or root alone");
    assert_int_equal(chmod(path, 0666), 0);
    check_not_taken(path, INSTRUCTION_SET, "you or root alone");
    assert_int_equal(chmod(path, 0644), 0);
    change_byte(path, 700);
    check_not_taken(path, INSTRUCTION_SET, "was changed");
    change_byte(path, 700);
    change_byte(path, -80 + 14);   // the version
    check_not_taken(path, INSTRUCTION_SET, "another version");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size - 7), 0);
    check_not_taken(path, INSTRUCTION_SET, "no file of kernels");
    assert_int_equal(truncate(path, 0), 0);
    check_not_taken(path, INSTRUCTION_SET, "cannot be read");
}

#define THREADS 4
struct caller {
    struct programs *service;
    int seed;
    bool is_right;
};

static void *call_many(void *context)
{
    struct caller *c = context;
    const char *texts[] = {ADD(20), ADD(21), ADD(22)};
    c->is_right = true;
    for (int i = 0; i < 6; i++) {
        struct program found;
        int which = (i + c->seed) % 3;
        c->is_right = c->is_right && find_one(c->service, texts[which], &found, &(struct error){0}) &&
                      call(&found, 1) == 21 + which;
    }
    return NULL;
}

TEST_IN_PLACE(threads_share_a_service)
{
    struct caller callers[THREADS];
    pthread_t threads[THREADS];
    write_counting_compiler(p);
    PROGRAMS(s, open_at(p, p->compiler));
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){s, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, call_many, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(callers[i].is_right);
    }
    assert_int_equal(count_runs(p), 3);
}

// --- what goes wrong -------------------------------------------------------------------------------------------------

static void check_refusal(struct programs *s, const char *reason)
{
    struct program found;
    struct error error;
    assert_false(find_one(s, ADD(30), &found, &error));
    if (!strstr(error.message, reason))
        fail_msg("%s: lacks: %s", error.message, reason);
    assert_null(strchr(error.message, '\n'));
    assert_false(find_one(s, ADD(30), &found, &error));
    programs_close(s);
}

TEST_IN_PLACE(compilers_that_are_none_are_refused)
{
    check_refusal(open_at(p, ""), "no compiler");
    check_refusal(open_at(p, "cc"), "no compiler");
    check_refusal(open_at(p, "/nonexistent/cc"), "no compiler");
    write_compiler(p, "echo 'this went wrong' >&2; echo and more >&2; exit 1");
    check_refusal(open_at(p, p->compiler), "failed: this went wrong");
    write_compiler(p, "exit 0");
    check_refusal(open_at(p, p->compiler), "has written no program");
    write_compiler(p, "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo nonsense > \"$2\"; shift; done");
    check_refusal(open_at(p, p->compiler), "cannot be loaded");
}

// A process is gone when nobody has its end of a pipe open any more.
static bool is_closed_in_time(int reading)
{
    struct pollfd end = {.fd = reading, .events = POLLIN};
    char byte;
    return poll(&end, 1, 1000 * LONG_ENOUGH) == 1 && read(reading, &byte, 1) == 0;
}

// Its child, too, is ended, and it is not asked again, as it hangs at nothing as well. It gets more time where it had not
// begun by then.
TEST_IN_PLACE(a_compiler_that_hangs_is_ended_with_its_children)
{
    struct programs *s = NULL;
    struct program found;
    struct error error;
    IN_PLACE(pipe, "pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    int reading = open(pipe, O_RDONLY | O_NONBLOCK);
    assert_true(reading >= 0);
    write_compiler(p, "exec 9> $root/pipe\nsleep 3000 &\necho run >> $root/runs\nsleep 3000");
    for (double seconds = 1; count_runs(p) == 0 && seconds < LONG_ENOUGH; seconds *= 4) {
        programs_close(s);
        s = open_in(p->folder, p->compiler, seconds);
        assert_false(find_one(s, ADD(31), &found, &error));
    }
    assert_non_null(strstr(error.message, "did not end within "));
    assert_true(is_closed_in_time(reading));
    int n = count_runs(p);
    assert_false(find_one(s, ADD(32), &found, &error));
    assert_int_equal(count_runs(p), n);
    programs_close(s);
    close(reading);
}

// Others of its unit are compiled, and so is what is asked for later. They get more time where a machine takes long.
TEST_IN_PLACE(a_text_that_compilers_hang_at_does_not_take_others_along)
{
    const char *texts[] = {ADD(35), ADD(36), ADD(37) "// for ever\n", ADD(38), ADD(39)};
    struct program found[5], later;
    struct error error = {0};
    bool is_found = false;
    write_compiler(p, "for last; do :; done; grep -q '^// for ever' \"$last\" && sleep 3000; exec /usr/bin/cc \"$@\"");
    for (double seconds = 1; !is_found && seconds < LONG_ENOUGH; seconds *= 4) {
        PROGRAMS(s, open_in("", p->compiler, seconds));
        assert_false(find_all(s, texts, 5, found, &error));
        is_found = find_one(s, ADD(40), &later, &error) && call(&later, 1) == 41;
        for (int i = 0; i < 5; i++)
            is_found = is_found && (i == 2 || (found[i].library && call(&found[i], 1) == 36 + i));
        assert_null(found[2].library);
    }
    assert_true(is_found);
}

// The environment of the host does not reach the compiler: neither PATH nor what tells it to load or run other things.
TEST_IN_PLACE(the_environment_is_its_own)
{
    char content[600] = "";
    IN_PLACE(path, "environment");
    write_compiler(p, "/usr/bin/env > $root/environment; exec /usr/bin/cc \"$@\"");
    setenv("LD_AUDIT", "", 1);
    setenv("COMPILER_PATH", p->root, 1);
    setenv("GCC_EXEC_PREFIX", p->root, 1);
    char *old_path = strdup(getenv("PATH"));
    setenv("PATH", p->root, 1);
    struct program found;
    PROGRAMS(s, open_at(p, p->compiler));
    bool is_found = find_one(s, ADD(33), &found, &(struct error){0});
    setenv("PATH", old_path, 1);
    free(old_path);
    unsetenv("LD_AUDIT");
    unsetenv("COMPILER_PATH");
    unsetenv("GCC_EXEC_PREFIX");
    assert_true(is_found);
    assert_int_equal(call(&found, 1), 34);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    content[fread(content, 1, sizeof content - 1, f)] = '\0';
    fclose(f);
    assert_non_null(strstr(content, "PATH=/usr/bin:/bin\n"));
    assert_null(strstr(content, "LD_AUDIT"));
    assert_null(strstr(content, "COMPILER_PATH"));
    assert_null(strstr(content, "GCC_EXEC_PREFIX"));
}

// A limit on the size of files stands for a full disk.
TEST_IN_PLACE(a_full_disk_costs_the_kernels_only)
{
    struct rlimit before, none;
    struct program found;
    struct error error;
    PROGRAMS(s, open_at(p, NULL));
    getrlimit(RLIMIT_FSIZE, &before);
    none = before;
    none.rlim_cur = 16;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    bool is_found = find_one(s, ADD(34), &found, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(is_found);
    assert_true(error.message[0]);
}

// --- folders and files that are not to be trusted --------------------------------------------------------------------

static void check_runs_after(struct place *p, int runs)
{
    struct program found;
    PROGRAMS(s, open_at(p, p->compiler));
    assert_true(find_one(s, ADD(40), &found, &(struct error){0}));
    assert_int_equal(call(&found, 1), 41);
    assert_int_equal(count_runs(p), runs);
}

TEST_IN_PLACE(changed_files_are_compiled_again)
{
    char path[256];
    struct stat s;
    write_counting_compiler(p);
    check_runs_after(p, 1);
    check_runs_after(p, 1);
    assert_int_equal(list_kept(p, path, sizeof path), 1);
    assert_int_equal(stat(path, &s), 0);
    change_byte(path, 700);
    check_runs_after(p, 2);
    change_byte(path, -3);
    check_runs_after(p, 3);
    assert_int_equal(truncate(path, s.st_size / 2), 0);
    check_runs_after(p, 4);
    assert_int_equal(truncate(path, 0), 0);
    check_runs_after(p, 5);
    check_runs_after(p, 5);
}

TEST_IN_PLACE(links_are_not_followed)
{
    char path[256];
    IN_PLACE(aside, "aside");
    IN_PLACE(other, "other");
    write_counting_compiler(p);
    check_runs_after(p, 1);
    assert_int_equal(list_kept(p, path, sizeof path), 1);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(symlink(aside, path), 0);
    check_runs_after(p, 2);
    assert_int_equal(rename(p->folder, other), 0);
    assert_int_equal(symlink(other, p->folder), 0);
    check_runs_after(p, 3);   // compiled, not kept
    check_runs_after(p, 4);
}

TEST_IN_PLACE(folders_that_others_can_write_are_not_used)
{
    write_counting_compiler(p);
    check_runs_after(p, 1);
    assert_int_equal(chmod(p->folder, 0750), 0);
    check_runs_after(p, 2);
    assert_int_equal(chmod(p->folder, 0702), 0);
    check_runs_after(p, 3);
    assert_int_equal(chmod(p->folder, 0700), 0);
    check_runs_after(p, 3);
    assert_int_equal(chmod(p->root, 0777), 0);
    check_runs_after(p, 4);
    assert_int_equal(chmod(p->root, 0755), 0);
    check_runs_after(p, 4);
}

// Where the compiler is to work others could exchange what it writes.
TEST_IN_PLACE(temporary_folders_of_others_are_not_used)
{
    IN_PLACE(temporary, "tmp");
    assert_int_equal(mkdir(temporary, 0777), 0);
    assert_int_equal(chmod(temporary, 0777), 0);
    char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    setenv("TMPDIR", temporary, 1);
    check_refusal(open_at(p, NULL), "can be changed by other users");
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
}

int main(void)
{
    umask(022);
    return access("/usr/bin/cc", X_OK) == 0 ? tests_run("*") : 77;
}
