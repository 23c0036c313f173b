// test_russian.mjs - claims about scripts/check-russian: no message of the server is without its Russian.
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { check, claim, end } from '../lib/claims.mjs';
import { makeFolder } from '../lib/program.mjs';

const folder = makeFolder();

const checkRussian = (root) => spawnSync('scripts/check-russian', [root], { encoding: 'utf8' });

await claim('test_russian__every_message_has_its_row', () => {
    const done = checkRussian('.');
    check(done.status === 0, done.stdout);
});

await claim('test_russian__a_message_without_a_row_is_found', () => {
    cpSync('src', join(folder, 'src'), { recursive: true });
    check(checkRussian(folder).status === 0, 'the copy differs');
    appendFileSync(join(folder, 'src/define/compile/step.c'),
        '\nvoid step_new(struct compiler *c)\n{\n    compile_error(c, FINDING_BAD_VALUE, "the lorry \'%.*s\' is "\n                  "late by %zu days", 1, "x", (size_t)2);\n}\n');
    appendFileSync(join(folder, 'src/define/compile/step.c'),
        '\nvoid step_new_hint(struct arena *mem)\n{\n    sentence_make(mem, "%s", flag ? PHRASE("a lorry") : "a " "red lorry");\n}\n');
    const done = checkRussian(folder);
    check(done.status === 1, 'it was not found');
    for (const message of ["the lorry '%s' is late by %d days", 'a lorry', 'a red lorry'])
        check(done.stdout.includes(`no Russian for "${message}"`), done.stdout);
});

await claim('test_russian__a_conversion_that_no_sentence_has_is_found', () => {
    appendFileSync(join(folder, 'src/http/http.c'), '\nvoid http_new(struct err *err)\n{\n    err_set(err, ERR_IO, "%o", 8);\n}\n');
    const done = checkRussian(folder);
    check(done.status === 1 && done.stdout.includes('no sentence has such a conversion, or so many: "%o"'), done.stdout);
});

end();
