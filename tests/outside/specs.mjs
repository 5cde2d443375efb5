// Schemas and specs made by chance, and what ajv says of each spec: what a server has to say too.
//
// usage: node specs.mjs '{"seed": 1, "openapi": "3.1.0", "kinds": 40, "specs": 20}'
//   openapi   3.1.0: schemas of 2020-12; 3.0.3: of draft 4 with `nullable`
//
// Prints {"document": {...}, "cases": [{"kind": "K0", "spec": {...}, "fits": true}]}, the document
// being one for `server.openapi_schema_path`. What the two read differently on purpose is left out:
// numbers that no double holds, formats that are remarks, look-ahead in patterns; so are
// unevaluatedProperties and unevaluatedItems, over which this ajv trips.

import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const { seed, openapi, kinds, specs } = JSON.parse(process.argv[2]);
const isNew = openapi.startsWith('3.1');

// mulberry32
let state = seed >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}
const below = (bound) => Math.floor(random() * bound);
const chance = (part) => random() < part;
const pick = (list) => list[below(list.length)];
const some = (list) => {
  const chosen = list.filter(() => chance(0.4));
  return chosen.length > 0 ? chosen : [pick(list)];
};

const members = ['a', 'b', 'c', 'dd'];
const strings = ['', 'a', 'ab', 'abc', 'x1', 'éé', '😀', '2026-02-28', '2026-02-29'];
const scalars = [null, true, false, 0, 1, 2, 3, 6, -1, 1.5, 0.25, ...strings];
const types = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'];
const shared = ['Shared0', 'Shared1', 'Shared2'];

function value(depth) {
  const kind = depth > 0 ? random() : 0;
  if (kind < 0.5) {
    return pick(scalars);
  }
  return kind < 0.75 ? Array.from({ length: below(4) }, () => value(depth - 1)) : object(depth);
}

function object(depth) {
  return Object.fromEntries(
    members.filter(() => chance(0.6)).map((name) => [name, value(depth - 1)]),
  );
}

const bounds = (least, most, top) => {
  const low = below(top);
  const all = { [least]: low, [most]: low + below(top) };
  return chance(0.5) ? all : chance(0.5) ? { [least]: low } : { [most]: all[most] };
};
const named = (depth) => Object.fromEntries(some(members).map((name) => [name, schema(depth - 1)]));
const several = (depth) => Array.from({ length: 1 + below(3) }, () => schema(depth - 1));

// Keywords that both dialects have, each with what it takes.
const common = [
  () => ({ enum: some(scalars).slice(0, 6) }),
  () => ({ minimum: below(3) }),
  () => ({ maximum: below(4) }),
  () => ({ exclusiveMinimum: below(3) }),
  () => ({ exclusiveMaximum: 1 + below(4) }),
  () => ({ multipleOf: pick([1, 2, 3, 0.5]) }),
  () => bounds('minLength', 'maxLength', 3),
  () => ({ pattern: pick(['^a', 'b$', '^[a-z]+$', '^.$', '\\d', '^\\w*$']) }),
  () => ({ format: 'date' }),
  () => bounds('minItems', 'maxItems', 3),
  () => ({ uniqueItems: true }),
  () => ({ required: some(members) }),
  () => bounds('minProperties', 'maxProperties', 3),
];
const nesting = [
  (depth) => ({ properties: named(depth) }),
  (depth) => ({ additionalProperties: chance(0.5) ? false : schema(depth - 1) }),
  (depth) => ({ properties: named(depth), additionalProperties: false }),
  (depth) => ({ items: schema(depth - 1) }),
  (depth) => ({ allOf: several(depth) }),
  (depth) => ({ anyOf: several(depth) }),
  (depth) => ({ oneOf: several(depth) }),
  (depth) => ({ not: schema(depth - 1) }),
];
// Those of 2020-12 alone.
const newer = [
  () => ({ const: pick(scalars) }),
  () => ({ type: some(types) }),
  () => ({ dependentRequired: { [pick(members)]: some(members) } }),
  (depth) => ({ patternProperties: { [pick(['^a', 'd', 'b|c'])]: schema(depth - 1) } }),
  () => ({ propertyNames: pick([{ maxLength: 1 }, { pattern: '^[abc]' }]) }),
  (depth) => ({ propertyNames: schema(depth - 1) }),
  (depth) => ({ dependentSchemas: { [pick(members)]: schema(depth - 1) } }),
  (depth) => ({ prefixItems: several(depth) }),
  (depth) => ({ prefixItems: several(depth), items: schema(depth - 1) }),
  // With no upper bound this ajv lets an empty list pass at times.
  (depth) => ({ contains: schema(depth - 1), minContains: below(3), maxContains: 1 + below(3) }),
  (depth) => ({ if: schema(depth - 1), then: schema(depth - 1), else: schema(depth - 1) }),
];

