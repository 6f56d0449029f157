import { createHmac, createPublicKey, generateKeyPairSync, KeyObject, sign, type JsonWebKey } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { decodeJwt, decodeProtectedHeader, exportJWK, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import type { Issuer, TokenClaims, TokenTrust } from '../../src/contract/issuer/index.ts';
import { lifecycleContract } from './lifecycle.ts';
import { rejection, type Runner } from './runner.ts';

/** Storage and servers around the issuer belong in place before this is made: what it leaves running is counted. */
export interface IssuerUnderTest {
  /** Not started. */
  readonly component: Issuer;
  /** The audience its tokens must have. */
  readonly resource: string;
  /** A fresh token by whatever way the issuer gives them, with what it must say. Called after `component.start()`. */
  mint(): Promise<MintedToken>;
  /** Removes what the test made; called after `component.stop()`. */
  cleanup(): Promise<void>;
}

export interface MintedToken {
  readonly token: string;
  readonly claims: TokenClaims;
}

/** Requests that belong to the gateway, whatever the issuer is. */
const otherPaths = ['/', '/mcp', '/v1/traces', '/livez', '/readyz', '/.well-known/oauth-protected-resource/mcp'];

/** The promises of every issuer: its tokens verify by what `trust` says, and nothing else does. */
export function issuerContract(runner: Runner, make: () => Promise<IssuerUnderTest>): void {
  const { describe, it, expect, beforeAll, afterAll } = runner;

  describe('issuer', () => {
    let subject: IssuerUnderTest;
    let issuer: Issuer;
    let minted: MintedToken;
    let trust: TokenTrust;
    let payload: JWTPayload;

    beforeAll(async () => {
      subject = await make();
      issuer = subject.component;
      await issuer.start(AbortSignal.timeout(20_000));
      minted = await subject.mint();
      payload = decodeJwt(minted.token);
      const named = issuer.trusts.find(({ issuer: name }) => name === payload.iss);
      if (named === undefined) throw new Error('the token is of no issuer that is trusted');
      trust = named;
    });
    afterAll(async () => {
      await issuer.stop();
      await subject.cleanup();
    });

    /** As the core verifies. */
    const verify = (token: string, changed: JWTVerifyOptions = {}) => {
      return jwtVerify(token, trust.keys, {
        issuer: trust.issuer,
        audience: subject.resource,
        algorithms: [...trust.algorithms],
        requiredClaims: ['exp', 'sub'],
        ...(trust.type === undefined ? {} : { typ: trust.type }),
        ...changed,
      });
    };

    const refused = async (token: string, changed?: JWTVerifyOptions) => {
      // Not by class: a refusal by the crypto library may come from another realm.
      expect(await rejection(verify(token, changed))).not.toBeUndefined();
    };

    it('trusts asymmetric algorithms only, and names itself by an absolute URL', () => {
      expect(trust.algorithms.length).toBeGreaterThan(0);
      for (const algorithm of trust.algorithms) expect(algorithm).toMatch(/^(ES256|EdDSA|RS256|PS256)$/);
      expect(URL.canParse(trust.issuer)).toBe(true);
      expect(issuer.authorizationServers.length).toBeGreaterThan(0);
      for (const server of issuer.authorizationServers) expect(URL.canParse(server)).toBe(true);
    });

    it('mints tokens that verify, and that say who is asking', async () => {
      const verified = await verify(minted.token);
      expect(trust.claims(verified.payload)).toEqual(minted.claims);
      const { iat, exp } = verified.payload;
      expect(typeof iat).toBe('number');
      expect((exp ?? 0) - (iat ?? 0)).toBeGreaterThan(0);
      expect((exp ?? 0) - (iat ?? 0)).toBeLessThanOrEqual(3600);
    });

    it('mints another token each time', async () => {
      expect((await subject.mint()).token).not.toBe(minted.token);
    });

    it('binds its tokens to audience, issuer, type and time', async () => {
      await refused(minted.token, { audience: `${subject.resource}/other` });
      await refused(minted.token, { audience: new URL(subject.resource).origin });
      await refused(minted.token, { issuer: 'https://elsewhere.example' });
      await refused(minted.token, { issuer: `${trust.issuer}/` });
      await refused(minted.token, { currentDate: new Date(((payload.exp ?? 0) + 1) * 1000) });
      if (trust.type !== undefined) await refused(minted.token, { typ: 'JWT' });
    });

    it('does not believe a token whose signature, header or payload was changed', async () => {
      const [header = '', body = '', signature = ''] = minted.token.split('.');
      const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
      await refused([header, body, flipped].join('.'));
      await refused([header, body, ''].join('.'));
      await refused([header, encode({ ...payload, sub: `${payload.sub}x` }), signature].join('.'));
      await refused([encode({ ...decodeProtectedHeader(minted.token), cty: 'x' }), body, signature].join('.'));
    });

    it('does not believe an unsigned token', async () => {
      for (const alg of ['none', 'None', 'NONE']) {
        await refused(`${encode({ ...decodeProtectedHeader(minted.token), alg })}.${encode(payload)}.`);
      }
    });

    it('does not believe a token signed with a public key as if it were a shared secret', async () => {
      const header = decodeProtectedHeader(minted.token);
      const key = await trust.keys({ ...header, alg: header.alg ?? '' }, { payload: '', signature: '' });
      if (key instanceof Uint8Array) throw new Error('a verification key must not be a shared secret');
      const exported = key instanceof KeyObject || key instanceof CryptoKey ? await exportJWK(key) : key;
      const jwk: JsonWebKey = { ...exported };
      const published = createPublicKey({ key: jwk, format: 'jwk' });
      const secrets = [
        published.export({ format: 'pem', type: 'spki' }),
        published.export({ format: 'der', type: 'spki' }),
        JSON.stringify(jwk),
      ];
      for (const secret of secrets) {
        const input = `${encode({ ...header, alg: 'HS256' })}.${encode(payload)}`;
        await refused(`${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`);
      }
    });

    it('does not believe a stranger, not even one who uses our key id or sends a key along', async () => {
      const own = decodeProtectedHeader(minted.token);
      const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const jwk = stranger.publicKey.export({ format: 'jwk' });
      for (const extra of [{}, { kid: undefined }, { kid: 'unknown' }, { jwk }, { kid: undefined, jwk }]) {
        const input = `${encode({ ...own, alg: 'ES256', ...extra })}.${encode(payload)}`;
        const signature = sign('sha256', Buffer.from(input), { key: stranger.privateKey, dsaEncoding: 'ieee-p1363' });
        await refused(`${input}.${signature.toString('base64url')}`);
      }
    });

    it('stays believable while forged key ids are thrown at it', async () => {
      const header = decodeProtectedHeader(minted.token);
      const [, body = '', signature = ''] = minted.token.split('.');
      const forged = Array.from({ length: 200 }, (_unused, index) => encode({ ...header, kid: `forged-${index}` }));
      await Promise.all(forged.map((head) => refused([head, body, signature].join('.'))));
      await verify(minted.token);
    });

    it('reads nothing out of a payload it did not mint', () => {
      const bare = { iss: trust.issuer, aud: subject.resource, exp: payload.exp ?? 0, iat: payload.iat ?? 0 };
      expect(trust.claims({})).toBeUndefined();
      expect(trust.claims(bare)).toBeUndefined();
      expect(trust.claims({ ...bare, sub: 'someone' })).toBeUndefined();
    });

    it('leaves the paths of the gateway alone', async () => {
      const { handle } = issuer;
      if (!handle) return;
      const taken = new Map<string, boolean>();
      const server = createServer((request, response) => {
        const done = handle(request, response);
        taken.set(request.url ?? '', done);
        if (!done) response.writeHead(299).end();
      });
      const origin = await listen(server);
      try {
        for (const path of otherPaths) {
          const response = await fetch(`${origin}${path}`);
          expect([path, taken.get(path), response.status]).toEqual([path, false, 299]);
        }
      } finally {
        await close(server);
      }
    });
  });

  lifecycleContract(runner, make);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
