// rabbitmq_queue.mjs - what a test puts into queues of RabbitMQ, and what it finds there.
import { until } from './wait.mjs';

/** A connection of the test's own, with a channel in confirm mode. */
export class Peer {
    static async open(rabbit, url = rabbit.address) {
        const peer = new Peer();
        peer.connection = await rabbit.connect(url);
        peer.connection.on('error', () => {});
        peer.channel = await peer.connection.createConfirmChannel();
        peer.channel.on('error', () => {});
        return peer;
    }

    /** A queue that is bound to an exchange; what arrives is in `messages`, in order. */
    async listen(exchange, key, { type = 'topic', queue = '' } = {}) {
        await this.channel.assertExchange(exchange, type, { durable: true });
        const { queue: name } = await this.channel.assertQueue(queue, { durable: true });
        await this.channel.bindQueue(name, exchange, key);
        return this.take(name);
    }

    /** What is in a queue and comes to it, as it comes. */
    async take(queue) {
        const messages = [];
        await this.channel.consume(queue, (m) => {
            if (!m) return;
            let json = null;
            try {
                json = JSON.parse(m.content);
            } catch {
                // It is shown as it is.
            }
            messages.push({ queue, key: m.fields.routingKey, redelivered: m.fields.redelivered, headers: m.properties.headers, properties: m.properties, content: m.content, json });
            this.channel.ack(m);
        });
        return messages;
    }

    /** How many messages wait in a queue. */
    async depth(queue) {
        return (await this.channel.checkQueue(queue)).messageCount;
    }

    /** Wait until a queue is empty, and nothing of it is unacknowledged: it can be deleted only then. */
    async emptied(queue) {
        await until(`the queue ${queue} is empty`, async () => (await this.depth(queue)) === 0);
    }

    /** Put a message into a queue, confirmed. */
    send(queue, content, properties = {}) {
        const bytes = Buffer.isBuffer(content) ? content : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
        return new Promise((done, fail) => {
            this.channel.sendToQueue(queue, bytes, { persistent: true, ...properties }, (error) => (error ? fail(error) : done()));
        });
    }

    async close() {
        await this.connection.close().catch(() => {});
    }
}
