/* folder.h - a folder of its own for a test in C. */
#ifndef PAWL_TESTS_BASE_FOLDER_H
#define PAWL_TESTS_BASE_FOLDER_H

enum { FOLDER_PATH_MAX = 128 };

/* Make a fresh folder below TMPDIR and put its path into `path`. */
void folder_make(char path[FOLDER_PATH_MAX]);

/* Delete it with everything in it. */
void folder_drop(const char *path);

#endif
