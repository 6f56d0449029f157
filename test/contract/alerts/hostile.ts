import type { AlertRequest } from '../../../src/contract/alerts/index.ts';

type Place = readonly (string | number)[];

/** What a stranger may put in the place of any value. */
export const hostileValues: readonly unknown[] = [
  null,
  true,
  -1,
  1e300,
  '',
  ' \n\t',
  'x'.repeat(100_000),
  '\u0000\u001b[31m\u202e\ud800 a\r\nb\u2028c\udfff',
  '2026-99-99T99:99:99Z',
  '999999999999999',
  '9999-12-31T23:59:59Z',
  '__proto__',
  'javascript:alert(1)',
  'https://user:password@example.com/',
  [],
  [[], null, {}, 'x', 1],
  Array.from({ length: 1_001 }, () => ({})),
  {},
  deep(2_000),
  JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":1},"toString":"x","hasOwnProperty":1}'),
  JSON.parse('{"__proto__":"text","a\\u0000b":"c\\u0000d","":"empty","valueOf":"x"}'),
  Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`label-${index}`, 'value'])),
  { ['n'.repeat(10_000)]: 'v'.repeat(10_000), ['n'.repeat(10_001)]: 'v' },
];

/** What a stranger may send as a proof. */
export const hostileHeaders: readonly AlertRequest['headers'][string][] = [
  undefined,
  '',
  ' ',
  ',',
  'Bearer',
  'Bearer ',
  'Bearer undefined',
  'Basic',
  'Basic Og==',
  'Basic ====',
  'v1=',
  'v1=,v1=,',
  '0'.repeat(64),
  `v1=${'0'.repeat(64)}`,
  'é\u0000\ud800',
  'x'.repeat(100_000),
  [],
  ['Bearer a', 'Bearer b'],
];

/** Secrets that differ from this one by little. */
export function nearSecrets(secret: string): readonly string[] {
  const last = secret.at(-1) === 'A' ? 'B' : 'A';
  return [
    `${secret.slice(0, -1)}${last}`,
    secret.slice(0, -1),
    secret.slice(1),
    `${secret}A`,
    secret.toUpperCase(),
    'another',
  ];
}

/** The places of all values in a body, its own first. */
export function placesOf(body: unknown, place: Place = []): readonly Place[] {
  if (Array.isArray(body)) return [place, ...body.flatMap((value, index) => placesOf(value, [...place, index]))];
  if (typeof body !== 'object' || body === null) return [place];
  return [place, ...Object.entries(body).flatMap(([key, value]) => placesOf(value, [...place, key]))];
}

/** The body with another value at the place. */
export function bodyWith(body: unknown, [step, ...rest]: Place, value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(body)) return body.map((each, index) => (index === step ? bodyWith(each, rest, value) : each));
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(
    Object.entries(body).map(([key, each]) => [key, key === step ? bodyWith(each, rest, value) : each]),
  );
}

function deep(depth: number): unknown {
  let value: unknown = 'bottom';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { labels: value, alerts: value };
  return value;
}
