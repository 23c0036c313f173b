// world.mjs - a server that may die at any moment, and a client that starts it again and insists.
import { until } from '../lib/wait.mjs';

export class World {
    constructor(server) {
        this.server = server;
        this.deaths = 0;
    }

    ask(method, path, body, headers) {
        return this.client.ask(method, `/api/v1${path}`, body, headers);
    }

    async start(environment) {
        await this.server.start(environment);
        this.client?.close();
        this.client = this.server.client();
    }

    /** The server dies now, and the next one at a point of crash.def. */
    async restart(environment) {
        await this.server.kill();
        await this.start(environment);
    }

    /** Ask a server that may be dead, or die of it, until one answers. */
    async insist(method, path, body, headers) {
        return until(`an answer to ${method} ${path}`, async () => {
            if (!this.server.isRunning()) {
                this.deaths++;
                await this.start();
            }
            const answer = await this.ask(method, path, body, headers);
            if (answer.status === 0 || answer.status === 503) return null;
            return answer;
        }, 60);
    }

    async get(id) {
        return (await this.insist('GET', `/executions/${id}`)).body;
    }
}
