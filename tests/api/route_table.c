/* route_table.c - the table of routes as the server has it, as JSON: what tests are generated from. */
#include "api/router.h"

#include <stdio.h>
#include <string.h>

static const char *const auths[] = {
    [AUTH_USER] = "user", [AUTH_NONE] = "none", [AUTH_SIGNATURE] = "signature"};
static const char *const policies[] = {
    [CSRF_SAME_ORIGIN] = "same-origin", [CSRF_SIGN_IN] = "sign-in", [CSRF_NONE] = "none"};

int main(void)
{
    printf("[");
    for (size_t i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        const char *comma = "";

        printf("%s{\"method\":\"%.*s\",\"path\":\"%.*s\",\"auth\":\"%s\",\"csrf\":\"%s\","
               "\"bodyMax\":%zu,\"changes\":%s,\"takesKey\":%s,\"isOpen\":%s,\"ofInstallation\":%s,"
               "\"roles\":[",
               i == 0 ? "" : ",\n", STR_ARG(r->method), STR_ARG(r->pattern), auths[r->auth],
               policies[r->csrf], route_body_max(r), route_changes(r) ? "true" : "false",
               route_takes_key(r) ? "true" : "false", r->right == RIGHT_OPEN ? "true" : "false",
               r->right == RIGHT_INSTALLATION ? "true" : "false");
        for (unsigned k = 0; k < ROLE_COUNT; k++)
            if (right_has(r->right, (enum role)k)) {
                printf("%s\"%s\"", comma, role_name((enum role)k));
                comma = ",";
            }
        printf("],\"query\":[");
        comma = "";
        for (const char *q = r->query == NULL ? "" : r->query; *q != '\0'; q += q[0] == ' ') {
            size_t len = strcspn(q, " ");

            printf("%s\"%.*s\"", comma, (int)len, q);
            comma = ",";
            q += len;
        }
        printf("]}");
    }
    printf("]\n");
    return 0;
}
