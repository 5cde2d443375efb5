// Whether a server answers as its OpenAPI document says, judged by ajv, which knows nothing of it.
//
// usage: node answers.mjs '{"url": "http://127.0.0.1:8080", "token": "t", "tamper": false}'
//   token   an operator's
//   tamper  whether to change the document first, so that answers do not fit it
//
// Prints {"checked": 60, "operations": ["GET /..."], "violations": ["..."]}.

import Ajv from 'ajv';
import addFormats from 'ajv-formats';

const { url, token, tamper } = JSON.parse(process.argv[2]);
const root = '/api/hyperfleet/v1';
const document = await (await fetch(`${url}${root}/openapi`)).json();
if (tamper) {
  delete document.components.schemas.Cluster.properties.generation;
  document.components.schemas.AdapterStatus.properties.adapter.type = 'integer';
  delete document.paths[`${root}/channels`].post.responses['409'];
}

// An answer has no member that is not documented, so schemas that list members list all.
function close(node) {
  if (node === null || typeof node !== 'object') {
    return;
  }
  if (node.type === 'object' && node.properties && !('additionalProperties' in node)) {
    node.additionalProperties = false;
  }
  Object.values(node).forEach(close);
}
close(document.components.schemas);

const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false });
addFormats(ajv);
ajv.addSchema(document, 'document');

const deref = (node) =>
  node && node.$ref
    ? node.$ref.slice(2).split('/').reduce((at, key) => at[key], document)
    : node;
const escape = (text) => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));

// The template of the document that a path fits; the one with the fewest variables.
function templateOf(path) {
  const fits = Object.keys(document.paths).filter((template) =>
    new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path),
  );
  return fits.sort((a, b) => a.split('{').length - b.split('{').length)[0];
}

const violations = [];
const operations = new Set();
let checked = 0;

// What of an answer is not as its operation says.
function judge(name, operation, response, body) {
  // `default` is for what the transport refuses by itself, which no call here provokes.
  const said = deref(operation.responses[response.status]);
  if (!said) {
    violations.push(`${name}: ${response.status} is not documented`);
    return;
  }
  for (const [header, about] of Object.entries(said.headers ?? {})) {
    if (deref(about).required && !response.headers.has(header)) {
      violations.push(`${name}: no ${header}`);
    }
  }
  const type = (response.headers.get('content-type') ?? '').split(';')[0];
  if (!said.content) {
    if (body !== '') {
      violations.push(`${name}: has a body`);
    }
    return;
  }
  const content = said.content[type];
  if (!content) {
    violations.push(`${name}: ${type} is not documented`);
  } else if (content.schema.$ref) {
    const validate = ajv.getSchema(`document${content.schema.$ref}`);
    if (!validate(JSON.parse(body))) {
      violations.push(`${name}: ${ajv.errorsText(validate.errors)}`);
    }
  }
}

