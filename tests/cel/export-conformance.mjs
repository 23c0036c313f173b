#!/usr/bin/env node
// export-conformance.mjs - the public CEL conformance tests as JSON lines, one case a line.
//
//   node export-conformance.mjs [--plain-only] [--suite conformance|parsing|comprehension|checking]
//
// The tests come from @bufbuild/cel-spec as plain objects in proto3-JSON form. The runner,
// cel_conformance.c, is C and has no protobuf, so everything is turned into a shape that can be
// read without a schema:
//
//   {"id": "file/section/name", "file", "section", "name", "expr",
//    "description", "container", "locale",                     when the case has them
//    "disable_macros", "disable_check", "check_only": true,    when set
//    "env": [{"var", "type"} | {"fn", "overloads": [{"id", "member", "params", "result"}]}],
//    "bindings": {name: value | {"error": [message]} | {"unknown": [id]}},
//    "expect": {"value": value, "type": type} | {"error": [message]} | {"unknown": true},
//    "celgo_type", "celgo_error": what the reference implementation made of it,
//    "proto": [why the case needs protobuf], "features": [optional parts it uses]}
//
// A value has exactly one key, so that int, uint and double stay apart and no number is rounded:
//
//   {"null": true} {"bool": b} {"int": "1"} {"uint": "1"} {"double": "NaN"} {"string": s}
//   {"bytes": base64} {"list": [v]} {"map": [[k, v]]} {"type": name} {"timestamp": "RFC 3339"}
//   {"duration": "1.5s"}, and with protobuf {"enum": {"type", "value"}} {"message": object}
//
// A type is text: "int", "list(int)", "map(string, dyn)", "optional_type(int)", "$T" for a type
// parameter. A case is plain when `proto` is empty.

import { pathToFileURL } from "node:url";

// --- values ---

const WELL_KNOWN = "type.googleapis.com/google.protobuf.";

// String(-0) is "0", and the sign of zero is what some cases are about.
const doubleText = (x) => (Object.is(x, -0) ? "-0" : String(x));

// What a google.protobuf.Value holds is JSON, whose numbers are all doubles.
function jsonValue(x) {
  if (x === null) return { null: true };
  if (Array.isArray(x)) return { list: x.map(jsonValue) };
  switch (typeof x) {
    case "boolean": return { bool: x };
    case "number": return { double: doubleText(x) };
    case "string": return { string: x };
    default: return { map: Object.entries(x).map(([k, v]) => [{ string: k }, jsonValue(v)]) };
  }
}

const SCALARS = {
  nullValue: () => ({ null: true }),
  boolValue: (x) => ({ bool: x }),
  int64Value: (x) => ({ int: String(x) }),
  uint64Value: (x) => ({ uint: String(x) }),
  doubleValue: (x) => ({ double: doubleText(x) }),
  stringValue: (x) => ({ string: x }),
  bytesValue: (x) => ({ bytes: x }),
  typeValue: (x) => ({ type: x }),
};

// Wrapper messages are the plain value once CEL has read them.
const WRAPPERS = {
  BoolValue: SCALARS.boolValue,
  Int32Value: SCALARS.int64Value,
  Int64Value: SCALARS.int64Value,
  UInt32Value: SCALARS.uint64Value,
  UInt64Value: SCALARS.uint64Value,
  FloatValue: SCALARS.doubleValue,
  DoubleValue: SCALARS.doubleValue,
  StringValue: SCALARS.stringValue,
  BytesValue: SCALARS.bytesValue,
};

const JSON_MESSAGES = new Set(["Value", "Struct", "ListValue"]);

function messageValue(message, proto) {
  const url = message["@type"];
  const name = url.startsWith(WELL_KNOWN) ? url.slice(WELL_KNOWN.length) : "";

  if (name === "Timestamp") return { timestamp: message.value };
  if (name === "Duration") return { duration: message.value };
  if (name in WRAPPERS) {
    proto.add("wrapper message");
    return WRAPPERS[name](message.value);
  }
  if (JSON_MESSAGES.has(name)) {
    proto.add("struct message");
    return jsonValue(message.value ?? null);
  }
  proto.add("message value");
  return { message };
}

