// scrape.mjs - reads /metrics of a server as Prometheus would.
import http from 'node:http';

import { check } from '../lib/claims.mjs';

/** The text of /metrics: {family: type} and a map from series to number. */
export function scrape(rig) {
    return new Promise((done, fail) => {
        http.get(new URL('/metrics', rig.server.url), (answer) => {
            let text = '';
            answer.setEncoding('utf8');
            answer.on('data', (part) => (text += part));
            answer.on('error', fail);
            answer.on('end', () => {
                const types = {}, series = new Map();
                for (const line of text.trim().split('\n')) {
                    const type = line.match(/^# TYPE (\S+) (\S+)$/);
                    if (type) types[type[1]] = type[2];
                    else if (!line.startsWith('#')) {
                        const [, name, value] = line.match(/^(.*) (\S+)$/);
                        check(!series.has(name), `${name} is there twice`);
                        check(Number.isFinite(Number(value)), line);
                        series.set(name, Number(value));
                    }
                }
                done({ types, series, text });
            });
        }).on('error', fail);
    });
}
