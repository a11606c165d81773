#include "core/system/file.h"
#include "core/system/program.h"
#include "core/system/temporary.h"
#include "tests/support/check.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *d = opendir(folder);
    for (const struct dirent *e = readdir(d); e; e = readdir(d))
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

static int remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static int empty_folder(void **state)
{
    return remove_folder() || mkdir(folder, 0700) || note_what_is_in_use(state);
}

#define TEST_IN_FOLDER(function) TEST_BETWEEN(function, empty_folder, check_that_nothing_is_left)

static void check_content(const char *path, const void *bytes, size_t size)
{
    struct file_map map;
    assert_true(file_map_open(&map, path, &(struct error){0}));
    assert_int_equal(map.size, size);
    assert_non_null(map.bytes);
    if (size)
        assert_memory_equal(map.bytes, bytes, size);
    file_map_close(&map);
    assert_null(map.bytes);
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

TEST_IN_FOLDER(writes_what_it_is_given)
{
    static const size_t sizes[] = {0, 1, 4095, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 3000000};
    struct random r = random_seed(9);
    uint8_t *bytes = mem_alloc(3000000);
    for (size_t i = 0; i < 3000000; i++)
        bytes[i] = (uint8_t)random_next(&r);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct file_writer w;
        OK(file_writer_open(&w, path_of("out"), &error));
        for (size_t done = 0, n; done < sizes[i]; done += n) {
            n = 1 + random_below(&r, i % 2 ? 1000 : 600000);
            n = n < sizes[i] - done ? n : sizes[i] - done;
            file_write(&w, bytes + done, n);
        }
        assert_int_equal(w.written, sizes[i]);
        OK(file_writer_commit(&w, &error));
        file_writer_abandon(&w);
        check_content(path_of("out"), bytes, sizes[i]);
        assert_int_equal(files_in_folder(), 1);
    }
    mem_free(bytes, 3000000);
}

TEST_IN_FOLDER(abandoning_leaves_the_old_file)
{
    struct file_writer w;
    OK(file_write_text(path_of("out"), "old", 3, &error));
    OK(file_writer_open(&w, path_of("out"), &error));
    file_write(&w, "new", 3);
    check_content(path_of("out"), "old", 3);
    file_writer_abandon(&w);
    file_writer_abandon(&w);
    check_content(path_of("out"), "old", 3);
    assert_int_equal(files_in_folder(), 1);
}

// Until a file is committed nothing of it is seen, as of a program that is killed; its name may still be chosen.
TEST_IN_FOLDER(a_synchronized_file_has_no_name_yet)
{
    struct file_writer w;
    OK(file_writer_open(&w, path_of("out"), &error));
    file_write(&w, "new", 3);
    OK(file_writer_synchronize(&w, &error));
    assert_int_equal(files_in_folder(), w.is_unnamed ? 0 : 1);
    file_writer_set_target(&w, path_of("other"));
    OK(file_writer_commit(&w, &error));
    check_content(path_of("other"), "new", 3);
    assert_int_equal(files_in_folder(), 1);
}

static int n_synchronized;

// In front of the system's.
int fsync(int fd)
{
    n_synchronized++;
    return (int)syscall(SYS_fsync, fd);
}

TEST_IN_FOLDER(nothing_in_a_temporary_folder_waits_for_the_disk)
{
    struct temporary_folder own = {0};
    char path[300];
    OK(temporary_folder_make(&own, &error));
    snprintf(path, sizeof path, "%s/out", own.path);
    n_synchronized = 0;
    OK(file_write_text(path, "x", 1, &error));
    check_content(path, "x", 1);
    assert_int_equal(n_synchronized, 0);
    temporary_folder_remove(&own);
    OK(file_write_text(path_of("out"), "x", 1, &error));
    assert_int_equal(n_synchronized, 2);   // the file and its folder
}

// A compiler goes on so when the program that called it is interrupted.
static void write_on(const char *path)
{
    char name[300];
    for (int i = 0;; i++) {
        snprintf(name, sizeof name, "%s/%d", path, i);
        close(open(name, O_WRONLY | O_CREAT, 0600));
    }
}

TEST_IN_FOLDER(a_temporary_folder_goes_while_others_write_to_it)
{
    for (int i = 0; i < 20; i++) {
        struct temporary_folder own = {0};
        char path[sizeof own.path];
        OK(temporary_folder_make(&own, &error));
        snprintf(path, sizeof path, "%s", own.path);
        pid_t writer = fork();
        if (writer == 0)
            write_on(path);
        usleep(2000);
        temporary_folder_remove(&own);
        kill(writer, SIGKILL);
        waitpid(writer, NULL, 0);
        assert_int_not_equal(access(path, F_OK), 0);
    }
}

TEST_IN_FOLDER(modes_are_sensible)
{
    mode_t old_mask = umask(027);
    OK(file_write_text(path_of("new"), "x", 1, &error));
    assert_int_equal(mode_of(path_of("new")), 0640);
    chmod(path_of("new"), 0751);
    OK(file_write_text(path_of("new"), "y", 1, &error));
    assert_int_equal(mode_of(path_of("new")), 0751);
    umask(old_mask);
}

