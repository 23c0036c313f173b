// languages.mjs - how a worker of each language is built and run here.
//
// A language whose compiler or interpreter is missing has `missing`, the reason. What is built
// lies in a folder that goes with the process.
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { execute, makeFolder } from '../../tests/lib/program.mjs';

const client = (path) => resolve('clients', path);

const answers = async (command) => (await execute('sh', ['-c', command])).status === 0;

async function mustRun(program, args, options) {
    const { status, out } = await execute(program, args, options);
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}\n${out}`);
}

/** Beside the client, as the README says; answers the command that starts it. */
const languages = {
    python: {
        file: 'worker.py',
        missing: async () => (await answers('python3 -c "import ssl, http.client"')) ? null : 'python3',
        build(folder) {
            copyFileSync(client('python/pawl_worker.py'), join(folder, 'pawl_worker.py'));
            return ['python3', join(folder, 'worker.py')];
        },
    },
    go: {
        file: 'worker.go',
        missing: async () => (await answers('go version')) ? null : 'go',
        async build(folder) {
            const module = join(folder, 'pawl');
            mkdirSync(join(module, 'worker'), { recursive: true });
            copyFileSync(client('go/go.mod'), join(module, 'go.mod'));
            if (!existsSync(join(module, 'pawlworker'))) symlinkSync(client('go/pawlworker'), join(module, 'pawlworker'));
            copyFileSync(join(folder, 'worker.go'), join(module, 'worker', 'main.go'));
            // One at a time, with a cache of the checkout: the first compiles the standard library for all.
            mkdirSync('build', { recursive: true });
            await mustRun('flock', [resolve('build/go-build.lock'), 'go', 'build', '-o', join(folder, 'worker'), './worker'],
                { cwd: module, env: { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOPROXY: 'off', GOCACHE: resolve('build/go-cache') } });
            return [join(folder, 'worker')];
        },
    },
    typescript: {
        file: 'worker.ts',
        missing: async () => existsSync(resolve('web/node_modules/typescript/bin/tsc')) ? null : 'typescript, one of the packages of the web UI',
        async build(folder) {
            const out = join(folder, 'out');
            copyFileSync(client('typescript/pawl_worker.ts'), join(folder, 'pawl_worker.ts'));
            await mustRun(process.execPath, [resolve('web/node_modules/typescript/bin/tsc'), '--strict', '--noUnusedLocals', '--target', 'es2022',
                '--module', 'es2022', '--moduleResolution', 'bundler', '--lib', 'es2022,dom', '--types', '', '--outDir', out, join(folder, 'worker.ts')]);
            // As a package of the type "module" has it, whatever folder it is in.
            writeFileSync(join(out, 'package.json'), '{"type": "module"}');
            return [process.execPath, join(out, 'worker.js')];
        },
    },
    c: {
        file: 'worker.c',
        missing: async () => (await answers('echo "#include <curl/curl.h>" | gcc -E -')) ? null : 'gcc with the headers of libcurl',
        async build(folder) {
            await mustRun('gcc', ['-std=c17', '-O1', '-g', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Werror', '-fsanitize=address,undefined',
                '-I', client('c'), join(folder, 'worker.c'), client('c/pawl_worker.c'), '-lcurl', '-lpthread', '-o', join(folder, 'worker')]);
            return [join(folder, 'worker')];
        },
    },
};

export const names = Object.keys(languages);

/** The source of the worker to begin with, in each language. */
export const starters = {
    python: client('python/starter.py'),
    go: client('go/starter/main.go'),
    typescript: client('typescript/starter.ts'),
    c: client('c/starter.c'),
};

/** {command} that runs the worker whose source is `source`, or {missing}: what this machine lacks. */
export async function buildWorker(name, source) {
    const language = languages[name];
    const missing = await language.missing();
    if (missing) return { missing };
    const folder = makeFolder();
    copyFileSync(source, join(folder, language.file));
    return { command: await language.build(folder) };
}
