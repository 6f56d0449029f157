import { createHash } from 'node:crypto';
import type { AttributeRule, ReadRules, RuleAction, TableName } from '../../../src/contract/telemetry/index.ts';
import type { Runner } from '../runner.ts';
import { row, type Stage } from './stage.ts';
import { collect, contextOf, testLimits } from './warehouse.ts';

const salt = '000102030405060708090a0b0c0d0e0f';
const hash = (text: string) => createHash('sha256').update(`${salt}${text}`).digest('hex').slice(0, 16);

function rulesOf(
  table: TableName,
  columns: Readonly<Record<string, RuleAction>>,
  attributes: readonly AttributeRule[] = [],
): ReadRules {
  const none = { columns: new Map<string, RuleAction>(), attributes: [] };
  const ruled = { columns: new Map(Object.entries(columns)), attributes };
  const tables = { spans: none, metrics: none, logs: none, [table]: ruled };
  return { key: JSON.stringify([table, columns, attributes]), salt, tables };
}

/** What a caller may not read as it is: kept from it beneath its statement. */
export function rulePromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  const ask = async (sql: string, rules: ReadRules) => (await stage().query(sql, { rules })).rows;
  const refused = async (sql: string, rules: ReadRules) => await stage().refusal(sql, { rules });

  describe('rules for columns', () => {
    it('deny: the column is not there', async () => {
      const rules = rulesOf('spans', { name: 'deny' });
      const { columns } = await stage().query('SELECT * FROM otel.spans', { rules });
      expect(columns.map((column) => column.name)).not.toContain('name');
      expect(columns.map((column) => column.name)).toContain('service_name');
      for (const sql of [
        'SELECT name FROM otel.spans',
        'SELECT s.name FROM otel.spans AS s',
        "SELECT count(*) AS n FROM otel.spans WHERE name = 'first'",
        'SELECT count(*) AS n FROM otel.spans ORDER BY max(name)',
      ]) {
        expect([sql, await refused(sql, rules)]).toMatchObject([sql, { code: 'unknown_column' }]);
      }
    });

    it('mask: text is ***, anything else its empty value', async () => {
      const rules = rulesOf('spans', { name: 'mask', duration_nano: 'mask', attributes: 'mask', events: 'mask' });
      expect(await ask('SELECT name, duration_nano, attributes, events FROM otel.spans LIMIT 1', rules)).toEqual([
        ['***', '0', {}, []],
      ]);
      expect(await ask("SELECT count(*) AS n FROM otel.spans WHERE name = 'first'", rules)).toEqual([['0']]);
      if (!stage().has('metrics')) return;
      expect(await ask('SELECT value FROM otel.metrics LIMIT 1', rulesOf('metrics', { value: 'mask' }))).toEqual([
        [null],
      ]);
    });

    it('hash: equal values stay equal, and nothing stays nothing', async () => {
      const rules = rulesOf('spans', { service_name: 'hash', trace_state: 'hash' });
      const rows = await ask('SELECT service_name, trace_state, name FROM otel.spans ORDER BY time', rules);
      expect(rows).toEqual(['first', 'second', 'third'].map((name) => [hash(name), '', name]));
    });

    it('lie beneath every mention of the table, and of no other', async () => {
      const rules = rulesOf('spans', { service_name: 'mask' });
      for (const sql of [
        'SELECT DISTINCT service_name FROM otel.spans',
        'SELECT DISTINCT s.service_name FROM otel.spans AS s',
        'WITH x AS (SELECT * FROM otel.spans) SELECT DISTINCT service_name FROM x',
        'SELECT service_name FROM otel.spans UNION SELECT service_name FROM otel.spans',
        'SELECT max(service_name) AS m FROM (SELECT service_name FROM otel.spans) AS y',
      ]) {
        expect([sql, await ask(sql, rules)]).toEqual([sql, [['***']]]);
      }
      if (!stage().has('logs')) return;
      expect(await ask('SELECT service_name FROM otel.logs ORDER BY time LIMIT 1', rules)).toEqual([['first']]);
    });

    it('are bound anew each time the same checked statement is rendered', async () => {
      const { telemetry, own } = stage();
      const context = contextOf(own);
      const checked = telemetry.check(await telemetry.parse('SELECT max(name) AS m FROM otel.spans', context));
      const answers: unknown[] = [];
      for (const action of ['mask', undefined, 'mask'] as const) {
        const binding = action === undefined ? {} : { rules: rulesOf('spans', { name: action }) };
        const rendered = await telemetry.render(checked, binding, context);
        answers.push((await collect(await telemetry.open(rendered, testLimits, context))).rows[0]?.[0]);
      }
      expect(answers).toEqual(['***', 'third', '***']);
    });
  });

  describe('rules for attributes', () => {
    const one = async (column: string, attributes: readonly AttributeRule[], table: TableName = 'spans') =>
      (await ask(`SELECT ${column} FROM otel.${table} WHERE name = 'first'`, rulesOf(table, {}, attributes)))[0]?.[0];

    it('deny, mask and hash by key', async () => {
      const route = (action: RuleAction) => one('attributes', [{ key: 'http.route', prefix: false, action }]);
      expect(await route('deny')).toEqual({ "o'clock": 'yes' });
      expect(await route('mask')).toEqual({ 'http.route': '***', "o'clock": 'yes' });
      expect(await route('hash')).toEqual({ 'http.route': hash('/cart'), "o'clock": 'yes' });
      expect(await one('attributes', [{ key: "o'clock", prefix: false, action: 'deny' }])).toEqual({
        'http.route': '/cart',
      });
    });

    it('fit by how keys begin, and the first that fits applies', async () => {
      const whole = { key: 'http.route', prefix: false, action: 'mask' } as const;
      const prefix = { key: 'http.', prefix: true, action: 'deny' } as const;
      expect(await one('attributes', [prefix])).toEqual({ "o'clock": 'yes' });
      expect(await one('attributes', [whole, prefix])).toEqual({ 'http.route': '***', "o'clock": 'yes' });
      expect(await one('attributes', [prefix, whole])).toEqual({ "o'clock": 'yes' });
      expect(await one('attributes', [{ key: 'http', prefix: false, action: 'deny' }])).toEqual({
        'http.route': '/cart',
        "o'clock": 'yes',
      });
    });

    it('hold for a resource, a scope, and for what is inside events, links and exemplars', async () => {
      const mask = (key: string) => [{ key, prefix: false, action: 'mask' }] as const;
      const deny = (key: string) => [{ key, prefix: true, action: 'deny' }] as const;
      expect(await one('resource_attributes', mask('service.name'))).toMatchObject({ 'service.name': '***' });
      if (stage().has('spans', 'events')) {
        const event = { time: '2026-03-01T12:00:00.123456Z', name: 'exception' };
        expect(await one('events', mask('exception.type'))).toEqual([
          { ...event, attributes: { 'exception.type': '***' } },
        ]);
        expect(await one('events', deny('exception.'))).toEqual([{ ...event, attributes: {} }]);
      }
      if (stage().has('spans', 'links')) {
        expect(await one('links', deny('k'))).toMatchObject([{ attributes: {} }]);
      }
      if (stage().has('spans', 'scope_attributes')) {
        expect(await one('scope_attributes', mask('build'))).toEqual({ build: '***' });
      }
      if (stage().has('metrics', 'exemplars')) {
        const [exemplar] = [await one('exemplars', mask('user.id'), 'metrics')].flat();
        expect(exemplar).toMatchObject({ value: 1.5, filtered_attributes: { 'user.id': '***' } });
        expect(await one('exemplars', deny('user.'), 'metrics')).toMatchObject([{ filtered_attributes: {} }]);
      }
    });

    it('hold for the object, or the list, that a key leads into', async () => {
      const attributes = { user: '{"email":"a@b.example","id":7}', users: '[{"email":"a@b.example"}]', 'user.id': '7' };
      await stage().write(stage().other, 'spans', [Object.assign(row(-80, 'nested'), { attributes })]);
      const ruled = async (key: string, prefix: boolean, action: RuleAction) => {
        const sql = "SELECT attributes FROM otel.spans WHERE name = 'nested'";
        const rules = rulesOf('spans', {}, [{ key, prefix, action }]);
        return (await stage().query(sql, { rules, as: stage().other })).rows;
      };
      const { user: _, ...withoutUser } = attributes;
      expect(await ruled('user.email', false, 'deny')).toEqual([[withoutUser]]);
      expect(await ruled('user.email', false, 'mask')).toEqual([[{ ...attributes, user: '***' }]]);
      expect(await ruled('user.e', true, 'hash')).toEqual([[{ ...attributes, user: hash(attributes.user) }]]);
      expect(await ruled('users.email', false, 'mask')).toEqual([[{ ...attributes, users: '***' }]]);
      expect(await ruled('use.email', false, 'deny')).toEqual([[attributes]]);
    });

    it('cannot be gone around by another way to the map', async () => {
      const { write } = stage().telemetry.dialect;
      const rules = rulesOf('spans', {}, [{ key: 'http.', prefix: true, action: 'deny' }]);
      const reads = `SELECT count(*) AS n FROM otel.spans WHERE ${write.attribute('attributes', 'http.route')} = '/cart'`;
      expect(await ask(reads, rules)).toEqual([['0']]);
      const entries = `SELECT a.key FROM otel.spans AS s, ${write.unnestMap('s.attributes', 'a')} WHERE s.name = 'first'`;
      expect(await ask(entries, rules)).toEqual([["o'clock"]]);
    });
  });
}
