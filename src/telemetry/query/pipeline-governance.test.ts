import { describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../../test/contract/host.ts';
import { newId, SightlineError } from '../../contract/core/index.ts';
import {
  otelTables,
  type Cursor,
  type Dialect,
  type QueryLimits,
  type StatementBinding,
  type StatementLabel,
  type Telemetry,
} from '../../contract/telemetry/index.ts';
import type { Admission, GuardedStatement } from './cost-guard.ts';
import { createGovernance, type GovernanceRule } from './governance.ts';
import { sqlHelpers } from './helpers.ts';
import { createQueryPipeline, type PipelineParts } from './pipeline.ts';
import type { QueryRequest } from './request.ts';

/** What the core hands to a warehouse beside the statement: who asks, what of it they may read, what it may cost. */
const acme = newId('org');
const now = new Date('2026-03-01T12:00:00Z');
const label: StatementLabel = { principal: 'usr_ann', tool: 'query_otel', traceId: 'trace-1' };
const member = { kind: 'user', role: 'member' } as const;
const admin = { kind: 'user', role: 'admin' } as const;
const rules: GovernanceRule[] = [
  { roles: ['member'], columns: ['body', 'attributes'], action: 'deny' },
  { roles: ['member'], columns: ['severity_text'], action: 'mask' },
];

const dialect: Dialect = {
  name: 'fake',
  version: '1.0',
  tables: Object.values(otelTables),
  typeName: (type) => type.toUpperCase(),
  attributeHint: "attributes['http.route']",
  examples: [],
  functions: [],
  write: {
    literal: (value) => (value instanceof Date ? `TIME '${value.toISOString()}'` : `'${String(value)}'`),
    attribute: (map, key) => `${map}[${key}]`,
    bucket: (time) => time,
    quantile: (expression) => expression,
    countIf: (condition) => condition,
    ratio: (a, b) => `${a}/${b}`,
    replaceRegexp: (text) => text,
    matches: (text) => text,
    number: (text) => text,
    ago: () => 'now()',
    unnestMap: (map, alias) => `unnest(${map}) AS ${alias}(key, value)`,
    timeText: (time) => time,
    epochSeconds: (time) => time,
    valueAt: (value) => value,
    anyValue: (expression) => expression,
    joined: (expression) => expression,
    distinctArray: (expression) => expression,
    exception: (events) => events,
  },
};

interface Seen {
  readonly step: string;
  readonly label: StatementLabel | undefined;
  readonly sql?: string;
  readonly binding?: StatementBinding;
}

function warehouse(open?: (limits: QueryLimits) => Promise<Cursor>) {
  const seen: Seen[] = [];
  const telemetry: Telemetry = {
    dialect,
    parse: async (sql, context) => {
      seen.push({ step: 'parse', label: context.label, sql });
      return { tree: sql };
    },
    check: (parsed) => ({ ...parsed, tables: ['logs'], reaches: [{}] }),
    render: async ({ tree }, binding, context) => {
      seen.push({ step: 'render', label: context.label, binding });
      return `${String(tree)} under ${binding.rules?.key ?? 'no rules'}`;
    },
    open: async (sql, limits, context) => {
      seen.push({ step: 'open', label: context.label, sql });
      if (open !== undefined) return open(limits);
      return {
        columns: [],
        read: async () => undefined,
        end: { cutCells: 0, bytesScanned: 77 },
        close: async () => {},
      };
    },
    start: async () => {},
    stop: async () => {},
    health: async () => ({ ok: true }),
  };
  return { telemetry, seen };
}

const governance = createGovernance({ rules, salt: () => '0'.repeat(32) });
const ask = (sql: string, more: Partial<QueryRequest> = {}): QueryRequest => ({
  organizationId: acme,
  sql,
  reader: member,
  label,
  signal: new AbortController().signal,
  ...more,
});
const pipelineOver = (telemetry: Telemetry, parts: Partial<PipelineParts> = {}) =>
  createQueryPipeline({ telemetry, logger: silentLogger, now: () => now, governance, ...parts });

async function failure(work: Promise<unknown>): Promise<SightlineError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SightlineError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('who asks', () => {
  it('is told to the warehouse in every step, also of what the service asks for the caller', async () => {
    const { telemetry, seen } = warehouse();
    const pipeline = pipelineOver(telemetry);
    await pipeline.run(ask('SELECT 1'));
    await pipeline.run(ask('SHOW ATTRIBUTES FROM otel.logs'));
    expect(seen.map(({ step }) => step)).toEqual(expect.arrayContaining(['parse', 'render', 'open']));
    expect(seen.map((call) => call.label)).toEqual(seen.map(() => label));
    // The statement is rendered no more, and still says who asks now.
    const other = { ...label, principal: 'ak_ci', traceId: 'trace-2' };
    seen.length = 0;
    await pipeline.run(ask('SELECT 1', { label: other }));
    expect(seen).toEqual([expect.objectContaining({ step: 'open', label: other })]);
  });
});

describe('what is sent', () => {
  it('is written anew each minute: a warehouse may write into the SQL whose rows they are, which can change', async () => {
    const { telemetry, seen } = warehouse();
    let clock = now;
    const pipeline = pipelineOver(telemetry, { now: () => clock });
    const window = { start: new Date('2026-01-01T00:00:00Z'), end: new Date('2026-01-02T00:00:00Z') };
    const rendered = async (later: number) => {
      clock = new Date(now.getTime() + later);
      seen.length = 0;
      await pipeline.run(ask('SELECT 1', { window }));
      return seen.map(({ step }) => step);
    };
    expect(await rendered(0)).toEqual(['parse', 'render', 'open']);
    expect(await rendered(59_999)).toEqual(['open']);
    expect(await rendered(60_000)).toEqual(['render', 'open']);
  });
});

describe('what a reader may not see', () => {
  it('is bound beneath the statement, and what was rendered for one reader is not run for another', async () => {
    const { telemetry, seen } = warehouse();
    const pipeline = pipelineOver(telemetry);
    for (const reader of [member, admin, member]) await pipeline.run(ask('SELECT 1', { reader }));
    const key = governance.rulesFor(member, acme)?.key;
    expect(seen.filter(({ step }) => step === 'open').map(({ sql }) => sql)).toEqual([
      `SELECT 1 under ${key}`,
      'SELECT 1 under no rules',
      `SELECT 1 under ${key}`,
    ]);
    const bound = seen.find(({ step }) => step === 'render');
    expect(bound?.binding?.rules).toBe(governance.rulesFor(member, acme));
    expect(seen.filter(({ step }) => step === 'parse')).toHaveLength(1);
  });

  it('is called by its reason when a statement names it, and stands in no list', async () => {
    for (const name of ['body', 'L."BODY"', 'l.body']) {
      const { telemetry } = warehouse(() => Promise.reject(sqlHelpers.unknownColumn(name, ['logs'], { position: 8 })));
      const error = await failure(pipelineOver(telemetry).run(ask('SELECT body FROM otel.logs')));
      expect(error).toMatchObject({
        code: 'unknown_column',
        message: expect.stringMatching(/^Your role may not read the column ".*body"/i),
        position: 8,
      });
      expect(error.hint).toMatch(/^Leave it out\. Columns of otel\.logs: time, .*severity_text/);
      expect(error.hint).not.toMatch(/\bbody\b/);
    }
    const { telemetry } = warehouse(() => Promise.reject(sqlHelpers.unknownColumn('bodi', ['logs'])));
    const mistyped = await failure(pipelineOver(telemetry).run(ask('SELECT bodi FROM otel.logs')));
    expect(mistyped.message).toContain('There is no column');
    expect(mistyped.hint).not.toMatch(/\bbody\b/);
    const toAdmin = await failure(pipelineOver(telemetry).run(ask('SELECT bodi FROM otel.logs', { reader: admin })));
    expect(toAdmin.hint).toContain('Did you mean body?');
  });

  it('is not described, and what is masked says so', async () => {
    const pipeline = pipelineOver(warehouse().telemetry);
    const { rowsJson } = await pipeline.run(ask('DESCRIBE otel.logs'));
    expect(rowsJson.toString()).not.toMatch(/"body"|"attributes"/);
    expect(rowsJson.toString()).toContain('["severity_text","STRING",false,true,"masked for your role"]');
    expect((await pipeline.run(ask('DESCRIBE otel.logs', { reader: admin }))).rowsJson.toString()).toContain('"body"');
  });

  it('is not sampled, nor shown from the sample of another reader', async () => {
    const { telemetry, seen } = warehouse();
    const pipeline = pipelineOver(telemetry);
    const sampled = () => seen.filter(({ step }) => step === 'parse').map(({ sql }) => sql);
    await pipeline.run(ask('SHOW ATTRIBUTES FROM otel.logs', { reader: admin }));
    expect(sampled()).toContainEqual(expect.stringMatching(/SELECT attributes, resource_attributes FROM/));
    seen.length = 0;
    await pipeline.run(ask('SHOW ATTRIBUTES FROM otel.logs'));
    expect(sampled()).toContainEqual(expect.stringMatching(/SELECT resource_attributes FROM/));
    expect(sampled().join()).not.toMatch(/\battributes\b/);
  });

  it('is sampled before an end that was asked for alone as it is before now', async () => {
    const { telemetry, seen } = warehouse();
    const end = new Date('2026-02-01T00:00:00Z');
    const { warnings } = await pipelineOver(telemetry).run(ask('SHOW ATTRIBUTES FROM otel.logs', { window: { end } }));
    const starts = seen.flatMap(({ binding }) => (binding?.window ? [binding.window.start?.toISOString()] : []));
    expect([...new Set(starts)]).toEqual([
      '2026-01-31T23:00:00.000Z',
      '2026-01-31T00:00:00.000Z',
      '2026-01-02T00:00:00.000Z',
    ]);
    expect(warnings[0]).toContain('from 2026-01-02T00:00:00.000Z to 2026-02-01T00:00:00.000Z');
  });

  it('leaves nothing to sample when all maps are denied', async () => {
    const { telemetry, seen } = warehouse();
    const denied = createGovernance({
      rules: [{ columns: ['attributes', 'resource_attributes'], action: 'deny' }],
      salt: () => '',
    });
    const pipeline = pipelineOver(telemetry, { governance: denied });
    expect((await pipeline.run(ask('SHOW ATTRIBUTES FROM otel.logs'))).rowCount).toBe(0);
    expect(seen).toEqual([]);
  });
});

describe('what a statement may cost', () => {
  const guardOf = (admit: (statement: GuardedStatement) => Promise<Admission>) => ({ costGuard: { admit } });

  it('is asked before it is opened, and what it read is told after', async () => {
    const { telemetry, seen } = warehouse();
    const order: unknown[] = [];
    const pipeline = pipelineOver(
      telemetry,
      guardOf(async ({ rendered, context }) => {
        order.push(
          seen.map(({ step }) => step),
          rendered,
          context.label,
        );
        return { settle: async (bytes) => void order.push(bytes) };
      }),
    );
    await pipeline.run(ask('SELECT 1', { reader: admin }));
    expect(order).toEqual([['parse', 'render'], 'SELECT 1 under no rules', label, 77]);
  });

  it('refuses with a call that reads less, and opens nothing', async () => {
    const { telemetry, seen } = warehouse();
    const pipeline = pipelineOver(
      telemetry,
      guardOf(async ({ narrower }) => {
        throw new SightlineError('query_too_costly', 'Too much.', narrower(0.1));
      }),
    );
    const error = await failure(pipeline.run(ask('SELECT 1')));
    // A tenth of the default day, and a little less to be sure.
    expect(error).toMatchObject({
      code: 'query_too_costly',
      retry: { sql: 'SELECT 1', start: '2026-03-01T10:04:48.000Z', end: '2026-03-01T12:00:00.000Z' },
    });
    expect(seen.map(({ step }) => step)).not.toContain('open');
  });

  it('is refused in the words of the command where our own sampling is what costs', async () => {
    const pipeline = pipelineOver(
      warehouse().telemetry,
      guardOf(async ({ narrower }) => {
        throw new SightlineError('query_too_costly', 'Too much.', narrower(0.1));
      }),
    );
    const sql = 'SHOW ATTRIBUTES FROM otel.logs';
    expect((await failure(pipeline.run(ask(sql)))).retry).toMatchObject({ sql, end: now.toISOString() });
  });

  it('offers less of what has happened where the window ends ahead of now', async () => {
    const pipeline = pipelineOver(
      warehouse().telemetry,
      guardOf(async ({ narrower }) => {
        throw new SightlineError('query_too_costly', 'Too much.', narrower(0.1));
      }),
    );
    const ahead = { start: new Date('2026-03-01T02:00:00Z'), end: new Date('2030-01-01T00:00:00Z') };
    expect((await failure(pipeline.run(ask('SELECT 1', { window: ahead })))).retry).toMatchObject({
      start: '2026-03-01T11:12:00.000Z',
      end: '2026-03-01T12:00:00.000Z',
    });
  });

  it('does not keep the answer back when what was read cannot be counted in time', async () => {
    const hanging = guardOf(async () => ({ settle: () => new Promise<void>(() => {}) }));
    const pipeline = pipelineOver(warehouse().telemetry, hanging);
    expect((await pipeline.run(ask('SELECT 1', { limits: { timeoutMs: 50 } }))).rowCount).toBe(0);
  });

  it('is not asked of what reads no warehouse, and a guard that hangs holds nobody up', async () => {
    const hanging = guardOf(() => new Promise<Admission>(() => {}));
    const pipeline = pipelineOver(warehouse().telemetry, hanging);
    expect((await pipeline.run(ask('SHOW TABLES'))).rowCount).toBe(3);
    expect((await failure(pipeline.run(ask('SELECT 1', { limits: { timeoutMs: 20 } })))).code).toBe('query_timeout');
  });

  it('is not known where the guard itself fails: then nothing runs and nothing is blurted out', async () => {
    const { telemetry, seen } = warehouse();
    const pipeline = pipelineOver(
      telemetry,
      guardOf(() => Promise.reject(new Error('password=hunter2'))),
    );
    const error = await failure(pipeline.run(ask('SELECT 1')));
    expect(error.code).toBe('telemetry_unavailable');
    expect(JSON.stringify([error.message, error.hint])).not.toContain('hunter2');
    expect(seen.map(({ step }) => step)).not.toContain('open');
  });
});
