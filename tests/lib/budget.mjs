// budget.mjs - how much of each campaign a run does, and with which seed.
//
// `make test` does some of it, PAWL_TEST_FULL=1 all. What is chosen follows from a seed, which
// is taken from the commit: the next commits do the rest. PAWL_SEED=N repeats a run.
// (why: decision 0350)
//
// Shell scripts ask `node tests/lib/budget.mjs NAME`, which prints the amount and the seed.
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

// name: [in `make test`, in `make test-full`]
const AMOUNTS = {
    'kill.sqlite': [48, 2000], // kills at random moments
    'kill.postgres': [24, 1000],
    'kill.sqlite_rounds': [1, 25], // deaths at every crash point
    'kill.postgres_rounds': [1, 10],
    'kill.seconds': [40, Infinity], // no further campaign of a kind is begun after this
    'jobs.kills': [2, 30],
    'clients.jobs': [300, 20000], // that workers in several languages do together
    'clients.kills': [6, 150], // of one of them
    'schedules.kills': [5, 12],
    'deliveries.stops': [2, 20], // of a server that is delivering
    'deliveries.cuts': [3, 20], // rounds in which a server loses its connections
    'deliveries.stall_ms': [3000, 30000], // for which PostgreSQL does not answer
    'locks.held_ms': [5000, 30000], // for which somebody has rows locked in PostgreSQL
    'orders': [40, 1000], // that are placed while everything is killed
    'negative.requests': [2000, 100000],
    'fuzz.requests': [500, 50000], // to each store
    'fuzz.answer_ms': [5000, 1000], // that no answer may take
    'planner.rounds': [2, 500],
    'sim.seeds': [48, 400],
    'pages.records': [50, 500], // of 1 MiB each
    'large.executions': [3000, 100000],
    'large.rounds': [2000, 10000],
    'soak.seconds': [10, 3600],
};

// What is listed is sampled in `make test`: one in so many.
const SHARES = {
    'kill.points': 2.5, // crash points on PostgreSQL
    'rollback.points': 2.5,
    'jobs.points': 2.5,
    'bridge.points': 2.5,
    'schedules.points': 2.5,
    'walk.screens': 7.5,
};

const isFull = Boolean(process.env.PAWL_TEST_FULL);

function seedOfCommit() {
    try {
        return parseInt(execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).slice(0, 7), 16);
    } catch {
        return 1;
    }
}

export const seed = Number(process.env.PAWL_SEED ?? seedOfCommit());

/** How much of a campaign to do. */
export const amount = (name) => AMOUNTS[name][isFull ? 1 : 0];

/** Those of a list that this run takes: at least one, and another share of them with every seed. */
export function share(name, list) {
    if (isFull) return list;
    const count = Math.max(1, Math.round(list.length / SHARES[name]));
    const isTaken = (i) => (i - (seed % list.length) * count % list.length + list.length * count) % list.length < count;
    const taken = list.filter((_, i) => isTaken(i));
    console.log(`${name}: ${taken.length} of ${list.length}, seed ${seed}`);
    return taken;
}

/** Numbers that look random and are the same for the same seed. */
export class Random {
    constructor(from = seed) {
        this.state = from >>> 0;
    }

    /** From 0 up to 1. */
    next() {
        this.state = (this.state + 0x6d2b79f5) >>> 0;
        let t = this.state;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    }

    below(n) {
        return Math.floor(this.next() * n);
    }

    chance(p) {
        return this.next() < p;
    }

    pick(list) {
        return list[this.below(list.length)];
    }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(`${amount(process.argv[2])} ${seed}`);