TEST_IN_FOLDER(links_stay_links)
{
    struct stat status;
    OK(file_write_text(path_of("target"), "old", 3, &error));
    assert_int_equal(symlink("target", path_of("link")), 0);
    OK(file_write_text(path_of("link"), "new", 3, &error));
    assert_int_equal(lstat(path_of("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    check_content(path_of("target"), "new", 3);
}

TEST_IN_FOLDER(two_writers_of_one_file_do_not_meet)
{
    struct file_writer one, two;
    OK(file_writer_open(&one, path_of("out"), &error));
    OK(file_writer_open(&two, path_of("out"), &error));
    file_write(&one, "one", 3);
    file_write(&two, "second", 6);
    OK(file_writer_commit(&two, &error));
    check_content(path_of("out"), "second", 6);
    OK(file_writer_commit(&one, &error));
    check_content(path_of("out"), "one", 3);
    assert_int_equal(files_in_folder(), 1);
}

TEST_IN_FOLDER(impossible_targets_are_errors)
{
    char missing[128];
    struct error error;
    struct file_writer w;
    snprintf(missing, sizeof missing, "%s/none/out", folder);
    assert_false(file_writer_open(&w, missing, &error));
    assert_string_equal(error.message, "cannot create a file in this folder: No such file or directory");
    assert_string_equal(error.file, missing);
    assert_int_equal(error.code, EXIT_BAD_INPUT);
    file_writer_abandon(&w);
    assert_false(file_write_text(folder, "x", 1, &error));
    assert_string_equal(error.message, "cannot write: is a folder");
    assert_false(file_write_text("", "x", 1, &error));
    assert_int_equal(files_in_folder(), 0);
}

TEST(a_full_device_is_an_error)
{
    struct error error;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_false(file_write_text("/dev/full", "x", 1, &error));
    assert_string_equal(error.file, "/dev/full");
    assert_string_equal(error.message, "cannot write: No space left on device");
    assert_int_equal(access("/dev/full", F_OK), 0);
}

TEST(devices_are_written_and_not_replaced)
{
    struct stat status;
    assert_true(file_write_text("/dev/null", "x", 1, &(struct error){0}));
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

TEST_IN_FOLDER(a_disk_that_fills_up_leaves_nothing)
{
    static const char block[100000];
    struct file_writer w;
    struct error error;
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){500000, old.rlim_max};
    void (*old_handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    assert_true(file_writer_open(&w, path_of("out"), &error));
    for (int i = 0; i < 20; i++)
        file_write(&w, block, sizeof block);
    bool is_committed = file_writer_commit(&w, &error);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, old_handler);
    assert_false(is_committed);
    assert_string_equal(error.message, "cannot write: File too large");
    assert_int_equal(files_in_folder(), 0);
}

static void refuse(const char *path, const char *reason)
{
    struct file_map map FREED_BY(file_map_close);
    struct error error;
    assert_false(file_map_open(&map, path, &error));
    assert_string_equal(error.message, reason);
}

TEST_IN_FOLDER(only_regular_files_are_opened)
{
    refuse(path_of("absent"), "cannot open: No such file or directory");
    refuse(folder, "is a folder");
    refuse("/dev/null", "is not a regular file");
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    refuse(path_of("pipe"), "is not a regular file");
}

static int read_what_was_cut_short(int out)
{
    struct file_map map;
    dup2(out, STDERR_FILENO);
    program_begin();
    if (!file_map_open(&map, path_of("model"), &(struct error){0}) || truncate(path_of("model"), 10000) != 0)
        return EXIT_INTERNAL;
    volatile uint8_t byte = map.bytes[30000];
    return byte ? EXIT_INTERNAL : EXIT_DONE;
}

TEST_IN_FOLDER(a_map_that_is_cut_short_is_a_bad_file)
{
    static const char zeros[40000];
    char said[1000] = "";
    int pipes[2];
    assert_true(file_write_text(path_of("model"), zeros, sizeof zeros, &(struct error){0}));
    assert_int_equal(pipe(pipes), 0);
    int status = end_of(read_what_was_cut_short, pipes[1]);
    close(pipes[1]);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BAD_INPUT);
    for (ssize_t n, used = 0; (n = read(pipes[0], said + used, sizeof said - 1 - (size_t)used)) > 0;)
        used += n;
    close(pipes[0]);
    assert_non_null(strstr(said, "/model: was cut short while it was read\n"));
}

static struct file_lock lock;

// The new file, which nobody has locked.
static int lock_again(int unused)
{
    file_lock_release(&lock);
    file_lock_take(&lock, path_of("data"));
    return lock.fd >= 0 ? 0 : 1;
}

TEST_IN_FOLDER(locks_survive_a_replacement)
{
    file_lock_take(&lock, path_of("data"));
    assert_true(lock.fd >= 0);
    assert_int_equal(files_in_folder(), 1);
    assert_true(file_write_text(path_of("data"), "x", 1, &(struct error){0}));
    assert_int_equal(end_of(lock_again, 0), 0);
    file_lock_release(&lock);
    file_lock_take(&lock, path_of("none/data"));
    assert_int_equal(lock.fd, -1);
    file_lock_take(&lock, "/dev/null");
    assert_int_equal(lock.fd, -1);
}

TEST_IN_FOLDER(the_cache_folder_is_made)
{
    char path[256], small[8], wanted[128];
    snprintf(wanted, sizeof wanted, "%s/a/b/taso", folder);
    setenv("XDG_CACHE_HOME", path_of("a/b"), 1);
    assert_true(file_cache_folder(path, sizeof path));
    assert_string_equal(path, wanted);
    assert_true(file_cache_folder(path, sizeof path));
    assert_false(file_cache_folder(small, sizeof small));
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    setenv("HOME", folder, 1);
    snprintf(wanted, sizeof wanted, "%s/.cache/taso", folder);
    assert_true(file_cache_folder(path, sizeof path));
    assert_string_equal(path, wanted);
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    assert_false(file_cache_folder(path, sizeof path));
    setenv("HOME", "/dev/null", 1);
    assert_false(file_cache_folder(path, sizeof path));
}

int main(void)
{
    strcpy(folder, "/tmp/taso-file-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    int failed = tests_run("*");
    return remove_folder() || failed;
}