const deeper = isNew ? [...nesting, ...newer] : nesting;

function schema(depth) {
  if (depth > 0 && chance(0.08)) {
    return { $ref: `#/components/schemas/${pick(shared)}` };
  }
  if (isNew && chance(0.05)) {
    return chance(0.7);
  }
  const made = {};
  if (chance(0.5)) {
    made.type = pick(types.slice(isNew ? 0 : 1));
    if (chance(0.2)) {
      Object.assign(made, isNew ? { type: [...new Set([made.type, 'null'])] } : { nullable: true });
    }
  }
  for (let count = 1 + below(2); count > 0; --count) {
    Object.assign(made, pick(depth === 0 ? common : [...common, ...deeper])(depth));
  }
  return made;
}

// The same schema, with `change` made to each object of it.
function mapped(node, change) {
  if (Array.isArray(node)) {
    return node.map((part) => mapped(part, change));
  }
  if (node === null || typeof node !== 'object') {
    return node;
  }
  return change(
    Object.fromEntries(
      Object.entries(node).map(([key, part]) =>
        key === 'enum' ? [key, part] : [key, mapped(part, change)],
      ),
    ),
  );
}

// As 3.0 writes it: bounds are exclusive by a flag.
function older(node) {
  for (const [flag, bound] of [['exclusiveMinimum', 'minimum'], ['exclusiveMaximum', 'maximum']]) {
    if (typeof node[flag] === 'number') {
      node[bound] = node[flag];
      node[flag] = true;
    }
  }
  return node;
}

// As 2020-12 writes it: null passes a schema with `nullable`, whatever else that demands. Bounds of
// both sorts beside each other cannot be written in 3.0.
function newest({ nullable, ...node }) {
  if (typeof node.exclusiveMinimum === 'number') {
    delete node.minimum;
  }
  if (typeof node.exclusiveMaximum === 'number') {
    delete node.maximum;
  }
  return nullable ? { anyOf: [{ type: 'null' }, node] } : node;
}

// Shared schemas refer to each other only of a value further in.
const schemas = Object.fromEntries(
  shared.map((name) => [
    name,
    {
      properties: { a: { $ref: `#/components/schemas/${pick(shared)}` }, b: schema(0) },
      ...schema(0),
    },
  ]),
);
for (let kind = 0; kind < kinds; ++kind) {
  const top = { properties: Object.fromEntries(members.map((name) => [name, schema(3)])) };
  schemas[`K${kind}`] = chance(0.5) ? top : { ...top, ...pick(deeper)(2) };
}
const info = { title: 'Schemas', version: '1' };
const document = { openapi, info, paths: {}, components: { schemas } };

const ajv = new Ajv({ strict: false, logger: false });
addFormats(ajv, ['date']);
ajv.addSchema(isNew ? document : mapped(document, newest), 'document');

const cases = [];
for (let kind = 0; kind < kinds; ++kind) {
  const fits = ajv.getSchema(`document#/components/schemas/K${kind}`);
  for (let count = 0; count < specs; ++count) {
    const spec = object(3);
    try {
      cases.push({ kind: `K${kind}`, spec, fits: fits(spec) });
    } catch {
      // It trips over its notes for unevaluatedProperties, which nobody asked for.
    }
  }
}
console.log(JSON.stringify({ document: isNew ? document : mapped(document, older), cases }));
