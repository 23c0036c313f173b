// proxy.mjs - stands between a server and what it is connected to, and cuts or holds what goes through.
import net from 'node:net';

export class Proxy {
    /** Before a port of this machine. */
    static async open(port) {
        const proxy = new Proxy();
        proxy.pairs = new Set();
        proxy.isHeld = false;
        proxy.server = net.createServer((client) => proxy.join(client, net.connect(port, '127.0.0.1')));
        await new Promise((done) => proxy.server.listen(0, '127.0.0.1', done));
        proxy.port = proxy.server.address().port;
        return proxy;
    }

    join(client, target) {
        const pair = [client, target];
        this.pairs.add(pair);
        for (const [from, to] of [pair, [target, client]]) {
            from.on('data', (bytes) => to.write(bytes));
            from.on('error', () => {});
            from.on('close', () => {
                to.destroy();
                this.pairs.delete(pair);
            });
        }
        if (this.isHeld) client.pause();
    }

    /** End what is connected now. */
    cut() {
        for (const [client, target] of this.pairs) for (const socket of [client, target]) socket.destroy();
    }

    /** Nothing that clients send goes on; or it does again. */
    hold(isHeld) {
        this.isHeld = isHeld;
        for (const [client] of this.pairs) if (isHeld) client.pause(); else client.resume();
    }

    close() {
        this.cut();
        this.server.close();
    }
}
