/* login.c - pawl login: the address that signs a browser in. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"

int command_login(struct client *c, const struct options *o)
{
    const char *public_url = options_or_setting(o, "public-url", "PAWL_PUBLIC_URL", "");
    struct reply me;
    struct str url, url_json;

    if (o->argc != 1)
        return options_usage(o);
    if (!client_call(c, "GET", STR("/me"), STR_NONE, &me))
        return EXIT_FAILED;
    /* Behind the '#', it is sent to no server and stands in no log. */
    url = str_printf(&c->mem, "%s/#token=%.*s", public_url[0] != '\0' ? public_url : c->url,
                     STR_ARG(c->token));
    url_json = client_json(&c->mem, value_string(url));
    me.text =
        str_printf(&c->mem, "{\"url\":%.*s,\"user\":%.*s}", STR_ARG(url_json), STR_ARG(me.text));
    return client_answer(c, &me, "%.*s", STR_ARG(url));
}
