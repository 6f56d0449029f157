import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Finding } from '../../../src/contract/index.ts';
import { literal } from '../quote.ts';
import { access } from '../setup/access.ts';
import type { Access } from '../setup/access.ts';
import { physicalTables } from '../setup/physical-tables.ts';
import { engineIsInstalled, openEngine, remove } from '../support/layouts/engine.ts';
import { build, layouts } from '../support/layouts/index.ts';
import { isTenant, mapped, physicalColumns } from '../support/layouts/mapped.ts';
import type { Mapped } from '../support/layouts/mapped.ts';
import { usersXml } from '../support/layouts/users-xml.ts';
import { probeWarehouse } from './index.ts';
import type { ProbeOptions } from './index.ts';

const suite = engineIsInstalled() ? describe : describe.skip;
const tenants = ['acme', 'globex'].filter(isTenant);
/** The embedded engine shows query ids to no policy: one process is one organization's. */
const acme = (using: string) => using.replaceAll(/decodeURLComponent\(.*?\)\[1\]\)/g, literal('acme'));

suite('the probe of a warehouse', () => {
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
  }, 60_000);
  afterAll(() => {
    if (directory !== undefined) remove(directory);
  });

  /** Nobody's query id is acme's too in one process, so nobody asks for nothing. */
  const probe = async (
    change: (xml: string) => string = (xml) => xml,
    options: Partial<ProbeOptions> = {},
  ): Promise<readonly Finding[]> => {
    await using gateway = await openEngine({ directory, usersXml: change(usersXml(good, acme)) });
    return await probeWarehouse({
      send: (sql, { queryId }) =>
        gateway.rows(
          queryId?.startsWith('sightline-probe-') && !sql.includes('WHERE')
            ? `${sql.replace(' LIMIT 1', '')} LIMIT 0`
            : sql,
        ),
      boundary: opened.boundary,
      server: { by: 'query_id' },
      isolation: 'layered',
      json: opened.json,
      tenants,
      tables: () => physicalTables(gateway.rows, physicalColumns(gateway.rows), opened.mapping),
      ...options,
    });
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

  it('finds a single layer, which the config may accept', async () => {
    expect(wrong(await probe(undefined, { server: { by: 'none' } }))).toContain('fail: other organizations');
    expect(wrong(await probe(undefined, { server: { by: 'none' }, isolation: 'degraded' }))).toEqual([
      'warn: other organizations',
      ...always,
    ]);
  });

  it('changes nothing, whatever the user may do', async () => {
    const everything = (xml: string) =>
      xml
        .replaceAll(/<readonly>.*?<\/readonly>/g, '')
        .replaceAll(/<allow_ddl>.*?<\/allow_ddl>/g, '')
        .replace(/<grants>.*<\/grants>/, '<grants><query>GRANT ALL ON *.*</query></grants>')
        .replace(/<databases>.*<\/databases>/, '');
    const state = async () => {
      await using engine = await openEngine({ directory });
      return await engine.rows(
        "SELECT database, name, total_rows FROM system.tables WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema') ORDER BY ALL",
      );
    };
    const before = await state();
    expect(wrong(await probe(everything))).toEqual(
      expect.arrayContaining([
        'fail: other organizations',
        'fail: write access',
        'fail: read-only',
        'fail: files and network',
      ]),
    );
    expect(await state()).toEqual(before);
  });
});
