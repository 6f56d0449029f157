/**
 * What a contract suite needs of a test runner, so that a plugin's author may use any: jest's and vitest's globals fit as
 * they are, `node:test` with the `expect` package.
 */
export interface Runner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void> | void, timeoutMs?: number): void;
  beforeAll(hook: () => Promise<void> | void): void;
  afterAll(hook: () => Promise<void> | void): void;
  beforeEach(hook: () => Promise<void> | void): void;
  afterEach(hook: () => Promise<void> | void): void;
  expect(actual: unknown): Expectation;
}

/** The few matchers the suites keep to; all of them mean what they mean in jest. */
export interface Matchers {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
  toBeUndefined(): void;
  toBeInstanceOf(expected: unknown): void;
  toBeGreaterThan(expected: number | bigint): void;
  toBeGreaterThanOrEqual(expected: number | bigint): void;
  toBeLessThan(expected: number | bigint): void;
  toBeLessThanOrEqual(expected: number | bigint): void;
  toContain(expected: unknown): void;
  toContainEqual(expected: unknown): void;
  toHaveLength(expected: number): void;
  toMatch(expected: string | RegExp): void;
}

export interface Expectation extends Matchers {
  readonly not: Matchers;
}

/** What the promise rejects with; fails the test when it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
}
