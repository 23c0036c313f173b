/* resources.c - what an assistant may read: pages of the documentation, and the catalog; see mcp.h. */
#include "mcp/mcp_inner.h"

#include "value/json.h"
#include "value/object.h"

struct doc_page {
    const char *name, *title;
    const unsigned char *bytes;
    size_t len;
};

/* `pages`, from docs/NAME.md: tools/gen_docs.c. */
#include "docs.h"

#define CATALOG "pawl://catalog"
#define DOCS "pawl://docs/"

static void list_one(struct buf *out, const char *prefix, const char *name, const char *title,
                     const char *type)
{
    object_item(out);
    object_name(out, "uri");
    buf_printf(out, "\"%s%s\"", prefix, name);
    object_text(out, "name", str_of(name[0] != '\0' ? name : "catalog"));
    object_text(out, "title", str_of(title));
    object_text(out, "mimeType", str_of(type));
    buf_char(out, '}');
}

void mcp_list_resources(struct buf *out)
{
    object_list(out, "resources");
    list_one(out, CATALOG, "", "Every command and node with its fields", "application/json");
    for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
        list_one(out, DOCS, pages[i].name, pages[i].title, "text/markdown");
    buf_char(out, ']');
}

struct str mcp_show_resource(struct arena *mem, struct str id, const char *uri, const char *type,
                             struct str text)
{
    struct buf b;

    mcp_begin(&b, mem, id);
    object_list(&b, "contents");
    object_item(&b);
    object_text(&b, "uri", str_of(uri));
    object_text(&b, "mimeType", str_of(type));
    object_name(&b, "text");
    json_write_string(&b, text);
    buf_text(&b, "}]");
    return mcp_end(&b);
}

void mcp_read_resource(struct arena *mem, struct value params, struct mcp_message *out)
{
    struct str uri = value_map_text(params, STR("uri"));

    if (str_eq(uri, STR(CATALOG))) {
        out->turn = MCP_ASKS;
        out->method = "GET";
        out->path = STR("/catalog");
        out->uri = CATALOG;
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(pages) && str_starts_with(uri, STR(DOCS)); i++) {
        struct str name = str_slice(uri, sizeof(DOCS) - 1, uri.len);

        if (!str_eq(name, str_of(pages[i].name)))
            continue;
        out->said = mcp_show_resource(mem, out->id, str_printf(mem, "%.*s", STR_ARG(uri)).ptr,
                                      "text/markdown",
                                      str_from((const char *)pages[i].bytes, pages[i].len));
        return;
    }
    out->said = mcp_error(mem, out->id, MCP_NO_RESOURCE,
                          "there is no resource %.*s; resources/list names them",
                          (int)(uri.len < 100 ? uri.len : 100), uri.ptr);
}
