/* openapi.c - the description of this API, for programs; written in docs/openapi.yaml. */
#include "api/call.h"

#include "openapi.h"

void openapi_get(struct call *c)
{
    call_answer(c, 200, str_from((const char *)openapi_json, sizeof(openapi_json)));
}
