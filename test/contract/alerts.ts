import { generateSecret } from '../../src/contract/core/index.ts';
import type { AlertInput, AlertRequest } from '../../src/contract/alerts/index.ts';
import { bodyWith, hostileHeaders, hostileValues, nearSecrets, placesOf } from './alerts/hostile.ts';
import { noticeFaults, noticesOf } from './alerts/notices.ts';
import type { Runner } from './runner.ts';

export { noticeFaults, noticesOf };

export interface AlertsUnderTest {
  /** With a clock that stands still. */
  readonly input: AlertInput;
  /** Each way in which the sender proves itself, by name: the headers it sends. */
  readonly proofs: Readonly<Record<string, AlertProof>>;
  /** Bodies as the sender posts them, by name, with the titles of the notices that are in them, in order. */
  readonly samples: Readonly<Record<string, { readonly body: unknown; readonly titles: readonly string[] }>>;
  /** What the sender says of one alert when it begins and when it is over. */
  readonly life: { readonly firing: unknown; readonly resolved: unknown };
}

export interface AlertProof {
  /** Whether it is a signature, which holds for no other body. */
  readonly signs: boolean;
  headers(body: Buffer, secret: string): AlertRequest['headers'];
}

const silent = (): void => undefined;

/** The promises of every alert input. */
export function alertsContract(runner: Runner, make: () => AlertsUnderTest): void {
  const { describe, it, expect } = runner;
  const secret = generateSecret('whs');

  const { proofs, samples } = make();
  const firstSample = Object.values(samples)[0]?.body;
  const body = Buffer.from(JSON.stringify(firstSample));

  describe('alert input', () => {
    for (const [name, proof] of Object.entries(proofs)) {
      it(`lets in who knows the secret: ${name}`, () => {
        expect(make().input.verify({ headers: proof.headers(body, secret), body }, secret)).toBe(true);
      });

      it(`refuses a secret that is not the one, and one almost the same: ${name}`, () => {
        const { input } = make();
        for (const other of nearSecrets(secret)) {
          expect(input.verify({ headers: proof.headers(body, other), body }, secret)).toBe(false);
          expect(input.verify({ headers: proof.headers(body, secret), body }, other)).toBe(false);
        }
      });

      it(`lets nobody in where the secret is empty: ${name}`, () => {
        expect(make().input.verify({ headers: proof.headers(body, ''), body }, '')).toBe(false);
      });

      if (!proof.signs) continue;
      it(`refuses another body than the signed one: ${name}`, () => {
        const { input } = make();
        const headers = proof.headers(body, secret);
        for (const altered of [
          Buffer.concat([body, Buffer.from(' ')]),
          body.subarray(1),
          body.subarray(0, -1),
          Buffer.alloc(0),
          Buffer.from(body.map((byte, index) => (index === 5 ? byte ^ 1 : byte))),
        ]) {
          expect(input.verify({ headers, body: altered }, secret)).toBe(false);
        }
      });
    }

    it('refuses a request without a proof or with a senseless one, and does not throw', () => {
      const { input } = make();
      const names = new Set(Object.values(proofs).flatMap((proof) => Object.keys(proof.headers(body, secret))));
      expect(input.verify({ headers: {}, body }, secret)).toBe(false);
      for (const name of [...names, 'authorization']) {
        for (const value of hostileHeaders) {
          expect(input.verify({ headers: { [name]: value }, body }, secret)).toBe(false);
        }
      }
    });

    it('gives instructions with the address and the secret in them', () => {
      const text = make().input.instructions({ url: 'https://sightline.example.com/hooks/abc', secret });
      expect(text).toContain('https://sightline.example.com/hooks/abc');
      expect(text).toContain(secret);
    });

    for (const [name, sample] of Object.entries(samples)) {
      it(`reads what the sender posts, in its order and within bounds: ${name}`, () => {
        const notices = make().input.normalize(sample.body, silent);
        expect(notices.map(({ title }) => title)).toEqual(sample.titles);
        expect(notices.flatMap(noticeFaults)).toEqual([]);
      });

      it(`says the same of the same body, and leaves it as it is: ${name}`, () => {
        const before = JSON.stringify(sample.body);
        const read = (body: unknown) => make().input.normalize(body, silent);
        expect(read(sample.body)).toEqual(read(JSON.parse(before)));
        expect(JSON.stringify(sample.body)).toBe(before);
      });

      it(`takes no harm from a hostile value anywhere in the body: ${name}`, () => {
        const { input } = make();
        for (const place of placesOf(sample.body)) {
          for (const value of hostileValues) {
            expect(noticesOf(input, bodyWith(sample.body, place, value)).flatMap(noticeFaults)).toEqual([]);
          }
        }
      });
    }

    it('knows an alert again when it is over', () => {
      const { input, life } = make();
      const [firing, ...more] = input.normalize(life.firing, silent);
      const [resolved, ...others] = input.normalize(life.resolved, silent);
      expect([...more, ...others]).toEqual([]);
      expect(firing?.status).toBe('firing');
      expect(resolved?.status).toBe('resolved');
      expect(resolved?.fingerprint).toBe(firing?.fingerprint);
      expect(firing?.endsAt).toBeUndefined();
      expect(resolved?.endsAt).toBeInstanceOf(Date);
    });
  });
}
