/* fuzz_http.c - heads of requests and bodies in chunks, whatever bytes come. */
#include "http/http_parse.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_from((const char *)data, size), piece;
    struct http_chunks chunks = {0};
    struct http_head head;
    enum http_chunk_result result;
    size_t at = 0, used;

    if (http_parse_head(text, &head) == HTTP_PARSE_DONE)
        at = head.bytes;
    ASSERT(at <= size);
    do {
        result = http_chunks_read(&chunks, str_from(text.ptr + at, size - at), &used, &piece);
        at += used;
        ASSERT(at <= size);
    } while (result == HTTP_CHUNKS_DATA);
    return 0;
}
