// shapes.mjs - what the Model Context Protocol (2025-06-18) says of messages, as JSON Schema: of its
// schema the parts that a server without prompts, sampling and subscriptions sends.
import Ajv from 'ajv';

const text = { type: 'string' };
const object = (required, properties, more = {}) => ({ type: 'object', required, properties, ...more });
const id = { type: ['string', 'integer'] };

const results = {
    initialize: object(['protocolVersion', 'capabilities', 'serverInfo'], {
        protocolVersion: text,
        capabilities: object([], { tools: object([], { listChanged: { type: 'boolean' } }), resources: object([], {}) }, { additionalProperties: false }),
        serverInfo: object(['name', 'version'], { name: text, title: text, version: text }),
        instructions: text,
    }),
    ping: object([], {}, { additionalProperties: false }),
    'tools/list': object(['tools'], {
        tools: {
            type: 'array',
            items: object(['name', 'inputSchema'], {
                name: { type: 'string', pattern: '^[a-z_]{1,64}$' }, title: text, description: text,
                inputSchema: object(['type'], { type: { const: 'object' }, properties: { type: 'object', additionalProperties: { type: 'object' } }, required: { type: 'array', items: text } }),
                annotations: object([], { title: text, readOnlyHint: { type: 'boolean' }, destructiveHint: { type: 'boolean' }, idempotentHint: { type: 'boolean' }, openWorldHint: { type: 'boolean' } }, { additionalProperties: false }),
            }),
        },
        nextCursor: text,
    }),
    'tools/call': object(['content'], {
        content: { type: 'array', items: object(['type', 'text'], { type: { const: 'text' }, text }, { additionalProperties: false }) },
        isError: { type: 'boolean' },
    }),
    'resources/list': object(['resources'], {
        resources: { type: 'array', items: object(['uri', 'name'], { uri: { type: 'string', pattern: '^pawl://' }, name: text, title: text, description: text, mimeType: text }) },
        nextCursor: text,
    }),
    'resources/templates/list': object(['resourceTemplates'], { resourceTemplates: { type: 'array' } }),
    'resources/read': object(['contents'], {
        contents: { type: 'array', minItems: 1, items: object(['uri', 'text'], { uri: text, mimeType: text, text }) },
    }),
};

const ajv = new Ajv({ allErrors: true, strict: false });
const answer = (result) => ajv.compile(object(['jsonrpc', 'id', 'result'], { jsonrpc: { const: '2.0' }, id, result }, { additionalProperties: false }));
const answers = new Map(Object.entries(results).map(([method, result]) => [method, answer(result)]));
const refusal = ajv.compile(object(['jsonrpc', 'id', 'error'], {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer', 'null'] }, // null where the message had none that could be read
    error: object(['code', 'message'], { code: { type: 'integer' }, message: { type: 'string', minLength: 1 } }),
}, { additionalProperties: false }));

/** What is wrong with an answer to a method, by the schema; '' when nothing is. */
export function mistakes(method, message) {
    const check = message.error ? refusal : answers.get(method);
    return check(message) ? '' : ajv.errorsText(check.errors);
}

/** Whether a text is a schema that arguments can be held against. */
export const schemaOf = (inputSchema) => ajv.compile(inputSchema);
