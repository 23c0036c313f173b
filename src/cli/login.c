/* login.c - pawl login: the address that signs a browser in. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "value/object.h"

#include <stdio.h>
#include <stdlib.h>

int command_login(int argc, char **argv)
{
    const char *public_url = getenv("PAWL_PUBLIC_URL");
    bool as_json = false;
    const struct option_spec specs[] = {
        {.name = "public-url", .value = &public_url},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct reply me;
    struct str url;
    int status = EXIT_FAILED;

    if (!options_read("login", specs, ARRAY_SIZE(specs), &argc, argv) || argc != 1)
        return command_usage("login");
    client_open(&c, as_json);
    /* Behind the '#', it is sent to no server and stands in no log. */
    if (client_call(&c, "GET", STR("/me"), STR_NONE, &me)) {
        status = EXIT_OK;
        url = str_printf(&c.mem, "%s/#token=%.*s",
                         public_url != NULL && public_url[0] != '\0' ? public_url : c.url,
                         STR_ARG(c.token));
        if (as_json)
            printf("{\"url\":%.*s,\"user\":%.*s}\n",
                   STR_ARG(client_json(&c.mem, value_string(url))), STR_ARG(me.text));
        else
            printf("%.*s\n", STR_ARG(url));
    }
    client_close(&c);
    return status;
}
