// Files that somebody writes to while they are read. The reader scans a message twice, and a tensor's numbers, too: pages
// that may not be read at first tell where it is, so that the change comes between the scans. Then all numbers of a list
// are as short as can be, and more.
#define _GNU_SOURCE   // MAP_ANONYMOUS
#include "onnx/format/model_read.h"
#include "onnx/format/tensor.h"
#include "tests/support/check.h"

#include <signal.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
#define SIZE (4 * PAGE)
#define LONGEST 10   // bytes of a number

static uint8_t *bytes;   // SIZE of them
static size_t list;      // where the list of numbers begins, which ends where the file does
static int n_faults;

static size_t count_numbers(void)
{
    return (SIZE - list) / LONGEST + (SIZE - list) % LONGEST;
}

// The last page was met: the next scan meets the first one. Whatever is met later is no page of the file.
static void meet(int signal_number)
{
    if (n_faults == 1)
        signal(signal_number, SIG_DFL);
    if (n_faults++ == 0) {
        mprotect(bytes, SIZE, PROT_READ);
        mprotect(bytes, PAGE, PROT_NONE);
        return;
    }
    mprotect(bytes, SIZE, PROT_READ | PROT_WRITE);
    memset(bytes + list, 1, SIZE - list);
}

// Dimensions (of one number of 2 bytes), the element type, and a packed list in a field.
static void write_tensor(unsigned field)
{
    const size_t head = 12, size = SIZE - head;
    bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    list = head;
    const uint8_t start[] = {0x0a,
                             2,
                             (uint8_t)(count_numbers() | 0x80),
                             (uint8_t)(count_numbers() >> 7),
                             0x10,
                             ONNX_INT64,
                             (uint8_t)(field << 3 | 2),
                             (uint8_t)(size | 0x80),
                             (uint8_t)(size >> 7 | 0x80),
                             (uint8_t)(size >> 14 | 0x80),
                             0x80,
                             0};
    memcpy(bytes, start, sizeof start);
    for (size_t i = 0; i < size; i++)
        bytes[list + i] = i % LONGEST == LONGEST - 1 || i >= size / LONGEST * LONGEST ? 1 : 0x80;
}

static void change_between_scans(void)
{
    struct sigaction action = {.sa_handler = meet};
    n_faults = 0;
    sigaction(SIGSEGV, &action, NULL);
    mprotect(bytes, SIZE, PROT_READ);
    mprotect(bytes + SIZE - PAGE, PAGE, PROT_NONE);
}

static void expect_change(const struct error *error)
{
    signal(SIGSEGV, SIG_DFL);
    assert_int_equal(n_faults, 2);
    assert_non_null(strstr(error->message, "changed while it was read"));
    munmap(bytes, SIZE);
}

TEST(lists_that_grow_are_refused)
{
    ARENA(arena);
    struct error error = {0};
    void *message;
    write_tensor(1);
    change_between_scans();
    assert_false(onnx_message_parse(&arena, &onnx_tensor_descriptor, "file", bytes, SIZE, &message, &error));
    expect_change(&error);
}

TEST(numbers_that_grow_are_refused)
{
    ARENA(arena);
    struct error error = {0};
    struct onnx_bytes elements;
    void *tensor;
    write_tensor(7);
    assert_true(onnx_message_parse(&arena, &onnx_tensor_descriptor, "file", bytes, SIZE, &tensor, &error));
    assert_true(onnx_tensor_check(tensor, "file", &error));
    change_between_scans();
    assert_false(onnx_tensor_decode(tensor, &arena, "file", &elements, &error));
    expect_change(&error);
}
