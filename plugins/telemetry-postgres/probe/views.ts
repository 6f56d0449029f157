import { randomBytes } from 'node:crypto';
import { changedSince, judged, madeFrom, type Finding, type Tenant } from '../../../src/contract/telemetry/index.ts';
import type { PostgresConfig } from '../config.ts';
import { quoteName } from '../types.ts';
import { signToken } from '../steps.ts';
import { noTenant } from '../setup/views.ts';
import { answered, eachOf, some, type Outcome, type Prober, type Question } from './attempt.ts';

/** Tables that the views read, through other views too, with their partitions and what they are partitions of. */
const below = `
  WITH RECURSIVE below(oid) AS (
    SELECT pg_catalog.unnest($1::regclass[])::oid
    UNION
    SELECT next.oid FROM below AS b CROSS JOIN LATERAL (
      SELECT d.refobjid FROM pg_catalog.pg_rewrite AS r
      JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
      WHERE r.ev_class = b.oid
      UNION SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = b.oid
      UNION SELECT inhparent FROM pg_catalog.pg_inherits WHERE inhrelid = b.oid
    ) AS next(oid)
  )`;

/** Where telemetry lies without the views before it. `views` are quoted names, as an array of the server's. */
const aroundViews = (login: string, views: string): readonly Question[] => [
  {
    check: 'tables beneath',
    sql: `${below}
     SELECT oid::regclass::text FROM below WHERE NOT oid = ANY ($1::regclass[])
       AND (pg_catalog.has_any_column_privilege(oid, 'SELECT, INSERT, UPDATE') OR pg_catalog.has_table_privilege(oid, 'DELETE, TRUNCATE'))
     ORDER BY 1`,
    values: [views],
    ok: 'SQL reaches the tables by the views alone.',
    status: 'fail',
    wrong: (names) => `SQL can read or write ${names} without the views.`,
    hint: (table) => `REVOKE ALL ON ${table} FROM PUBLIC, ${quoteName(login)};`,
  },
  // What else there is to read may be a copy of the telemetry, or another way to it.
  {
    check: 'other tables',
    sql: `${below}
     SELECT c.oid::regclass::text FROM pg_catalog.pg_class AS c
     JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
       AND n.nspname !~ '^pg_(toast|temp)' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
       AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT') AND NOT EXISTS (SELECT FROM below WHERE below.oid = c.oid)
       AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
     ORDER BY 1`,
    values: [views],
    ok: 'SQL can read nothing but the views.',
    status: 'warn',
    wrong: (names) => `Past the gate, SQL can read ${names}.`,
    hint: (table) => `REVOKE ALL ON ${table} FROM PUBLIC, ${quoteName(login)};`,
  },
];

const barrier = (views: string): Question => ({
  check: 'security barrier',
  sql: `SELECT oid::regclass::text FROM pg_catalog.pg_class WHERE oid = ANY ($1::regclass[])
     AND (relkind <> 'v' OR NOT coalesce(reloptions, '{}') @> '{security_barrier=true}')`,
  values: [views],
  ok: "A caller's conditions see only rows that the views let through.",
  status: 'fail',
  wrong: (names) => `${names}: not a view, or one whose filter the planner may run after a caller's condition.`,
  hint: (view) => `ALTER VIEW ${view} SET (security_barrier = true);`,
});

export interface ViewsProbe {
  readonly prober: Prober;
  readonly config: PostgresConfig;
  readonly secret: string;
  readonly login: string;
  readonly now: Date;
  /** One that no organization has, of the boundary's type. */
  readonly nobody: Tenant;
}

/** The views as an intruder finds them: without a token, with forged and spent ones, around them and beneath. */
export async function probeViews(probe: ViewsProbe): Promise<readonly Finding[]> {
  const { prober, config } = probe;
  const { schema } = config.boundary;
  const views = await prober.names(
    `SELECT c.relname::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname IN ('spans', 'metrics', 'logs') ORDER BY 1`,
    [schema],
  );
  if (views.length === 0) {
    return [
      {
        check: 'views',
        status: 'fail',
        detail: `There are no views ${schema}.spans, ${schema}.metrics, ${schema}.logs.`,
        hint: 'An administrator runs what this prints: sightline telemetry setup --print',
      },
    ];
  }
  const names = views.map((view) => `${quoteName(schema)}.${quoteName(view)}`);
  const array = `{${names.map((name) => JSON.stringify(name)).join(',')}}`;
  const findings = [await answered(prober, barrier(array)), await tokens(probe, names), await strangers(probe, names)];
  for (const question of aroundViews(probe.login, array)) findings.push(await answered(prober, question));
  return [...findings, await secretTable(probe), await inForce(probe)];
}

async function tokens(probe: ViewsProbe, names: readonly string[]): Promise<Finding> {
  const { prober, secret, now, nobody } = probe;
  const later = new Date(now.getTime() + 60_000);
  const forged = {
    none: '',
    'a forged one': signToken(nobody, randomBytes(32).toString('hex'), later),
    'one out of date': signToken(nobody, secret, new Date(now.getTime() - 3_600_000)),
    'one without a tenant': signToken(nobody, secret, later).replace(/[^|]*$/, ''),
    'one of another tenant': `${signToken(nobody, secret, later)}x`,
  };
  const check = 'tenant token';
  const passed = new Set<string>();
  const silent = new Set<string>();
  for (const name of names) {
    for (const [kind, token] of Object.entries(forged)) {
      const outcome = await prober.attempt(`SELECT FROM ${name} LIMIT 1`, { token });
      if (!outcome.allowed && outcome.state === '42501') continue;
      if (outcome.allowed && outcome.rows.length === 0 && (await asks(probe, name))) silent.add(name);
      else passed.add(kind);
    }
  }
  if (passed.size > 0) {
    return {
      check,
      status: 'fail',
      detail: `The views answer to a token that they must refuse: ${[...passed].join(', ')}.`,
      hint: 'Run again what this prints: sightline telemetry setup --print',
    };
  }
  return judged(check, silent.size === 0, {
    ok: 'The views answer to no missing, forged or old token.',
    status: 'warn',
    detail: `Whether ${some([...silent])} would refuse a wrong token does not show while there are no rows.`,
    hint: 'Run sightline doctor again when there is telemetry.',
  });
}

