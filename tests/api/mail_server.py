"""A mail server for tests: mail_server.py PORT plain|starttls|tls [CERT KEY] [USER:PASSWORD]

Writes a line of JSON for each mail that it takes. Who is called `refused` is refused for good, who is called `later`
once.
"""
import asyncio
import base64
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Handler:
    def __init__(self):
        self.seen = set()

    async def handle_RCPT(self, server, session, envelope, address, options):
        name = address.split("@")[0]
        if name.startswith("refused"):
            return "550 no such mailbox"
        if name.startswith("later") and address not in self.seen:
            self.seen.add(address)
            return "451 come back later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        print(json.dumps({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "data": base64.b64encode(envelope.original_content).decode(),
            "tls": session.ssl is not None or server.transport.get_extra_info("ssl_object") is not None,
            "user": session.auth_data.decode() if session.auth_data else None,
        }), flush=True)
        return "250 taken"


async def main():
    port, mode = int(sys.argv[1]), sys.argv[2]
    context, user = None, None
    rest = sys.argv[3:]
    if mode != "plain":
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(rest[0], rest[1])
        rest = rest[2:]
    if rest:
        user = rest[0]

    def authenticate(server, session, envelope, mechanism, data):
        given = f"{data.login.decode()}:{data.password.decode()}"
        return AuthResult(success=given == user, auth_data=data.login)

    handler = Handler()

    def make():
        return SMTP(
            handler,
            hostname="mail.test",
            tls_context=context if mode == "starttls" else None,
            require_starttls=mode == "starttls",
            auth_required=user is not None,
            auth_require_tls=mode == "starttls",
            authenticator=authenticate if user else None,
            enable_SMTPUTF8=True,
        )

    server = await asyncio.get_running_loop().create_server(
        make, "127.0.0.1", port, ssl=context if mode == "tls" else None)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await server.serve_forever()


asyncio.run(main())
