/* ui_none.c - no pages: what a program is linked with that is built without the web UI. */
#include "api/serve/ui.h"

const struct ui_file ui_files[] = {{.type = ""}};
const size_t ui_file_count = 0;
