import { judged, type Finding } from '../../../src/contract/telemetry/index.ts';
import { answered, eachOf, some, type Prober, type Question } from './attempt.ts';
import { probeReach } from './reach.ts';
import { quoteName } from '../types.ts';

/** Tables and views of whatever schema that the login may change. */
async function probeWrites(prober: Prober, login: string, degraded: boolean): Promise<Finding> {
  const writable = await prober.names(`
    SELECT c.oid::regclass::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND n.nspname !~ '^pg_(toast|temp)' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
      AND (pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE') OR pg_catalog.has_table_privilege(c.oid, 'DELETE, TRUNCATE'))
    ORDER BY 1`);
  const changed: string[] = [];
  for (const table of writable.slice(0, 5)) {
    const outcome = await prober.attempt(`DELETE FROM ${table} WHERE false`);
    if (outcome.allowed) changed.push(table);
  }
  return judged('writes', writable.length === 0, {
    ok: 'SQL can change no table.',
    status: degraded ? 'warn' : 'fail',
    detail: `SQL may change ${some(writable)}${changed.length > 0 ? '; an attempt succeeded' : ''}.`,
    hint: eachOf(
      writable,
      (table) => `REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ${table} FROM PUBLIC, ${quoteName(login)};`,
    ),
  });
}

/** The login's attributes, the roles it can assume, and the objects it owns. */
async function probeLogin(prober: Prober, login: string, degraded: boolean): Promise<readonly Finding[]> {
  const role = quoteName(login);
  const attributes = await prober.names(`
    SELECT unnest(array_remove(ARRAY[
      CASE WHEN rolsuper THEN 'SUPERUSER' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END,
      CASE WHEN rolcreaterole THEN 'CREATEROLE' END, CASE WHEN rolcreatedb THEN 'CREATEDB' END,
      CASE WHEN rolreplication THEN 'REPLICATION' END], NULL))
    FROM pg_catalog.pg_roles WHERE rolname = session_user`);
  const groups = await prober.names(`
    SELECT rolname::text FROM pg_catalog.pg_roles
    WHERE rolname <> session_user AND pg_catalog.pg_has_role(session_user, oid, 'MEMBER') ORDER BY 1`);
  const superuser = attributes.includes('SUPERUSER');
  return [
    judged('login attributes', attributes.length === 0, {
      ok: `The login ${login} has none that go beyond its grants.`,
      detail: `The login ${login} is ${attributes.join(', ')}.`,
      hint: `ALTER ROLE ${role} ${attributes.map((name) => `NO${name}`).join(' ')};`,
    }),
    judged('login memberships', !superuser && groups.length === 0, {
      ok: 'SQL can become no other role.',
      ...(superuser
        ? { detail: 'SQL can become any role.' }
        : {
            detail: `SQL can become, or acts as, ${some(groups)}.`,
            // A member because it owns the database; nobody can be granted that role.
            hint: groups
              .map((name) =>
                name === 'pg_database_owner'
                  ? "ALTER DATABASE … OWNER TO an administrator's role;"
                  : `REVOKE ${quoteName(name)} FROM ${role};`,
              )
              .join(' '),
          }),
    }),
    await answered(prober, ownership(login, degraded)),
  ];
}

/** An owner can change what is its own, and grant itself what was taken from it. */
const ownership = (login: string, degraded: boolean): Question => ({
  check: 'ownership',
  sql: `
    SELECT pg_catalog.pg_describe_object(d.classid, d.objid, 0) FROM pg_catalog.pg_shdepend AS d
    JOIN pg_catalog.pg_roles AS r ON r.oid = d.refobjid AND r.rolname = session_user
    WHERE d.refclassid = 'pg_authid'::regclass AND d.deptype = 'o'
      AND d.dbid IN (0, (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()))
    ORDER BY 1`,
  ok: `The login ${login} owns nothing.`,
  status: degraded ? 'warn' : 'fail',
  wrong: (names) => `The login ${login} owns ${names}.`,
  hint: `REASSIGN OWNED BY ${quoteName(login)} TO an administrator's role; then grant it SELECT on what it reads.`,
});

/** Settings that end what runs too long or fills the disk, whatever the gateway asks for. */
async function probeLimits(prober: Prober, login: string): Promise<readonly Finding[]> {
  const role = quoteName(login);
  const settings = await prober.names(`
    SELECT name || '=' || reset_val FROM pg_catalog.pg_settings
    WHERE name IN ('statement_timeout', 'temp_file_limit', 'default_transaction_read_only') ORDER BY 1`);
  const value = (name: string) => settings.find((setting) => setting.startsWith(`${name}=`))?.slice(name.length + 1);
  const limit = (name: string, unset: string, sql: string): Finding =>
    judged(name, value(name) !== unset, {
      ok: `${name} is set for the login.`,
      status: 'warn',
      detail: `${name} is not set for the login ${login}.`,
      hint: `ALTER ROLE ${role} SET ${sql};`,
    });
  return [
    limit('statement_timeout', '0', "statement_timeout = '60s'"),
    limit('temp_file_limit', '-1', "temp_file_limit = '1GB'"),
    limit('default_transaction_read_only', 'off', 'default_transaction_read_only = on'),
  ];
}

/** The login's rights in the database, independent of the telemetry tables. */
export async function probeSession(prober: Prober, login: string, degraded: boolean): Promise<readonly Finding[]> {
  return [
    ...(await probeLogin(prober, login, degraded)),
    await probeWrites(prober, login, degraded),
    ...(await probeReach(prober, login)),
    ...(await probeLimits(prober, login)),
  ];
}
