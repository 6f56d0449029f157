import { type Finding, judged } from '../../../src/contract/telemetry/index.ts';
import { publicFunctions, statementStatistics } from '../setup/roles.ts';
import { answered, eachOf, type Prober, type Question, some } from './attempt.ts';
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

/** What the login can do outside of the tables: files, programs, network, other sessions, objects of its own. */
async function probeReach(prober: Prober, login: string): Promise<readonly Finding[]> {
  return [
    await files(prober, login),
    await answered(prober, serverFunctions(login)),
    await answered(prober, network),
    await objects(prober, login),
    await answered(prober, sessions),
    await answered(prober, definers),
  ];
}

async function files(prober: Prober, login: string): Promise<Finding> {
  const attempts = [
    ['pg_read_file', "SELECT pg_catalog.pg_read_file('PG_VERSION')"],
    ['pg_ls_dir', "SELECT pg_catalog.pg_ls_dir('.')"],
    ['lo_import', "SELECT pg_catalog.lo_import('/etc/hostname')"],
    [
      'COPY FROM',
      "DO $do$ BEGIN CREATE TEMP TABLE probe_file (line text); COPY probe_file FROM 'PG_VERSION'; END $do$",
    ],
    ['COPY TO PROGRAM', "DO $do$ BEGIN COPY (SELECT WHERE false) TO PROGRAM 'true'; END $do$"],
  ] as const;
  const allowed: string[] = [];
  for (const [name, sql] of attempts) if ((await prober.attempt(sql)).allowed) allowed.push(name);
  return judged('files and programs', allowed.length === 0, {
    ok: "SQL reaches neither the server's files nor its programs.",
    detail: `SQL reaches the server's files or programs by ${some(allowed)}.`,
    hint: `Take SUPERUSER and pg_read_server_files, pg_write_server_files, pg_execute_server_program from ${login}, and EXECUTE on these functions from PUBLIC.`,
  });
}

/** What PostgreSQL itself keeps from everybody: reading its directories, resetting and rotating, replication. */
const serverFunctions = (login: string): Question => ({
  check: 'server functions',
  sql: `
    SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc AS p
    JOIN pg_catalog.pg_init_privs AS i ON i.classoid = 'pg_proc'::regclass AND i.objoid = p.oid AND i.privtype = 'i'
    WHERE pg_catalog.has_function_privilege(p.oid, 'EXECUTE') AND NOT EXISTS (
      SELECT FROM pg_catalog.aclexplode(i.initprivs) AS a WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE')
    ORDER BY 1`,
  ok: 'SQL can call no function that is for administrators.',
  status: 'fail',
  wrong: (names) => `SQL can call ${names}, which PostgreSQL keeps for administrators.`,
  hint: (name) => `REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC, ${quoteName(login)};`,
});

const network: Question = {
  check: 'network',
  sql: `
    SELECT 'function ' || p.oid::regprocedure::text FROM pg_catalog.pg_proc AS p
    WHERE p.proname ~ '^(dblink|http_|pg_net|postgres_fdw_)' AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
      AND p.proname NOT IN ('dblink_fdw_validator', 'postgres_fdw_handler', 'postgres_fdw_validator')
      AND p.proname !~ '^dblink_(current_query|build_sql|get_pkey|get_notify|get_connections|error_message|is_busy|get_result|disconnect|cancel|fetch|close)'
    UNION ALL
    SELECT 'server ' || srvname::text FROM pg_catalog.pg_foreign_server WHERE pg_catalog.has_server_privilege(oid, 'USAGE')
    ORDER BY 1`,
  ok: 'SQL reaches no other server.',
  status: 'fail',
  wrong: (ways) => `SQL reaches other servers by ${ways}.`,
  hint: (way) => `REVOKE ALL ON ${way.replace('server ', 'FOREIGN SERVER ')} FROM PUBLIC;`,
};

async function objects(prober: Prober, login: string): Promise<Finding> {
  const schemas = await prober.names(`
    SELECT nspname::text FROM pg_catalog.pg_namespace
    WHERE pg_catalog.has_schema_privilege(oid, 'CREATE') AND nspname !~ '^pg_(toast_)?temp_' ORDER BY 1`);
  const database = await prober.attempt('CREATE SCHEMA sightline_probe');
  const temporary = await prober.attempt('CREATE TEMP TABLE sightline_probe ()');
  if (schemas.length === 0 && !database.allowed && !temporary.allowed) {
    return { check: 'new objects', status: 'ok', detail: 'SQL can create nothing.' };
  }
  const hints = [
    ...schemas.map((schema) => `REVOKE CREATE ON SCHEMA ${quoteName(schema)} FROM PUBLIC, ${quoteName(login)};`),
    ...(database.allowed ? [`REVOKE CREATE ON DATABASE … FROM PUBLIC, ${quoteName(login)};`] : []),
    ...(temporary.allowed ? ['REVOKE TEMPORARY ON DATABASE … FROM PUBLIC;'] : []),
  ];
  const where = [
    ...schemas.map((schema) => `in the schema ${schema}`),
    ...(database.allowed ? ['schemas in the database'] : []),
    ...(temporary.allowed ? ['temporary tables'] : []),
  ];
  return {
    check: 'new objects',
    status: schemas.length > 0 || database.allowed ? 'fail' : 'warn',
    detail: `SQL can create objects: ${some(where)}.`,
    hint: hints.join(' '),
  };
}

/** Sessions of one login see each other's statements, and can end them. */
const sessions: Question = {
  check: 'other sessions',
  sql: `SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc AS p
     WHERE (p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ $1 OR p.proname ~ $2)
       AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
     UNION ALL
     SELECT c.oid::regclass::text FROM pg_catalog.pg_class AS c
     WHERE c.relname ~ $2 AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
     ORDER BY 1`,
  values: [publicFunctions, statementStatistics],
  ok: 'SQL neither reads nor ends what other sessions run.',
  status: 'warn',
  wrong: (names) =>
    `Everybody may use ${names}: past the gate, a query could read or end another organization's running query, count whole tables, or keep large objects.`,
  hint: 'Every login of the database may. A superuser runs what this prints, where no other login needs it: sightline telemetry setup --print --harden',
};

/** A function that runs as its owner may read what the login may not. */
const definers: Question = {
  check: 'definer functions',
  sql: `
    SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
    WHERE p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
    ORDER BY 1`,
  ok: 'SQL can call no function that runs as its owner.',
  status: 'warn',
  wrong: (names) => `SQL can call functions that run as their owner: ${names}.`,
  hint: (name) => `REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC;`,
};
