// receiver.mjs - somebody who has subscribed: remembers what it was sent, and answers as it is told.
import { createServer } from 'node:http';

export class Receiver {
    constructor() {
        this.deliveries = [];
        this.answer = () => 204;
    }

    async open(port = 0) {
        this.server = createServer(async (request, response) => {
            let body = '';
            for await (const part of request) body += part;
            const delivery = { headers: request.headers, path: request.url, body, json: JSON.parse(body) };
            this.deliveries.push(delivery);
            const status = await this.answer(delivery, this.deliveries.length);
            if (status === 'reset') request.socket.destroy();
            else response.writeHead(status).end();
        });
        await new Promise((resolve) => this.server.listen(port, '127.0.0.1', resolve));
        this.port = this.server.address().port;
        this.url = `http://127.0.0.1:${this.port}`;
    }

    close() {
        this.server.closeAllConnections();
        this.server.close();
    }

    /** Those that were answered with success, the first of each delivery id. */
    once(filter = () => true) {
        const seen = new Set();
        return this.deliveries.filter((d) => {
            const id = d.headers['pawl-delivery'];
            if (!filter(d) || seen.has(id)) return false;
            seen.add(id);
            return true;
        });
    }
}
