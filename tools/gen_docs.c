/*
 * gen_docs.c - print pages of Markdown, FILE..., as a table of C: rows of struct doc_page
 * (src/mcp/resources.c), each with its name, its first heading and its text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX = 1 << 20, PAGES_MAX = 100, TITLE_SIZE = 200 };

static void fail(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(1);
}

static void put_string(const char *text, size_t len)
{
    putchar('"');
    for (size_t i = 0; i < len; i++)
        printf(text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
    putchar('"');
}

static void put_page(const char *path, int number, char *title, size_t title_size)
{
    static char text[PAGE_MAX];
    FILE *file = fopen(path, "rb");
    const char *line;
    size_t len;

    if (file == NULL)
        fail(path, "cannot be read");
    len = fread(text, 1, sizeof(text), file);
    fclose(file);
    line = memchr(text, '\n', len);
    if (len == sizeof(text) || line == NULL || strncmp(text, "# ", 2) != 0 ||
        (size_t)(line - text) >= title_size)
        fail(path, "is no page that begins with a heading");
    snprintf(title, title_size, "%.*s", (int)(line - text) - 2, text + 2);
    printf("static const unsigned char page_%d[] = {", number);
    for (size_t i = 0; i < len; i++)
        printf("%s%d,", i % 32 == 0 ? "\n" : "", (unsigned char)text[i]);
    puts("\n};");
}

int main(int argc, char **argv)
{
    static char titles[PAGES_MAX][TITLE_SIZE];

    if (argc > PAGES_MAX)
        fail(argv[argc - 1], "is one page too many");
    for (int i = 1; i < argc; i++)
        put_page(argv[i], i, titles[i - 1], TITLE_SIZE);
    puts("static const struct doc_page pages[] = {");
    for (int i = 1; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/'), *name = slash == NULL ? argv[i] : slash + 1;

        fputs("{", stdout);
        put_string(name, strcspn(name, "."));
        fputs(", ", stdout);
        put_string(titles[i - 1], strlen(titles[i - 1]));
        printf(", page_%d, sizeof(page_%d)},\n", i, i);
    }
    puts("};");
    return 0;
}
