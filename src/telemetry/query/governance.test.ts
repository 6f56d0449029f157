import { describe, expect, it } from '@jest/globals';
import { newId } from '../../contract/core/index.ts';
import { otelTables, type TableName } from '../../contract/telemetry/index.ts';
import { createGovernance, isDenied, readableTable, type GovernanceRule, type Reader } from './governance.ts';

const acme = newId('org');
const globex = newId('org');
const admin: Reader = { kind: 'user', role: 'admin' };
const member: Reader = { kind: 'user', role: 'member' };
const key: Reader = { kind: 'key', role: 'member' };
const salt = (organizationId: string): string => `salt of ${organizationId}`;

const rulesFor = (reader: Reader, ...rules: GovernanceRule[]) =>
  createGovernance({ rules, salt }).rulesFor(reader, acme);
/** The columns ruled of a table, as an object. */
const columns = (reader: Reader, table: TableName, ...rules: GovernanceRule[]) =>
  Object.fromEntries(rulesFor(reader, ...rules)?.tables[table].columns ?? []);
const attributes = (reader: Reader, table: TableName, ...rules: GovernanceRule[]) =>
  rulesFor(reader, ...rules)?.tables[table].attributes.map(({ key: name, prefix, action }) => [name, prefix, action]);

describe('governance', () => {
  it('is nothing where nothing is ruled for the reader', () => {
    expect(rulesFor(member)).toBeUndefined();
    const forAdmins: GovernanceRule = { roles: ['admin'], columns: ['body'], action: 'deny' };
    expect(rulesFor(member, forAdmins)).toBeUndefined();
    expect(rulesFor(key, forAdmins)).toBeUndefined();
    expect(columns(admin, 'logs', forAdmins)).toEqual({ body: 'deny' });
  });

  it('holds for all without roles, and for a key as a key and as its role', () => {
    const of = (roles: GovernanceRule['roles']): GovernanceRule => ({ roles, columns: ['body'], action: 'deny' });
    const held = (rule: GovernanceRule) =>
      [admin, member, key, 'agent' as const].map((reader) => !!rulesFor(reader, rule));
    expect(held(of(undefined))).toEqual([true, true, true, true]);
    expect(held(of(['member']))).toEqual([false, true, true, true]);
    expect(held(of(['key']))).toEqual([false, false, true, true]);
    expect(held(of(['agent']))).toEqual([false, false, false, true]);
    expect(held(of(['admin']))).toEqual([true, false, false, true]);
  });

  it('takes the strictest of several, in whatever order they stand', () => {
    const rules: GovernanceRule[] = [
      { columns: ['body'], attributes: ['user.email'], action: 'mask' },
      { roles: ['key'], columns: ['body'], attributes: ['user.*'], action: 'deny' },
      { columns: ['body'], attributes: ['user.email'], action: 'hash' },
    ];
    for (const ordered of [rules, rules.toReversed()]) {
      expect(columns(member, 'logs', ...ordered)).toEqual({ body: 'mask' });
      expect(columns(key, 'logs', ...ordered)).toEqual({ body: 'deny' });
      expect(columns('agent', 'logs', ...ordered)).toEqual({ body: 'deny' });
      // The first that fits applies in the warehouse.
      expect(attributes(key, 'logs', ...ordered)).toEqual([
        ['user.', true, 'deny'],
        ['user.email', false, 'mask'],
      ]);
    }
  });

  it('keeps to the tables it names and to the columns they have', () => {
    const rule: GovernanceRule = { tables: ['spans', 'logs'], columns: ['body', 'name'], action: 'mask' };
    expect(columns(member, 'spans', rule)).toEqual({ name: 'mask' });
    expect(columns(member, 'logs', rule)).toEqual({ body: 'mask' });
    expect(columns(member, 'metrics', rule)).toEqual({});
  });

  it('reads a key with a star at its end as the beginning of keys', () => {
    expect(attributes(member, 'spans', { attributes: ['http.request.header.*', '*', 'a.b'], action: 'hash' })).toEqual([
      ['http.request.header.', true, 'hash'],
      ['', true, 'hash'],
      ['a.b', false, 'hash'],
    ]);
  });

  it('rules what is kept twice in both places', () => {
    expect(columns(member, 'spans', { attributes: ['service.*'], action: 'deny' })).toEqual({
      service_name: 'deny',
      service_version: 'deny',
    });
    expect(attributes(member, 'metrics', { columns: ['deployment_environment'], action: 'hash' })).toEqual([
      ['deployment.environment.name', false, 'hash'],
      ['deployment.environment', false, 'hash'],
      ['deployment_environment', false, 'hash'],
    ]);
    // As SigNoz and Google Cloud name the attributes that they are read from.
    for (const key of ['service_name', 'container_name']) {
      const told = columns(member, 'logs', { attributes: [key], action: 'deny' });
      expect(told).toEqual({ service_name: 'deny' });
    }
    expect(columns(member, 'logs', { attributes: ['event.*'], action: 'deny' })).toEqual({ event_name: 'deny' });
    const ofEvents: GovernanceRule = { columns: ['event_name'], action: 'mask' };
    expect(attributes(member, 'logs', ofEvents)).toEqual([['event.name', false, 'mask']]);
    expect(attributes(member, 'spans', ofEvents)).toEqual([]);
    const both: GovernanceRule[] = [
      { columns: ['service_name'], action: 'hash' },
      { attributes: ['service.name'], action: 'mask' },
    ];
    expect(columns(member, 'logs', ...both)).toEqual({ service_name: 'mask' });
  });

  it('has one key for the same rules of an organization, and another for any other', () => {
    const rules: GovernanceRule[] = [
      { columns: ['body'], action: 'hash' },
      { roles: ['key'], columns: ['name'], action: 'deny' },
    ];
    const governance = createGovernance({ rules, salt });
    const mine = governance.rulesFor(member, acme);
    expect(governance.rulesFor({ ...member }, acme)).toBe(mine);
    expect(governance.rulesFor(admin, acme)?.key).toBe(mine?.key);
    expect(governance.rulesFor(key, acme)?.key).not.toBe(mine?.key);
    const theirs = governance.rulesFor(member, globex);
    expect(theirs?.key).not.toBe(mine?.key);
    expect([mine?.salt, theirs?.salt]).toEqual([salt(acme), salt(globex)]);
  });
});

describe('a table under rules', () => {
  const rules = rulesFor(
    member,
    { columns: ['body'], action: 'deny' },
    { columns: ['event_name'], action: 'mask' },
    { columns: ['service_name'], action: 'hash' },
  );

  it('is shown without what is denied, and with a word on the rest', () => {
    const shown = readableTable(otelTables.logs, rules);
    const described = new Map(shown.columns.map(({ name, description }) => [name, description]));
    expect(described.has('body')).toBe(false);
    expect(described.get('event_name')).toBe('masked for your role');
    expect(described.get('service_name')).toMatch(/ \(hashed for your role\)$/);
    expect(shown.columns).toHaveLength(otelTables.logs.columns.length - 1);
    expect(readableTable(otelTables.spans, undefined)).toBe(otelTables.spans);
  });

  it('tells a denied column from one that is not there', () => {
    expect(isDenied('body', ['spans', 'logs'], rules)).toBe(true);
    expect(isDenied('body', ['spans'], rules)).toBe(false);
    expect(isDenied('event_name', ['logs'], rules)).toBe(false);
    expect(isDenied('toString', ['logs'], rules)).toBe(false);
    expect(isDenied('body', ['logs'], undefined)).toBe(false);
  });
});
