/* resident.c - see resident.h. */
#include "base/resident.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The whole pages of a segment that was never written: what it holds is in the file. */
static void drop_segment(uintptr_t start, size_t size, uintptr_t page)
{
    uintptr_t from = (start + page - 1) / page * page, to = (start + size) / page * page;

    if (to > from)
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

static int drop_object(struct dl_phdr_info *info, size_t size, void *context)
{
    const uintptr_t *page = context;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        /* Relocations are written to segments that may be written only. */
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) == 0)
            drop_segment(info->dlpi_addr + segment->p_vaddr, segment->p_memsz, *page);
    }
    return 0;
}

void resident_trim(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    (void)malloc_trim(0);
    (void)dl_iterate_phdr(drop_object, &page);
}