/** Whether the plan for a view has the function in it that verifies the token. */
async function asks({ prober, config }: ViewsProbe, name: string): Promise<boolean> {
  const plan = await prober.attempt(`EXPLAIN (VERBOSE, COSTS OFF) SELECT FROM ${name}`);
  const call = `${config.boundary.privateSchema}.current_org()`;
  return plan.allowed && plan.rows.some(([line]) => line?.includes(call));
}

/** Which GRANT is missing: the owner of a view reads the tables, and the login reads the view. */
async function ungranted({ prober, login }: ViewsProbe, view: string, message: string) {
  const [owner = ''] = await prober.names('SELECT relowner::regrole::text FROM pg_class WHERE oid = $1::regclass', [
    view,
  ]);
  const tables = await prober.names(
    `${below}
     SELECT format('%I.%I', n.nspname, c.relname) FROM below JOIN pg_catalog.pg_class AS c USING (oid)
     JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace CROSS JOIN pg_catalog.pg_class AS v
     WHERE v.oid = $2::regclass AND c.oid <> v.oid AND NOT c.relispartition AND NOT (
       pg_catalog.has_any_column_privilege(v.relowner, c.oid, 'SELECT') AND pg_catalog.has_schema_privilege(v.relowner, n.oid, 'USAGE'))
     ORDER BY 1`,
    [`{${JSON.stringify(view)}}`, view],
  );
  if (tables.length === 0) {
    const hint = `GRANT SELECT ON ${view} TO ${quoteName(login)}; or let the gateway log in as telemetry.boundary.login.`;
    return { detail: `The login ${login} may not read ${view}: ${message}.`, hint };
  }
  const grant = (table: string) =>
    `GRANT USAGE ON SCHEMA ${table.slice(0, table.lastIndexOf('.'))} TO ${owner}; GRANT SELECT ON ${table} TO ${owner};`;
  return { detail: `The owner of ${view}, ${owner}, may not read ${some(tables)}.`, hint: eachOf(tables, grant) };
}

async function strangers(probe: ViewsProbe, names: readonly string[]): Promise<Finding> {
  const { prober, secret, now, nobody } = probe;
  const token = signToken(nobody, secret, new Date(now.getTime() + 60_000));
  const outcomes: (readonly [string, Outcome])[] = [];
  for (const name of names) outcomes.push([name, await prober.attempt(`SELECT '1' FROM ${name} LIMIT 1`, { token })]);
  const leaking = outcomes.filter(([, outcome]) => outcome.allowed && outcome.rows.length > 0).map(([name]) => name);
  const refused = outcomes.filter(([, outcome]) => !outcome.allowed);
  const check = "other organizations' rows";
  if (leaking.length > 0) {
    const detail = `An organization that does not exist reads rows of ${some(leaking)}.`;
    return { check, status: 'fail', detail, hint: 'Run again what this prints: sightline telemetry setup --print' };
  }
  for (const [name, outcome] of refused) {
    if (outcome.allowed || outcome.state !== '42501') continue;
    if (outcome.message !== noTenant)
      return { check, status: 'fail', ...(await ungranted(probe, name, outcome.message)) };
    const hint =
      'Give the setup script the value of telemetry.boundary.secret; compare the clocks of the two machines.';
    return { check, status: 'fail', detail: 'The views refuse a token that the gateway signed.', hint };
  }
  return judged(check, refused.length === 0, {
    ok: 'An organization that does not exist reads nothing.',
    status: 'warn',
    detail: 'The views did not say in time that they hold nothing for an organization that does not exist.',
    hint: 'An index on what tells tenants apart would make every query faster.',
  });
}

/** The views are made from a mapping and a tenancy, which may have changed since. */
async function inForce({ prober, config }: ViewsProbe): Promise<Finding> {
  const { boundary, organizations } = config.tenancy;
  const [made = ''] = await prober.names(
    "SELECT pg_catalog.obj_description(oid, 'pg_namespace') FROM pg_catalog.pg_namespace WHERE nspname = $1",
    [config.boundary.schema],
  );
  const changes = changedSince(
    made,
    madeFrom(config, 'template' in boundary ? Object.values(organizations ?? {}) : []),
  );
  return judged('set-up', changes?.length === 0, {
    ok: 'The views are made from the mapping and the tenancy of this config.',
    ...(changes === undefined
      ? { status: 'warn', detail: 'The views do not say what mapping and tenancy they are made from.' }
      : { detail: `${some(changes)}.` }),
    hint: 'Run again what this prints: sightline telemetry setup --print',
  });
}

async function secretTable({ prober, config, login }: ViewsProbe): Promise<Finding> {
  const schema = quoteName(config.boundary.privateSchema);
  const outcome = await prober.attempt(`SELECT FROM ${schema}.secret LIMIT 1`);
  return judged('boundary secret', !outcome.allowed, {
    ok: 'SQL cannot read the secret that tokens are signed with.',
    detail: 'SQL can read the secret that tokens are signed with.',
    hint: `REVOKE ALL ON ${schema}.secret FROM PUBLIC, ${quoteName(login)}; then change the secret.`,
  });
}