function value(source, proto) {
  const kinds = Object.keys(source);
  if (kinds.length !== 1) throw new Error(`a value of ${kinds.length} kinds: ${JSON.stringify(source)}`);
  const [kind] = kinds;
  const content = source[kind];

  if (kind in SCALARS) return SCALARS[kind](content);
  switch (kind) {
    case "listValue":
      return { list: (content.values ?? []).map((v) => value(v, proto)) };
    case "mapValue":
      return { map: (content.entries ?? []).map((e) => [value(e.key, proto), value(e.value, proto)]) };
    case "enumValue":
      proto.add("enum value");
      return { enum: { type: content.type, value: content.value ?? 0 } };
    case "objectValue":
      return messageValue(content, proto);
  }
  throw new Error(`a value of unknown kind: ${kind}`);
}

// --- types ---

const PRIMITIVES = {
  BOOL: "bool", INT64: "int", UINT64: "uint", DOUBLE: "double", STRING: "string", BYTES: "bytes",
};

const MESSAGE_TYPES = {
  "google.protobuf.Timestamp": "timestamp",
  "google.protobuf.Duration": "duration",
};

function wellKnownType(name, proto) {
  if (name !== "ANY") return name.toLowerCase();
  proto.add("Any type");
  return "any";
}

function messageType(name, proto) {
  if (name in MESSAGE_TYPES) return MESSAGE_TYPES[name];
  proto.add("message type");
  return name;
}

// An element or parameter that is left out is of any type.
const typeOrDyn = (t, proto) => (t ? type(t, proto) : "dyn");
const types = (list, proto) => (list ?? []).map((t) => type(t, proto)).join(", ");

const TYPES = {
  primitive: (t) => PRIMITIVES[t],
  wrapper: (t, proto) => (proto.add("wrapper type"), `wrapper(${PRIMITIVES[t]})`),
  wellKnown: wellKnownType,
  null: () => "null",
  dyn: () => "dyn",
  error: () => "error",
  listType: (t, proto) => `list(${typeOrDyn(t.elemType, proto)})`,
  mapType: (t, proto) => `map(${type(t.keyType, proto)}, ${type(t.valueType, proto)})`,
  type: (t, proto) => (Object.keys(t).length > 0 ? `type(${type(t, proto)})` : "type"),
  typeParam: (t) => `$${t}`,
  messageType,
  abstractType: (t, proto) => `${t.name}(${types(t.parameterTypes, proto)})`,
  function: (t, proto) => `fn(${types(t.argTypes, proto)}) -> ${type(t.resultType, proto)}`,
};

function type(source, proto) {
  for (const [kind, write] of Object.entries(TYPES))
    if (kind in source) return write(source[kind], proto);
  throw new Error(`a type of unknown kind: ${JSON.stringify(source)}`);
}

// --- what an expression needs ---

