// types.mjs - the types of the API for the pages: docs/openapi.yaml as JSON comes in, TypeScript goes out.
//
//     build/gen/gen_openapi --json docs/openapi.yaml | node web/scripts/types.mjs > build/gen/api.d.ts
//
// Each schema is a type of its name; `Answers` has what each operation answers when it succeeds, by operationId.
// A schema that uses a word which is not known here ends the build: a type that is too wide would hide what may be null.
//
// why: decision 0511
import { readFileSync } from 'node:fs';

const { paths, components } = JSON.parse(readFileSync(0, 'utf8'));

const SAYS_NOTHING = new Set(['description', 'example', 'examples', 'default', 'format', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength',
    'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'propertyNames', 'title', 'multipleOf', 'deprecated', 'readOnly', 'writeOnly', 'contentMediaType', 'patternProperties', 'not', 'if', 'then', 'else',
    'dependentRequired']);
const READ = new Set(['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf']);
const PLAIN = { string: 'string', boolean: 'boolean', integer: 'number', number: 'number', null: 'null' };

const literal = (value) => (typeof value === 'object' && value !== null ? 'unknown' : JSON.stringify(value));
const several = (types, sign) => (types.length === 1 ? types[0] : `(${[...new Set(types)].join(sign)})`);
const isOwnName = (name) => /^[A-Za-z_$][\w$]*$/.test(name);

function nameOfRef(ref) {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(ref)?.[1];
    if (!name || !components.schemas[name]) throw new Error(`${ref}: what is that?`);
    return name;
}

function objectType({ properties = {}, required = [], additionalProperties }) {
    const names = [...new Set([...Object.keys(properties), ...required])];
    const members = names.map((name) => `${isOwnName(name) ? name : JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${properties[name] ? typeOf(properties[name]) : 'unknown'}`);
    const rest = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
    if (members.length === 0) return `Record<string, ${rest}>`;
    return `{ ${members.join('; ')} }${additionalProperties && additionalProperties !== true ? ` & Record<string, ${rest}>` : ''}`;
}

function plainType(schema, type) {
    if (type === 'object') return objectType(schema);
    if (type === 'array') return `${schema.items ? typeOf(schema.items) : 'unknown'}[]`.replace(/^(\{.*\}|.* \| .*|.* & .*)\[\]$/s, '($1)[]');
    if (!PLAIN[type]) throw new Error(`type ${type}: what is that?`);
    return PLAIN[type];
}

function typeOf(schema) {
    if (schema === true) return 'unknown';
    const strange = Object.keys(schema).filter((word) => !READ.has(word) && !SAYS_NOTHING.has(word) && !word.startsWith('x-'));
    if (strange.length > 0) throw new Error(`${strange}: what does that mean in ${JSON.stringify(schema).slice(0, 200)}?`);
    const parts = [];
    if (schema.$ref) parts.push(nameOfRef(schema.$ref));
    if (schema.allOf) parts.push(...schema.allOf.map(typeOf));
    for (const word of ['anyOf', 'oneOf']) if (schema[word]) parts.push(several(schema[word].map(typeOf), ' | '));
    if (schema.enum) parts.push(several(schema.enum.map(literal), ' | '));
    else if ('const' in schema) parts.push(literal(schema.const));
    else if (schema.type) parts.push(several([schema.type].flat().map((type) => plainType(schema, type)), ' | '));
    else if (schema.properties || schema.required) parts.push(objectType(schema));
    const known = parts.filter((part) => part !== 'unknown' && part !== '(unknown)');
    return known.length === 0 ? 'unknown' : several(known, ' & ');
}

function answerOf({ responses }) {
    const codes = Object.keys(responses).filter((code) => /^2/.test(code));
    const shared = (ref) => components.responses[ref.replace('#/components/responses/', '')];
    const bodies = codes.map((code) => (responses[code].$ref ? shared(responses[code].$ref) : responses[code]));
    const schemas = bodies.map((body) => body.content?.['application/json']?.schema).filter(Boolean);
    return schemas.length === 0 ? 'undefined' : several(schemas.map(typeOf), ' | ');
}

const schemas = Object.entries(components.schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)};`);
const operations = Object.values(paths).flatMap((path) => ['get', 'post', 'put', 'patch', 'delete'].flatMap((method) => path[method] ?? []));
const answers = operations.map((operation) => `    ${operation.operationId}: ${answerOf(operation)};`);
process.stdout.write(`// Made by web/scripts/types.mjs from docs/openapi.yaml.\n${schemas.join('\n')}\n\nexport interface Answers {\n${answers.join('\n')}\n}\n`);
