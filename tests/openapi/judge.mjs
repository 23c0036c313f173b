// judge.mjs - what is wrong with the answer to a request that may be wrong itself.

/** The text of a request for a report, without the token of whoever sent it. */
export const printable = (bytes) => JSON.stringify(bytes.toString('latin1').slice(0, 700)).replace(/Bearer [0-9a-z_]{20,}/, 'Bearer TOKEN');

/** What is hardly HTTP may be answered below the API, or not at all. */
export function brokenMistakes(answer) {
    if (answer.status === 0 || answer.status === 505 || (answer.status >= 400 && answer.status < 500)) return '';
    return `status ${answer.status}`;
}

// An answer of the API: a problem with a known code, or what the operation is documented to answer.
function mistakes(doc, made, answer) {
    if (answer.status === 0) return 'the connection was closed without an answer';
    if (answer.status >= 500 && !(made.mayBeBusy && answer.status === 503)) return `status ${answer.status}`;
    if (made.isRefused && answer.status < 400) return `was not refused: ${answer.status}`;
    if (!made.isElsewhere) return doc.answerMistakes(made.operation, answer, made.method === 'HEAD');
    // It may have led to another operation, or to this one all the same.
    if (answer.status < 400 || !doc.answerMistakes(made.operation, answer)) return made.isAnywhere ? '' : doc.answerMistakes(made.operation, answer);
    const response = Object.values(doc.json.components.responses).find(
        (r) => r.content['application/problem+json']?.schema.properties.status.const === answer.status,
    );
    return response ? doc.responseMistakes(response, answer) : `status ${answer.status} has no response in the document`;
}

/**
 * What is wrong with the answer to a case of malform.mjs or fuzzer.mjs, sent as these bytes; empty when
 * nothing is. A request line or headers beyond their bounds are answered below the API.
 */
export function judge(doc, made, bytes, answer) {
    const isLong = bytes.length - (made.body?.length ?? 0) > 2000 && [414, 431].includes(answer.status);
    const isBelow = isLong || /[ \\\xff\x00-\x1f]|^[^/h]/.test(made.target) || made.method.length > 50;
    return isBelow ? brokenMistakes(answer) : mistakes(doc, made, answer);
}
