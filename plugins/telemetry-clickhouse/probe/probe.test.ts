import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Finding } from '../../../src/contract/telemetry/index.ts';
import { describeOnEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { literal } from '../quote.ts';
import { access, type Access } from '../setup/access.ts';
import { physicalTables } from '../setup/physical-tables.ts';
import { openEngine, remove, type Engine } from '../support/layouts/engine.ts';
import { build, layouts } from '../support/layouts/index.ts';
import { isTenant, mapped, physicalColumns, type Mapped } from '../support/layouts/mapped.ts';
import { usersXml } from '../support/layouts/users-xml.ts';
import { everything, failingAt } from '../support/probing.ts';
import { probeWarehouse, type ProbeOptions } from './index.ts';

const tenants = ['acme', 'globex'].filter(isTenant);
/** The embedded engine shows query ids to no policy: one process is one organization's. */
const acme = (using: string) => using.replaceAll(/decodeURLComponent\(.*?\)\[1\]\)/g, literal('acme'));

describeOnEngine('the probe of a warehouse', () => {
  let directory: string;
  let opened: Mapped;
  let good: Access;
  beforeAll(async () => {
    await using admin = await openEngine();
    directory = admin.directory;
    const layout = layouts.find(({ preset }) => preset === 'sightline');
    if (layout === undefined) throw new Error('no layout');
    await build(admin, layout);
    await admin.rows('CREATE TABLE sightline.payroll (salary UInt64) ENGINE = MergeTree ORDER BY salary');
    opened = await mapped(admin.rows, { preset: 'sightline' });
    good = await access({
      username: 'default',
      limits: { executionSeconds: 60, memoryBytes: 4_000_000_000 },
      boundary: opened.boundary,
      server: { by: 'query_id' },
      json: opened.json,
      tenants,
      tables: () => physicalTables(admin.rows, physicalColumns(admin.rows), opened.mapping),
    });
  });
  afterAll(() => {
    if (directory !== undefined) remove(directory);
  });

  const open = async (change: (xml: string) => string = (xml) => xml): Promise<Engine> =>
    await openEngine({ directory, usersXml: change(usersXml(good, acme)) });
  /** Nobody's query id is acme's too in one process, so nobody asks for nothing. */
  const probeOf = async (gateway: Pick<Engine, 'rows'>, options: Partial<ProbeOptions> = {}) =>
    await probeWarehouse({
      send: async (sql, { queryId }) =>
        await gateway.rows(
          queryId?.startsWith('sightline-probe-') && !sql.includes('WHERE')
            ? `${sql.replace(' LIMIT 1', '')} LIMIT 0`
            : sql,
        ),
      boundary: opened.boundary,
      server: { by: 'query_id' },
      own: 'default',
      isolation: 'layered',
      json: opened.json,
      tenants,
      tables: () => physicalTables(gateway.rows, physicalColumns(gateway.rows), opened.mapping),
      ...options,
    });
  const probe = async (
    change: (xml: string) => string = (xml) => xml,
    options: Partial<ProbeOptions> = {},
  ): Promise<readonly Finding[]> => {
    await using gateway = await open(change);
    return await probeOf(gateway, options);
  };
  const wrong = (findings: readonly Finding[]) =>
    findings.filter(({ status }) => status !== 'ok').map(({ check, status }) => `${status}: ${check}`);
  /** What no grant changes in the embedded engine, a version that lets nested clauses override the profile. */
  const always = ['warn: nested settings', 'warn: file()'];

  it('finds nothing wrong with the access that the setup prints', async () => {
    const findings = await probe();
    expect(wrong(findings)).toEqual(always);
    expect(findings.find(({ check }) => check === 'nested settings')?.hint).toContain('26.7.6.49');
    expect(findings.find(({ check }) => check === 'other organizations')).toMatchObject({ status: 'ok' });
  });

  const granted = (grant: string) => (xml: string) =>
    xml.replace('</grants>', `<query>GRANT ${grant}</query></grants>`);
  const writable = (xml: string) => xml.replaceAll(/<readonly>.*?<\/readonly>/g, '');

  it.each<[string, (xml: string) => string, string, RegExp]>([
    [
      'a missing row policy',
      (xml) => xml.replace(/<sightline_logs>.*?<\/sightline_logs>/, ''),
      'fail: other organizations',
      /sightline_logs.*setup --print/s,
    ],
    [
      'a policy that lets all rows through',
      (xml) => xml.replace(/<sightline_spans><filter>.*?<\/filter>/, '<sightline_spans><filter>1</filter>'),
      'fail: other organizations',
      /sightline_spans/,
    ],
    [
      'a right to write',
      granted('INSERT ON sightline.sightline_logs'),
      'fail: write access',
      /REVOKE INSERT ON `?sightline`?\.`?sightline_logs/,
    ],
    ['a right to create', granted('CREATE TABLE ON other.*'), 'fail: write access', /REVOKE CREATE TABLE ON other\.\*/],
    [
      'more tables than are mapped',
      granted('SELECT ON sightline.*'),
      'warn: tables granted',
      /REVOKE SELECT ON sightline\.\*/,
    ],
    ['a profile that is not read-only', writable, 'fail: read-only', /readonly = 1/],
    [
      'a profile that lets settings be changed',
      (xml) => xml.replace('<readonly>1<', '<readonly>2<'),
      'fail: read-only',
      /readonly = 2/,
    ],
    [
      'no limits',
      (xml) => xml.replaceAll(/<max_(execution_time|memory_usage)>.*?<\/max_\1>/g, ''),
      'warn: limits',
      /max_execution_time/,
    ],
    [
      'a way to other servers',
      (xml) => writable(granted('REMOTE, CREATE TEMPORARY TABLE ON *.*')(xml)),
      'fail: files and network',
      /remote\(\).*REVOKE REMOTE/s,
    ],
    [
      'a way to files',
      (xml) => writable(granted('FILE, CREATE TEMPORARY TABLE ON *.*')(xml)),
      'fail: files and network',
      /file\(\).*REVOKE FILE/s,
    ],
    [
      'a way to programs',
      (xml) => writable(granted('CREATE TEMPORARY TABLE ON *.*')(xml)),
      'fail: files and network',
      /executable\(\)/,
    ],
    ['sight of the users', granted('SHOW USERS ON *.*'), 'fail: system tables', /system\.users/],
  ])('finds %s', async (_name, change, expected, words) => {
    const findings = await probe(change);
    expect(wrong(findings)).toContain(expected);
    const found = findings.find(({ check, status }) => `${status}: ${check}` === expected);
    expect(`${found?.detail} ${found?.hint}`).toMatch(words);
  });

  it('sees what was configured since the set-up was printed, and says what', async () => {
    const setup = (findings: readonly Finding[]) => findings.find(({ check }) => check === 'set-up');
    const byAttribute = { boundary: { mode: 'resource_attribute', key: 'tenant.id' } } as const;
    // A user that was made by hand, or by an earlier version.
    const unmarked = (xml: string) => xml.replace(/sightline-setup:[^<]*/, '');
    expect(setup(await probe(unmarked, byAttribute))).toBeUndefined();
    await using gateway = await open();
    const found = async (options: Partial<ProbeOptions>) => setup(await probeOf(gateway, options));
    const tables = () => physicalTables(gateway.rows, physicalColumns(gateway.rows), opened.mapping);
    expect(await found({})).toMatchObject({ status: 'ok' });
    expect(await found({ tables: async () => (await tables()).toReversed() })).toMatchObject({ status: 'ok' });
    expect(await found(byAttribute)).toMatchObject({
      status: 'fail',
      detail: 'The set-up was printed for another configuration: what tells organizations apart changed since.',
      hint: expect.stringContaining('setup --print'),
    });
    const fewer = { tables: async () => (await tables()).slice(1), isolation: 'degraded' } as const;
    expect(await found(fewer)).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('the tables that are read'),
    });
  });

  it('finds a single layer, which the config may accept', async () => {
    expect(wrong(await probe(undefined, { server: { by: 'none' } }))).toContain('fail: other organizations');
    expect(wrong(await probe(undefined, { server: { by: 'none' }, isolation: 'degraded' }))).toEqual([
      'warn: other organizations',
      'warn: nested settings',
      'warn: set-up',
      'warn: file()',
    ]);
  });

  describe('over a server that does not answer', () => {
    let gateway: Engine;
    beforeAll(async () => {
      gateway = await open();
    });
    afterAll(async () => gateway[Symbol.asyncDispose]());

    const failing = (asked: RegExp, message: string) => failingAt(gateway, asked, message);
    const timedOut = 'Code: 159. DB::Exception: Timeout exceeded';
    const noSyntax = 'Code: 62. DB::Exception: Syntax error';

    it.each<[string, RegExp, string, string]>([
      ['rows', /AS there FROM `sightline`/, timedOut, 'other organizations'],
      [
        'rows by an unknown role',
        /AS there FROM `sightline`/,
        'Code: 511. DB::Exception: no role',
        'other organizations',
      ],
      [
        'rows by another way',
        /AS there FROM merge/,
        'Code: 999. DB::Exception: new in this version',
        'other organizations',
      ],
      [
        'rows, which it lets nobody read',
        /AS there FROM/,
        'Code: 497. DB::Exception: Not enough privileges',
        'other organizations',
      ],
      ['grants', /^CHECK GRANT/, timedOut, 'write access'],
      ['a grant that opens files', /^CHECK GRANT SQLITE/, timedOut, 'files and network'],
      ['the list of grants', /^SHOW GRANTS/, timedOut, 'write access'],
      ['grants that it knows no statement for', /^(CHECK|SHOW) GRANT/, noSyntax, 'write access'],
      ['the profile', /getSetting\('readonly'\)/, timedOut, 'read-only'],
      ['a statement that changes settings', /SELECT 1 SETTINGS/, timedOut, 'read-only'],
      ['nested settings', /AS value SETTINGS/, timedOut, 'nested settings'],
      ['a system table', /system\.users/, timedOut, 'system tables'],
      ['a way out', /url\(/, timedOut, 'files and network'],
    ])('holds nothing for proven when the server did not answer about %s', async (_what, asked, message, check) => {
      const findings = await probeOf(failing(asked, message));
      expect(findings.filter((finding) => finding.check === check)).toEqual([
        expect.objectContaining({ status: 'fail', hint: expect.any(String) }),
      ]);
    });

    it('takes the list of grants where the server is too old to check one', async () => {
      expect(wrong(await probeOf(failing(/^CHECK GRANT/, noSyntax)))).toEqual(always);
    });

    it('holds nothing for proven where no organization, or no table, is there to try it with', async () => {
      const role = { by: 'role', role: 'org_{tenant}' } as const;
      expect(wrong(await probeOf(gateway, { server: role, tenants: [] }))).toContain('fail: other organizations');
      expect(wrong(await probeOf(gateway, { tables: async () => [] }))).toContain('warn: empty tables');
    });
  });

  it('takes nothing from a user that is not the one of the set-up, and says what to do instead', async () => {
    for (const change of [everything, granted('SELECT, INSERT ON sightline.*'), writable]) {
      const findings = await probe(change, { own: 'sightline' });
      expect(findings.filter(({ hint = '' }) => /REVOKE|ALTER USER/.test(hint))).toEqual([]);
      expect(findings.find(({ check }) => check === 'write access' || check === 'read-only')?.check).toBeDefined();
      expect(findings.map(({ hint }) => hint)).toContain(
        'Take nothing from `default`, which others may use: give the gateway the user of sightline telemetry setup --print.',
      );
    }
  });

  it('advises another user where one may do too much to take it all away', async () => {
    const findings = await probe(everything);
    expect(findings.map(({ hint = '' }) => hint.split('REVOKE').length - 1).filter((count) => count > 4)).toEqual([]);
    expect(findings.find(({ check }) => check === 'write access')?.hint).toMatch(/^REVOKE .*setup --print\.$/);
  });

  it('changes nothing and makes no file, whatever the user may do', async () => {
    const state = async () => {
      await using engine = await openEngine({ directory });
      return await engine.rows(
        "SELECT database, name, total_rows FROM system.tables WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema') ORDER BY ALL",
      );
    };
    const before = await state();
    const filesBefore = readdirSync(directory).toSorted();
    expect(wrong(await probe(everything))).toEqual(
      expect.arrayContaining([
        'fail: other organizations',
        'fail: write access',
        'fail: read-only',
        'fail: files and network',
      ]),
    );
    expect(await state()).toEqual(before);
    expect(readdirSync(directory).toSorted()).toEqual(filesBefore);
  });
});
