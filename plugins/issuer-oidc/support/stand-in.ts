import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import {
  Events,
  OAuth2Issuer,
  OAuth2Service,
  type MutableResponse,
  type MutableRedirectUri,
  type MutableToken,
} from 'oauth2-mock-server';
import type { Claims } from '../claims.ts';

/** oauth2-mock-server as a provider that says whatever a test wants it to. */
export interface StandIn {
  readonly origin: string;
  /** As configured; below the origin where a path was given. */
  readonly issuer: string;
  /** Written over what it says by itself; `undefined` takes a claim away. */
  says: {
    idToken: Claims;
    accessToken: Claims;
    accessTokenHeader: Claims;
    userinfo: Claims;
    metadata: Claims;
    introspection: Claims;
  };
  /** Changes the way back to us. */
  onRedirect: (url: URL) => void;
  /** In place of the token endpoint's answer. */
  tokenFailure: { readonly status: number; readonly error: string } | undefined;
  /** Whether the endpoint of its keys answers 500. */
  keysFail: boolean;
  /** In place of the ID token that it made. */
  replaceIdToken: string | undefined;
  /** What it was asked, and not what it answered. */
  readonly count: Record<'discovery' | 'keys' | 'token' | 'userinfo', number>;
  /** Bodies and headers that its token endpoint was sent. */
  readonly tokenRequests: { readonly body: Claims; readonly authorization: string | undefined }[];
  /** Signs with a new key from now on; the others are still published. */
  rotateKeys(): Promise<void>;
  /** An access token as it would give one; claims as above, and more. */
  mint(claims: Claims, header?: Claims): Promise<string>;
  /** Answers nothing until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startStandIn(path = ''): Promise<StandIn> {
  const mock = new OAuth2Issuer();
  const service = new OAuth2Service(mock, {
    wellKnownDocument: `${path.replace(/\/$/, '')}/.well-known/openid-configuration`,
  });
  let kid = await addKey(mock);
  const server = createServer((request, response) => {
    if (request.url === '/jwks') standIn.count.keys += 1;
    if (request.url === '/token') standIn.count.token += 1;
    if (request.url === '/jwks' && standIn.keysFail) return response.writeHead(500).end();
    service.requestHandler(request, response);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const origin = `http://127.0.0.1:${address.port}`;
  const issuer = `${origin}${path}`;
  mock.url = issuer;

  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };

  const standIn: StandIn = {
    origin,
    issuer,
    says: { idToken: {}, accessToken: {}, accessTokenHeader: {}, userinfo: {}, metadata: {}, introspection: {} },
    onRedirect: () => {},
    tokenFailure: undefined,
    keysFail: false,
    replaceIdToken: undefined,
    count: { discovery: 0, keys: 0, token: 0, userinfo: 0 },
    tokenRequests: [],
    async rotateKeys() {
      kid = await addKey(mock);
    },
    async mint(claims, header = {}) {
      return await mock.buildToken({
        kid,
        scopesOrTransform: (head, payload) => {
          Object.assign(head, header);
          Object.assign(payload, { sub: 'johndoe' }, claims);
        },
      });
    },
    pause: close,
    resume: () => listen(address.port),
    stop: close,
  };

  service.on(Events.BeforeWellKnownOpenIdConfiguration, (response: MutableResponse) => {
    standIn.count.discovery += 1;
    response.body = {
      ...(response.body === '' ? {} : response.body),
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      userinfo_endpoint: `${origin}/userinfo`,
      jwks_uri: `${origin}/jwks`,
      introspection_endpoint: `${origin}/introspect`,
      ...standIn.says.metadata,
    };
  });
  service.on(
    Events.BeforeTokenSigning,
    (token: MutableToken, request: { headers: { authorization?: string }; body: Claims }) => {
      const isAccessToken = 'amr' in token.payload;
      if (isAccessToken)
        standIn.tokenRequests.push({ body: request.body, authorization: request.headers.authorization });
      Object.assign(token.payload, isAccessToken ? standIn.says.accessToken : standIn.says.idToken);
      if (isAccessToken) Object.assign(token.header, standIn.says.accessTokenHeader);
    },
  );
  service.on(Events.BeforeResponse, (response: MutableResponse) => {
    if (standIn.replaceIdToken !== undefined && response.body !== '') {
      response.body['id_token'] = standIn.replaceIdToken;
    }
    if (standIn.tokenFailure === undefined) return;
    response.statusCode = standIn.tokenFailure.status;
    response.body = { error: standIn.tokenFailure.error, error_description: 'secret-of-the-provider' };
  });
  service.on(Events.BeforeUserinfo, (response: MutableResponse) => {
    standIn.count.userinfo += 1;
    response.body = { ...(response.body === '' ? {} : response.body), ...standIn.says.userinfo };
  });
  service.on(Events.BeforeAuthorizeRedirect, ({ url }: MutableRedirectUri) => standIn.onRedirect(url));
  service.on(
    Events.BeforeIntrospect,
    (response: MutableResponse) => (response.body = { ...standIn.says.introspection }),
  );
  return standIn;
}

/** Its own `generate` takes no key that was made outside jest's realm. */
async function addKey(mock: OAuth2Issuer): Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = randomUUID();
  await mock.keys.add({ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', kid });
  return kid;
}
