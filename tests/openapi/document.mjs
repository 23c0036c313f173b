// document.mjs - docs/openapi.yaml as the server shows it: its operations, and whether an answer is
// one that the document describes.
import Ajv from 'ajv/dist/2020.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const SCHEMAS = '#/components/schemas/';

const formats = {
    uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    date: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
    'date-time': /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/,
    'pawl-duration': /^$|^[+]?(0|((\d+(\.\d*)?|\.\d+)(ms|us|ns|\u00b5s|\u03bcs|s|m|h|d))+)$/,
    uri: /^[a-z]+:/,
    email: /^[^@\s]+@[^@\s]+$/,
    byte: true,
};

// A copy that also refuses members that the document does not name. Members of an `allOf` are left
// open, because each sees all of the object: they refer to schemas under a name of their own.
function closed(schema, isOpen = false) {
    if (typeof schema !== 'object' || schema === null) return schema;
    const copy = { ...schema };
    if (copy.$ref) {
        const name = copy.$ref.slice(SCHEMAS.length);
        copy.$ref = `pawl${SCHEMAS}${isOpen ? 'open:' : ''}${name}`;
    }
    for (const name of ['properties', 'patternProperties'])
        if (copy[name])
            copy[name] = Object.fromEntries(Object.entries(copy[name]).map(([k, v]) => [k, closed(v)]));
    for (const name of ['items', 'additionalProperties', 'not', 'propertyNames'])
        if (copy[name] !== undefined) copy[name] = closed(copy[name]);
    for (const name of ['if', 'then', 'else']) if (copy[name]) copy[name] = closed(copy[name], true);
    for (const name of ['anyOf', 'oneOf']) if (copy[name]) copy[name] = copy[name].map((s) => closed(s, isOpen));
    if (copy.allOf) copy.allOf = copy.allOf.map((s) => closed(s, true));
    const isObject = copy.properties || copy.allOf;
    if (!isOpen && isObject && copy.additionalProperties === undefined) copy.unevaluatedProperties = false;
    return copy;
}

export class Doc {
    constructor(json) {
        this.json = json;
        this.ajv = new Ajv({ strict: false, allErrors: true, verbose: true });
        for (const [name, format] of Object.entries(formats)) this.ajv.addFormat(name, format);
        const schemas = {};
        for (const [name, schema] of Object.entries(json.components.schemas)) {
            schemas[name] = closed(schema);
            schemas[`open:${name}`] = closed(schema, true);
        }
        this.ajv.addSchema({ $id: 'pawl', components: { schemas } });
        this.validators = new Map();
        this.operations = [];
        for (const [path, written] of Object.entries(json.paths)) {
            const item = this.resolve(written);
            for (const method of METHODS)
                if (item[method]) this.operations.push(this.operation(method, path, item, written));
        }
        this.byId = new Map(this.operations.map((o) => [o.id, o]));
    }

    resolve(thing) {
        if (!thing?.$ref) return thing;
        const parts = thing.$ref.slice(2).split('/').map((p) => p.replaceAll('~1', '/').replaceAll('~0', '~'));
        return parts.reduce((at, part) => at[part], this.json);
    }

    operation(method, path, item) {
        const it = item[method];
        return {
            id: it.operationId,
            method: method.toUpperCase(),
            path,
            roles: it['x-roles'],
            events: it['x-events'],
            isOpen: Array.isArray(it.security) && it.security.length === 0,
            isSafe: method === 'get' || it['x-safe'] === true,
            parameters: [...(item.parameters ?? []), ...(it.parameters ?? [])].map((p) => this.resolve(p)),
            body: it.requestBody ? this.resolve(it.requestBody) : null,
            responses: Object.fromEntries(Object.entries(it.responses).map(([s, r]) => [s, this.resolve(r)])),
        };
    }

    /** The schema behind references. */
    schema(schema) {
        return schema?.$ref ? this.schema(this.resolve(schema)) : schema;
    }

    bodySchema(operation) {
        const [content] = Object.values(operation.body?.content ?? {});
        return content ? this.schema(content.schema) : null;
    }

    /** The mistakes of a value against a schema of the document, as text; empty when it fits. */
    mistakes(schema, value) {
        let validate = this.validators.get(schema);
        if (!validate) {
            validate = this.ajv.compile(closed(schema));
            this.validators.set(schema, validate);
        }
        if (validate(value)) return '';
        return validate.errors
            .slice(0, 5)
            .map((e) => `${e.instancePath || '/'} ${e.message} ${JSON.stringify(e.params)}`)
            .join('; ');
    }

    /** What is wrong with an answer to an operation; empty when the document describes it. */
    answerMistakes(operation, answer, isHead = false) {
        const response = operation.responses[answer.status];
        if (!response) return `status ${answer.status} is not documented`;
        return this.responseMistakes(response, answer, isHead);
    }

    responseMistakes(response, answer, isHead = false) {
        const type = answer.headers['content-type'];
        const documented = Object.entries(this.resolve(response).headers ?? {});
        for (const [name, written] of documented) {
            const header = this.resolve(written);
            const value = answer.headers[name.toLowerCase()];
            if (value === undefined && header.required) return `the header ${name} is missing`;
            if (value === undefined) continue;
            const wrong = this.mistakes(header.schema, value);
            if (wrong) return `header ${name}: ${wrong}`;
        }
        const names = documented.map(([name]) => name.toLowerCase());
        for (const name of ['location', 'etag', 'allow', 'retry-after', 'www-authenticate'])
            if (answer.headers[name] !== undefined && !names.includes(name))
                return `the header ${name} is not documented`;
        const content = Object.entries(response.content ?? {});
        if (content.length === 0) return answer.raw === '' && type === undefined ? '' : `a body of ${type}: ${answer.raw}`;
        const found = content.find(([name]) => name === type);
        if (!found) return `content type ${type} is not documented`;
        if (isHead) return answer.raw === '' ? '' : 'HEAD has a body';
        if (!type.includes('json')) return this.mistakes(found[1].schema, answer.raw);
        if (answer.json === undefined) return `the body is no JSON: ${answer.raw}`;
        return this.mistakes(found[1].schema, answer.json);
    }
}
