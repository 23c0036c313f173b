/*
 * replay.c - a fuzz target without libFuzzer: runs it over files and folders of inputs.
 *
 *     build/asan/fuzz_NAME tests/fuzz/corpus/NAME
 *
 * Prints the name of an input before it is run, so that the last line names the one that ended
 * the program. The last line of a good run says how many there were.
 */
#include "base/alloc.h"
#include "base/attr.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { INPUT_BYTES_MAX = 1 << 20, PATH_BYTES_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned runs;

static void replay_file(const char *path)
{
    uint8_t *bytes = alloc_check(malloc(INPUT_BYTES_MAX));
    FILE *file = fopen(path, "rb");
    size_t size;
    uint8_t *exact;

    if (file == NULL)
        PANIC(path);
    size = fread(bytes, 1, INPUT_BYTES_MAX, file);
    fclose(file);
    printf("%s\n", path);
    fflush(stdout);
    /* Of its exact size: a read beyond its end is seen. */
    exact = alloc_check(malloc(size + 1));
    for (size_t i = 0; i < size; i++)
        exact[i] = bytes[i];
    free(bytes);
    exact = alloc_check(realloc(exact, size > 0 ? size : 1));
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    runs++;
}

static void replay(const char *path)
{
    char inner[PATH_BYTES_MAX];
    struct dirent *entry;
    struct stat is;
    DIR *folder;

    if (stat(path, &is) != 0)
        PANIC(path);
    if (!S_ISDIR(is.st_mode)) {
        replay_file(path);
        return;
    }
    folder = opendir(path);
    if (folder == NULL)
        PANIC(path);
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        replay_file(inner);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%u inputs\n", runs);
    return 0;
}
