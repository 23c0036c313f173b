// wire.mjs - requests as bytes: what no HTTP client would agree to send can be sent.
import net from 'node:net';

// No request of these tests may take so long: a server that hangs is a failure, with a name.
const ANSWER_MS = 180000;
const HALF_MS = 2000;

/** The bytes of a request; headers are [name, value] pairs, each as it is. */
export function requestBytes(method, target, headers, body = null) {
    const lines = [`${method} ${target} HTTP/1.1`];
    for (const [name, value] of headers) lines.push(`${name}: ${value}`);
    const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    return body === null ? head : Buffer.concat([head, body]);
}

/** One connection, opened when it is needed. */
export class Wire {
    constructor(url) {
        this.url = new URL(url);
        this.socket = null;
    }

    open() {
        if (this.socket) return;
        const socket = net.connect({ host: this.url.hostname, port: this.url.port, noDelay: true });
        this.socket = socket;
        this.received = Buffer.alloc(0);
        socket.on('data', (part) => {
            this.received = Buffer.concat([this.received, part]);
            this.look();
        });
        socket.on('error', () => {});
        socket.on('close', () => {
            if (this.socket === socket) this.socket = null;
            if (this.owner === socket) this.finish({ status: 0, headers: {}, raw: '' });
        });
    }

    /**
     * Send bytes and answer {status, headers, raw, json}; status 0 when the server closed the
     * connection without an answer. `ends`: say that nothing more will come, and do not wait long for
     * an answer to what may be half a request. `until`: when a stream has told enough; else its
     * beginning is.
     */
    send(bytes, { isHead = false, ends = false, until = () => true } = {}) {
        this.until = until;
        const had = this.socket !== null;
        return this.sendOnce(bytes, isHead, ends).then((answer) => {
            // A connection that was closed while nobody looked says nothing about this request.
            return answer.status === 0 && had ? this.sendOnce(bytes, isHead, ends) : answer;
        });
    }

    sendOnce(bytes, isHead, ends) {
        this.open();
        this.owner = this.socket;
        this.isHead = isHead;
        this.received = Buffer.alloc(0);
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => {
                if (!ends) reject(new Error(`no answer within ${ANSWER_MS / 1000} s: ${bytes.toString('latin1', 0, 300)}`));
                this.close();
            }, ends ? HALF_MS : ANSWER_MS);
            this.finish = (answer) => {
                clearTimeout(timer);
                this.owner = null;
                this.finish = () => {};
                resolve(answer);
            };
            this.socket.write(bytes);
            if (ends) this.socket.end();
        });
    }

    // A whole answer, if it is there.
    look() {
        const end = this.received.indexOf('\r\n\r\n');
        if (end < 0 || !this.owner) return;
        const [first, ...lines] = this.received.toString('latin1', 0, end).split('\r\n');
        const status = Number(first.split(' ')[1]);
        const headers = {};
        for (const line of lines) {
            const colon = line.indexOf(':');
            headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
        }
        if (status === 100) {
            this.received = this.received.subarray(end + 4);
            return this.look();
        }
        if (headers['content-type'] === 'text/event-stream' && !this.isHead) return this.lookAtStream(status, headers, end + 4);
        const length = this.isHead || status === 204 ? 0 : Number(headers['content-length'] ?? 0);
        if (this.received.length < end + 4 + length) return;
        const raw = this.received.toString('utf8', end + 4, end + 4 + length);
        let json;
        try {
            json = JSON.parse(raw);
        } catch {
            json = undefined;
        }
        this.finish({ status, headers, raw, json });
        // A stream may go on for ever: its head is the answer.
        if (headers.connection === 'close' || headers['content-type'] === 'text/event-stream') this.close();
    }

    // A stream is over when it ends, or when `until` has what it wants.
    lookAtStream(status, headers, from) {
        let raw = '';
        let ended = false;
        for (let at = from; !ended; ) {
            const line = this.received.indexOf('\r\n', at);
            const size = parseInt(this.received.toString('latin1', at, line), 16);
            if (line < 0 || this.received.length < line + 2 + size + 2) break;
            raw += this.received.toString('utf8', line + 2, line + 2 + size);
            ended = size === 0;
            at = line + 2 + size + 2;
        }
        if (!ended && !this.until(raw)) return;
        this.finish({ status, headers, raw, hasEnded: ended });
        if (!ended) this.close();
    }

    close() {
        const { socket } = this;
        this.socket = null;
        socket?.destroy();
        if (this.owner) this.finish({ status: 0, headers: {}, raw: '' });
    }
}