async function call(method, path, expected, body, headers = {}) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${url}${path}`, {
    method,
    body: text,
    headers: text === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
  });
  const answer = await response.text();
  const plain = path.split('?')[0];
  const template = templateOf(plain);
  const operation = document.paths[template]?.[method.toLowerCase()];
  const name = `${method} ${path.slice(0, 100)}`;
  if (!operation) {
    violations.push(`${name}: no such operation`);
    return {};
  }
  if (response.status !== expected) {
    violations.push(`${name}: ${response.status} instead of ${expected}: ${answer.slice(0, 300)}`);
  }
  operations.add(`${method} ${template}`);
  checked += 1;
  judge(name, operation, response, answer);
  return {
    headers: response.headers,
    body: response.headers.get('content-type')?.includes('json') ? JSON.parse(answer) : answer,
  };
}

const resource = (kind, name, more = {}) => ({ kind, name, spec: {}, ...more });
const report = (adapter, available, generation = 1) => ({
  adapter,
  observed_generation: generation,
  observed_time: new Date().toISOString(),
  conditions: ['Applied', 'Available', 'Health'].map((type) => ({
    type,
    status: type === 'Available' ? available : 'True',
    reason: 'Because',
    message: 'so',
  })),
  data: { endpoint: 'x' },
});
const admin = { Authorization: `Bearer ${token}` };

async function theService() {
  await call('GET', '/api/hyperfleet', 200);
  await call('GET', `${root}/openapi`, 200);
  await call('GET', `${root}/openapi.html`, 200);
  await call('GET', `${root}/openapi?a=%zz`, 400);
}

// A resource of a kind, from its beginning to its end, and what is refused on the way.
async function aLife() {
  const clusters = `${root}/clusters`;
  const labels = { team: 'fleet', 'cost-center': '7' };
  const { body: made } = await call('POST', clusters, 201, resource('Cluster', 'prod', { labels }));
  const one = `${clusters}/${made.id}`;
  await call('POST', clusters, 409, resource('Cluster', 'prod'));
  await call('POST', clusters, 400, resource('Cluster', 'UPPER'));
  await call('POST', clusters, 400, resource('Channel', 'prod'));
  await call('POST', clusters, 400, '{"kind":"Cluster","kind":"Cluster"}');
  const large = { spec: { a: 'x'.repeat(70000) } };
  await call('POST', clusters, 413, resource('Cluster', 'large', large));
  await call('GET', one, 200);
  await call('GET', `${one}?fields=id,name,status.conditions.type`, 200);
  await call('GET', `${one}?fields=nothing`, 400);
  await call('PATCH', one, 412, { spec: {} }, { 'If-Match': '"0-0"' });
  await call('PATCH', one, 200, { spec: { n: 9007199254740993n.toString(), f: 1.5 } });
  await call('PATCH', one, 400, { tenancy: {} });
  await call('GET', `${one}/statuses`, 200);
  await call('PUT', `${one}/statuses`, 201, report('dns', 'True', 2));
  await call('PUT', `${one}/statuses`, 204, report('dns', 'True', 9));
  await call('PUT', `${one}/statuses`, 400, { adapter: 'dns' });
  await call('GET', `${one}/statuses`, 200);
  await call('GET', one, 200);
  await call('POST', `${one}/force-delete`, 409, { reason: 'stuck' });
  await call('DELETE', one, 202);
  await call('DELETE', one, 202);
  await call('PATCH', one, 409, { spec: {} });
  await call('GET', `${one}/history?limit=2`, 200);
  await call('POST', `${one}/force-delete`, 204, { reason: 'stuck' });
  await call('GET', one, 404);
  await call('GET', `${one}/history`, 200);
  await call('GET', `${clusters}/${'0'.repeat(8)}-none/history`, 404);
}

async function aFamily() {
  const { body: owner } = await call('POST', `${root}/clusters`, 201, resource('Cluster', 'owner'));
  const pools = `${root}/clusters/${owner.id}/nodepools`;
  const { body: pool } = await call('POST', pools, 201, resource('NodePool', 'pool'));
  await call('POST', pools, 400, resource('NodePool', 'much-too-long-for-a-pool'));
  await call('POST', `${root}/nodepools`, 422, resource('NodePool', 'orphan'));
  await call('POST', `${root}/clusters/none/nodepools`, 404, resource('NodePool', 'orphan'));
  await call('GET', pools, 200);
  await call('GET', `${pools}/${pool.id}`, 200);
  await call('GET', `${root}/nodepools/${pool.id}`, 200);
  await call('PATCH', `${pools}/${pool.id}`, 200, { labels: { a: 'b' } });
  await call('PUT', `${pools}/${pool.id}/statuses`, 201, report('validation', 'False', 2));
  await call('GET', `${pools}/${pool.id}/statuses`, 200);
  await call('GET', `${pools}/${pool.id}/history`, 200);
  await call('DELETE', `${pools}/${pool.id}`, 202);
  const stable = resource('Channel', 'stable');
  const { body: channel } = await call('POST', `${root}/channels`, 201, stable);
  await call('POST', `${root}/channels`, 409, stable);
  const versions = `${root}/channels/${channel.id}/versions`;
  const { body: version } = await call('POST', versions, 201, resource('Version', 'v1'));
  await call('DELETE', `${root}/channels/${channel.id}`, 409);
  await call('DELETE', `${versions}/${version.id}`, 202);
  await call('DELETE', `${root}/channels/${channel.id}`, 202);
  await call('GET', `${root}/wifconfigs`, 200);
}

async function lists() {
  const key = { 'Idempotency-Key': 'once' };
  const body = resource('WifConfig', 'wif');
  await call('POST', `${root}/resources`, 201, body, key);
  await call('POST', `${root}/resources`, 201, body, key);
  await call('POST', `${root}/resources`, 422, resource('WifConfig', 'other'), key);
  const all = `${root}/resources`;
  await call('GET', `${all}?size=1&page=2&order=name desc`, 200);
  await call('GET', `${all}?kind=WifConfig&fields=id`, 200);
  await call('GET', `${all}?search=${encodeURIComponent("name = 'wif' and generation = 1")}`, 200);
  await call('GET', `${all}?search=${encodeURIComponent("name = 'wif")}`, 400);
  await call('GET', `${all}?size=0`, 400);
  const { headers, body: page } = await call('GET', `${all}?cursor=&size=1`, 200);
  await call('GET', `${all}?cursor=${encodeURIComponent(page.next_cursor)}&size=1`, 200);
  await call('GET', all, 200, undefined, { 'X-Halo-At-Least': headers.get('x-halo-cursor') });
  await call('GET', `${all}?freshness=cached`, 200);
  await call('GET', `${all}?freshness=old`, 400);
  await call('GET', `${all}?as_of=1`, 403);
  await call('GET', `${all}?as_of=1`, 200, undefined, admin);
}

await theService();
await aLife();
await aFamily();
await lists();
console.log(JSON.stringify({ checked, operations: [...operations], violations }));
