// `replay FILE|FOLDER...`: a harness without libFuzzer, on inputs that once were findings.
#include "tests/fuzz/fuzz.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static size_t n_replayed;

static void replay_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    struct stat status;
    FUZZ_REQUIRE(in && fstat(fileno(in), &status) == 0);
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + 1);
    FUZZ_REQUIRE(data && fread(data, 1, size, in) == size);
    fclose(in);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    n_replayed++;
}

static void replay(const char *path)
{
    DIR *folder = opendir(path);
    char inner[4096];
    if (!folder) {
        replay_file(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            replay(inner);
        }
    closedir(folder);
}

int main(int argc, char **argv)
{
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%zu inputs\n", n_replayed);
    return n_replayed ? 0 : 1;
}
