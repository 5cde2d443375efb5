// An issuer of tokens that knows nothing of Halo: oidc-provider, with one client, which may ask for
// tokens for any audience. Its signing key is new at each start.
//
// usage: node issuer.mjs '{"port": 0, "kid": "one", "alg": "RS256", "clock": 0}'
//   port   where to listen; 0 picks one. The issuer is called http://127.0.0.1:PORT.
//   kid    what its key is called.
//   alg    what it signs with: RS256, RS384, RS512, PS256, ES256 or ES384.
//   clock  how many seconds its clock is ahead.
//
// Prints `issuing as URL` once it answers.

import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';

import { Provider } from 'oidc-provider';

const { port, kid, alg, clock } = JSON.parse(process.argv[2]);

const now = Date.now;
Date.now = () => now() + clock * 1000;

const curves = { ES256: 'P-256', ES384: 'P-384' };
const { privateKey } =
  alg in curves
    ? generateKeyPairSync('ec', { namedCurve: curves[alg] })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg };

// A token is for the resource that the client names (RFC 8707), and a JWT (RFC 9068).
const resourceIndicators = {
  enabled: true,
  getResourceServerInfo: (_context, resource) => ({
    audience: resource,
    scope: '',
    accessTokenFormat: 'jwt',
    accessTokenTTL: 600,
    jwt: { sign: { alg } },
  }),
};

const server = createServer();
server.listen(port, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: 'fleet-operator',
        client_secret: 'not-a-secret-of-anybody',
        grant_types: ['client_credentials'],
        id_token_signed_response_alg: alg,
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    enabledJWA: { idTokenSigningAlgValues: [alg] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators,
    },
  });
  server.on('request', provider.callback());
  console.log(`issuing as ${issuer}`);
});