const QUOTED = [
  String.raw`[bB]?[rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?''')`,
  String.raw`[rR][bB]?(?:"[^"\n]*"|'[^'\n]*')`,
  String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`,
];
const QUOTED_PATTERN = new RegExp(QUOTED.join("|"), "g");

// A name of a message inside a string literal is only text.
const withoutStrings = (expr) => expr.replace(QUOTED_PATTERN, '""');

// Timestamp and Duration as names are standard types of CEL; building one with {} is protobuf.
const PROTO_MARKS = [
  [/\b(TestAllTypes|NestedTestAllTypes|TestRequired|GlobalEnum|NestedEnum|NestedMessage)\b/, "test message or enum"],
  [/\bproto\.(hasExt|getExt)\b/, "proto extension macro"],
  [/\bcel\.expr\.conformance\b/, "test message or enum"],
  [/google\.protobuf\.(?!(Timestamp|Duration)\b)\w+/, "well-known message"],
  [/google\.protobuf\.(Timestamp|Duration)\s*\{/, "well-known message"],
];
const CONSTRUCTION = /(^|[^\w."'`])([A-Z]\w*|[A-Za-z_][\w.]*[A-Z]\w*)\s*\{/;

function noteProto(expr, container, proto) {
  const code = withoutStrings(expr);

  for (const [pattern, reason] of PROTO_MARKS) if (pattern.test(code)) proto.add(reason);
  if (container === "google.protobuf" && /\b\w+\s*\{/.test(code)) proto.add("well-known message");
  if (CONSTRUCTION.test(code)) proto.add("message construction");
}

const FEATURE_OF_FILE = {
  bindings_ext: "ext.bindings", block_ext: "ext.block", encoders_ext: "ext.encoders",
  macros2: "ext.comprehensions_v2", math_ext: "ext.math", network_ext: "ext.network",
  optionals: "optional", proto2_ext: "ext.proto", string_ext: "ext.strings", unknowns: "unknowns",
};

function noteFeatures(file, expr, features) {
  if (file in FEATURE_OF_FILE) features.add(FEATURE_OF_FILE[file]);
  if (/\.\?|\[\?|[{,]\s*\?|\boptional\b/.test(withoutStrings(expr))) features.add("optional");
}

// --- cases ---

function overload(source, proto) {
  return {
    id: source.overloadId,
    member: Boolean(source.isInstanceFunction),
    params: (source.params ?? []).map((t) => type(t, proto)),
    result: type(source.resultType, proto),
  };
}

function declaration(source, proto, features) {
  if (source.ident) return { var: source.name, type: type(source.ident.type, proto) };
  features.add("declared_function");
  return { fn: source.name, overloads: (source.function.overloads ?? []).map((o) => overload(o, proto)) };
}

const messages = (errorSet) => (errorSet.errors ?? []).map((e) => e.message ?? "");

function binding(source, proto, features) {
  if (source.value) return value(source.value, proto);
  if (source.error) {
    features.add("error_binding");
    return { error: messages(source.error) };
  }
  features.add("unknowns");
  return { unknown: source.unknown?.exprs ?? [] };
}

function expectation(test, suite, proto, features) {
  if (test.value) return { value: value(test.value, proto) };
  if (test.typedResult) {
    const { result, deducedType } = test.typedResult;
    return {
      ...(result && { value: value(result, proto) }),
      ...(deducedType && { type: type(deducedType, proto) }),
    };
  }
  if (test.evalError) return { error: messages(test.evalError) };
  if (test.anyEvalErrors) return { error: (test.anyEvalErrors.errors ?? []).flatMap(messages) };
  if (test.unknown || test.anyUnknowns) {
    features.add("unknowns");
    return { unknown: true };
  }
  // The specification: a conformance test that names no result expects true.
  return suite === "conformance" ? { value: { bool: true } } : undefined;
}

// Undefined members are left out by JSON.stringify(), and the order here is that of the lines.
function exportCase(entry, path, suite) {
  const test = entry.original;
  const proto = new Set();
  const features = new Set();
  const place = path.length > 0 ? path : [suite];
  const name = test.name ?? test.expr.replace(/\s+/g, " ").trim();
  const env = test.typeEnv?.map((d) => declaration(d, proto, features));
  const bindings = Object.entries(test.bindings ?? {}).map(([k, b]) => [k, binding(b, proto, features)]);
  const expect = expectation(test, suite, proto, features);

  noteProto(test.expr, test.container, proto);
  noteFeatures(place[0], test.expr, features);
  return {
    id: [...place, name].join("/"),
    file: place[0],
    section: place.slice(1).join("/"),
    name,
    expr: test.expr,
    description: test.description || undefined,
    container: test.container || undefined,
    locale: test.locale || undefined,
    disable_macros: test.disableMacros || undefined,
    disable_check: test.disableCheck || undefined,
    check_only: test.checkOnly || undefined,
    env: env?.length > 0 ? env : undefined,
    bindings: bindings.length > 0 ? Object.fromEntries(bindings) : undefined,
    expect,
    celgo_type: expect?.type ? undefined : entry.type || undefined,
    celgo_error: expect ? undefined : entry.error || undefined,
    proto: [...proto],
    features: [...features],
  };
}

function* exportSuite(tree, path, suite) {
  for (const entry of tree.tests ?? []) yield exportCase(entry, path, suite);
  for (const part of tree.suites ?? []) yield* exportSuite(part, [...path, part.name], suite);
}

// --- command line ---

function readArguments(args) {
  const options = { suite: "conformance", plainOnly: false };
  for (let i = 0; i < args.length; i++) {
    if (args[i] === "--plain-only") options.plainOnly = true;
    else if (args[i] === "--suite" && i + 1 < args.length) options.suite = args[++i];
    else throw new Error(`unknown argument: ${args[i]}`);
  }
  return options;
}

async function main() {
  const options = readArguments(process.argv.slice(2));
  const { tests } = await import(`@bufbuild/cel-spec/testdata/${options.suite}.js`);
  const lines = [];

  for (const test of exportSuite(tests, [], tests.name))
    if (!options.plainOnly || test.proto.length === 0) lines.push(JSON.stringify(test));
  process.stdout.write(`${lines.join("\n")}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main();
