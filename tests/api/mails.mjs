// mails.mjs - a mail server of a test's own (aiosmtpd), and what it has taken.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The body of a part, or of all of it: base64, as everything that Pawl writes is. */
export const decode = (text) => Buffer.from(text.replace(/\r\n/g, ''), 'base64').toString();

function parse(mail) {
    const data = Buffer.from(mail.data, 'base64').toString();
    const end = data.indexOf('\r\n\r\n');
    const headers = {};
    for (const line of data.slice(0, end).replace(/\r\n /g, ' ').split('\r\n')) headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 2);
    const subject = headers.subject.replace(/\?= =\?UTF-8\?B\?/g, '?==?UTF-8?B?').replace(/=\?UTF-8\?B\?([^?]*)\?=/g, '$1');
    return { ...mail, headers, subject: headers.subject.startsWith('=?') ? null : subject, text: data, body: data.slice(end + 4) };
}

/** An encoded header, word by word. */
export const words = (text) => Buffer.concat([...text.matchAll(/=\?UTF-8\?B\?([^?]*)\?=/g)].map((m) => Buffer.from(m[1], 'base64'))).toString();

export class MailServer {
    constructor() {
        this.mails = [];
        this.port = 0;
    }

    async open(...args) {
        this.args = args;
        this.child = spawn('/usr/bin/python3', [join(dirname(fileURLToPath(import.meta.url)), 'mail_server.py'), `${this.port}`, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
        let rest = '';
        const opened = new Promise((done) => {
            this.child.stdout.on('data', (text) => {
                const lines = (rest + text).split('\n');
                rest = lines.pop();
                for (const line of lines.map((l) => JSON.parse(l))) {
                    if (line.port) done((this.port = line.port));
                    else this.mails.push(parse(line));
                }
            });
        });
        await opened;
    }

    async kill() {
        const ended = new Promise((done) => this.child.on('close', done));
        this.child.kill('SIGKILL');
        await ended;
    }
}
