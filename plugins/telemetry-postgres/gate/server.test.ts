import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/contract/core/index.ts';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { attacks } from '../support/attacks.ts';
import { legitimate } from '../support/legitimate.ts';
import { explain } from '../failures.ts';
import { functionNames } from './functions.ts';
import { openGate, type PostgresGate } from './index.ts';
import { relation, TestServer } from './support/server.ts';
import { operators } from './tokens.ts';

const server = await TestServer.open();
const onServer = server === undefined ? describe.skip : describe;

onServer('what the gate writes, on a server', () => {
  let gate: PostgresGate;
  const rendered = async (sql: string) => gate.template(gate.check(await gate.parse(sql))).write(relation);
  const answer = async (sql: string) => {
    const result = await server?.client.query({ text: sql, rowMode: 'array' });
    return { columns: result?.fields.map(({ name }) => name), rows: result?.rows };
  };

  beforeAll(async () => {
    gate = await openGate(sqlHelpers);
  });
  afterAll(() => server?.close());

  it('answers as the statement itself does, column names and all', async () => {
    const wrong: string[] = [];
    // One transaction, so that now() is one moment.
    await server?.client.query('BEGIN');
    for (const { sql, columns } of legitimate) {
      await server?.client.query('SAVEPOINT one');
      try {
        const original = await answer(sql);
        const written = await answer(await rendered(sql));
        if (JSON.stringify(original) !== JSON.stringify(written)) wrong.push(`differs: ${sql}`);
        if (original.columns?.length !== columns) wrong.push(`${original.columns?.length} columns: ${sql}`);
      } catch (error) {
        wrong.push(`${String(error)}: ${sql}`);
      }
      await server?.client.query('ROLLBACK TO one');
    }
    await server?.client.query('ROLLBACK');
    expect(wrong).toEqual([]);
  });

  it.each([
    'SELECT array_agg(big) FROM many',
    "SELECT string_agg(big, ',' ORDER BY n) FROM many",
    'SELECT count(*) FROM (SELECT n, array_agg(big) AS held FROM many GROUP BY n) AS t',
    'SELECT array_agg(big) OVER () FROM many',
    'SELECT json_object_agg(n, big) FILTER (WHERE n > 0) FROM many',
    'SELECT jsonb_agg(ARRAY[left(big, 1500), n::text]) FROM many',
    'SELECT 1 FROM many HAVING json_agg(many) IS NOT NULL',
    'SELECT cardinality(ARRAY(SELECT big FROM many ORDER BY n))',
    'SELECT (SELECT array_agg(rpad(a.n::text, 16000)) FROM many AS a, many AS b)',
    'SELECT array_agg(rpad(g::text, 16000)) FROM generate_series(1, (SELECT count(*) * 1000000 FROM otel.spans)) AS g',
    'SELECT array_agg(rpad(a, 16000)) FROM jsonb_object_keys(\'{"a": 1}\') AS a, otel.spans AS b, otel.spans AS c, otel.spans AS d, otel.spans AS e',
  ])('ends what would hold too much of the rows that are read: %s', async (sql) => {
    const many = `WITH many AS (SELECT row_number() OVER () AS n, rpad(a.name, 16000) AS big
      FROM otel.spans AS a, otel.spans AS b)`;
    await server?.client.query("SET statement_timeout = '60s'");
    const error = await answer(await rendered(`${many} ${sql}`)).catch((thrown: unknown) => thrown);
    const context = { helpers: sqlHelpers, sent: '', tables: [], sources: [] };
    expect(explain(error, context)).toMatchObject({ code: 'query_memory', hint: expect.stringContaining('LIMIT') });
  });

  it('counts anew in each transaction, and refuses a list in the argument of a list', async () => {
    // Not the list itself: reading its text takes the driver a quarter of a minute.
    const sql = await rendered(
      "SELECT cardinality(array_agg(rpad(a.name, 16000))) > 1000 FROM otel.spans AS a, otel.spans AS b WHERE b.time < now() - interval '24 hours'",
    );
    for (let round = 0; round < 4; round += 1) expect((await answer(sql)).rows).toEqual([[true]]);
    await expect(rendered('SELECT array_agg((SELECT array_agg(name) FROM otel.spans)) FROM otel.logs')).rejects.toThrow(
      'in the argument of another',
    );
  });

  it('answers with the caller’s own rows where hostile conditions fail only at another’s', async () => {
    const wrong: string[] = [];
    for (const { sql, expect: expected } of attacks({ attacker: newId('org'), victim: newId('org') })) {
      if (expected !== 'answered') continue;
      try {
        await answer(await rendered(sql));
      } catch (error) {
        wrong.push(`${String(error)}: ${sql}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('reads numbers as the parser of the gate does, and texts that go on behind a comment', async () => {
    const sql =
      "SELECT 1_000 + 0xFF, 0o17, .5e1, 'a' -- x\n  'b', U&'d!0061t' UESCAPE '!', E'\\x41', $q$it's$q$, 1.::int";
    expect((await answer(await rendered(sql))).rows).toEqual([[1255, 15, '5', 'ab', 'dat', 'A', "it's", 1]]);
  });

  it('holds no call behind a dot: that it would be one is why names there are few', async () => {
    const { rows } = await answer(
      "SELECT s.pg_read_file = ('PG_VERSION'::text).pg_read_file FROM unnest(ARRAY['PG_VERSION']) AS s",
    );
    expect(rows).toEqual([[true]]);
    await expect(rendered("SELECT s.pg_read_file FROM unnest(ARRAY['PG_VERSION']) AS s")).rejects.toThrow(
      'cannot follow a dot',
    );
    expect(
      (await answer(await rendered('SELECT s.v, t.n FROM unnest(ARRAY[1]) AS s(v), (SELECT 2 AS n) AS t'))).rows,
    ).toEqual([[1, 2]]);
  });

  it('calls only functions of pg_catalog that change nothing', async () => {
    const { rows } = await answer(
      `SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile = 'v'
       AND proname = ANY(ARRAY['${functionNames.join("','")}']) ORDER BY 1`,
    );
    const clocksAndDice =
      /^(?:array_sample|array_shuffle|clock_timestamp|gen_random_uuid|random|random_normal|timeofday|uuidv[47])$/;
    expect(rows?.flat().filter((name) => !clocksAndDice.test(String(name)))).toEqual([]);
  });

  it('uses only operators of pg_catalog that change nothing', async () => {
    const list = [...operators].map((name) => `'${name}'`).join(',');
    const { rows } = await answer(
      `SELECT oprname FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
       WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprname IN (${list}) AND provolatile = 'v'`,
    );
    expect(rows).toEqual([]);
  });
});
