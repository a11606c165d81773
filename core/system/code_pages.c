// What the file has and nobody has changed may be dropped: segments that cannot be written to, of files without
// relocations within these. A debugger writes there all the same, so that its pages stay.
#define _GNU_SOURCE   // dl_iterate_phdr
#include "core/system/code_pages.h"

#ifdef __linux__
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_debugged(void)
{
    char line[128];
    int tracer = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "TracerPid: %d", &tracer) != 1)
        continue;
    if (status)
        fclose(status);
    return !status || tracer != 0;
}

static bool has_relocated_code(const struct dl_phdr_info *object)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + segment->p_vaddr);
        for (; segment->p_type == PT_DYNAMIC && entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL))
                return true;
    }
    return false;
}

// The program itself has no name, and what the kernel gives every process has no path.
static bool is_of_file(const struct dl_phdr_info *object)
{
    return object->dlpi_name && (object->dlpi_name[0] == '/' || object->dlpi_name[0] == '\0');
}

static int forget_pages_of(struct dl_phdr_info *object, size_t size, void *context)
{
    uintptr_t page = *(const uintptr_t *)context;
    if (!is_of_file(object) || has_relocated_code(object))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W)
            continue;
        uintptr_t begin = (object->dlpi_addr + segment->p_vaddr) / page * page;
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz + page - 1) / page * page;
        madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

void code_pages_forget(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (!is_debugged())
        dl_iterate_phdr(forget_pages_of, &page);
}
#else
void code_pages_forget(void)
{
}
#endif
