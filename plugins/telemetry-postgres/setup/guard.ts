import { words } from '../../../src/contract/telemetry/index.ts';
import { quoteText, schemaOf } from '../types.ts';

/** A role as the set-up makes it. */
export interface Role {
  readonly name: string;
  /** A login owns nothing; what owns the views lies in these schemas, and nobody logs in as it. */
  readonly owns?: readonly string[];
  /** What it may do, by quoted name. Left out: rights are not looked at. */
  readonly rights?: { readonly relations: ReadonlyMap<string, string>; readonly functions: readonly string[] };
}

const attributes = Object.entries({
  rolsuper: 'is a superuser',
  rolcreatedb: 'may create databases',
  rolcreaterole: 'may create roles',
  rolreplication: 'may replicate',
  rolbypassrls: 'bypasses row security',
});

/**
 * What a role of that name is already beyond what the set-up makes it, one reason a row: changing it would take something from
 * its users, or leave it more than a gateway may have. No row where there is no such role.
 */
export function objections(role: Role): string {
  const login = role.owns === undefined;
  const reasons = [
    ...attributes.map(([column, reason]) => `SELECT ${quoteText(reason)} WHERE r.${column}`),
    `SELECT format('is a member of %I', g.rolname) FROM pg_auth_members AS m JOIN pg_roles AS g ON g.oid = m.roleid WHERE m.member = r.oid`,
    ...(login ? [owned(''), ...(role.rights === undefined ? [] : beyond(role.rights))] : ownerOnly(role.owns)),
  ];
  return `SELECT why.reason FROM pg_roles AS r CROSS JOIN LATERAL (\n  ${reasons.join('\n  UNION ALL ')}\n) AS why(reason) WHERE r.rolname = ${quoteText(role.name)} LIMIT 5`;
}

/** Ends the script with what speaks against it. */
export function guard(role: Role): string {
  return [
    'DO $guard$ DECLARE reasons text;',
    'BEGIN',
    `SELECT string_agg(reason, ', ') INTO reasons FROM (\n${objections(role)}\n) AS found;`,
    `IF reasons IS NOT NULL THEN RAISE EXCEPTION 'The role % is there already and %. Nothing was changed. Choose another name: telemetry.boundary.login, boundary.owner or the user in ingest.url.', ${quoteText(role.name)}, reasons; END IF;`,
    'END $guard$;',
  ].join('\n');
}

const here = '(SELECT oid FROM pg_database WHERE datname = current_database())';

function owned(except: string): string {
  return `SELECT CASE WHEN d.dbid IN (0, ${here}) THEN 'owns ' || pg_describe_object(d.classid, d.objid, 0) ELSE 'owns something in another database' END
    FROM pg_shdepend AS d WHERE d.refclassid = 'pg_authid'::regclass AND d.refobjid = r.oid AND d.deptype = 'o'${except}`;
}

/** It may own the same in other databases: nothing about it is changed there. */
function ownerOnly(schemas: readonly string[]): readonly string[] {
  const names = schemas.map(quoteText).join(', ');
  const idents = schemas.map((name) => `quote_ident(${quoteText(name)})`).join(', ');
  const place = 'pg_identify_object(d.classid, d.objid, 0)';
  const inside = `(${place}).schema IN (${idents}) OR (${place}).type = 'schema' AND (${place}).name IN (${idents})`;
  return [
    `SELECT 'can log in' WHERE r.rolcanlogin`,
    `SELECT format('has the member %I', u.rolname) FROM pg_auth_members AS m JOIN pg_roles AS u ON u.oid = m.member WHERE m.roleid = r.oid AND u.rolcanlogin AND NOT u.rolsuper AND NOT u.rolcreaterole`,
    owned(` AND d.dbid IN (0, ${here}) AND NOT coalesce(${inside}, false)`),
    `SELECT format('is not the owner of the schema %I, which is there already', n.nspname) FROM pg_namespace AS n WHERE n.nspname IN (${names}) AND n.nspowner <> r.oid`,
  ];
}

/**
 * Rights beyond those that are granted. In other databases they are looked at only if the role is not marked as made by a
 * set-up: by its settings, or by what was granted to it here.
 */
function beyond({ relations, functions }: NonNullable<Role['rights']>): readonly string[] {
  const schemas = new Set([...relations.keys(), ...functions].map((name) => schemaOf(name)));
  const row = (catalog: string, object: string, rights: string) =>
    `(${quoteText(catalog)}::regclass, ${object}::oid, ${quoteText(`{${words(rights).join(',')}}`)}::text[])`;
  // Not to_regclass: it fails where the login may not use the schema.
  const named = (quoted: string) => quoteText(quoted.slice(1, -1).replaceAll('""', '"'));
  const inSchema = (catalog: string, prefix: string, name: string) => {
    const schema = schemaOf(name);
    return `(SELECT o.oid FROM ${catalog} AS o JOIN pg_namespace AS n ON n.oid = o.${prefix}namespace WHERE n.nspname = ${named(schema)} AND o.${prefix}name = ${named(name.slice(schema.length + 1))} LIMIT 1)`;
  };
  const allowed = [
    row('pg_database', here, 'CONNECT'),
    ...[...schemas].map((name) =>
      row('pg_namespace', `(SELECT oid FROM pg_namespace WHERE nspname = ${named(name)})`, 'USAGE'),
    ),
    ...[...relations].map(([name, rights]) => row('pg_class', inSchema('pg_class', 'rel', name), rights)),
    ...functions.map((name) => row('pg_proc', inSchema('pg_proc', 'pro', name), 'EXECUTE')),
  ];
  const granted = `FROM pg_shdepend AS d LEFT JOIN (VALUES ${allowed.join(', ')}) AS may(class, object, rights)
    ON may.class = d.classid AND may.object = d.objid AND d.objsubid = 0 AND d.dbid IN (0, ${here})
    WHERE d.refclassid = 'pg_authid'::regclass AND d.refobjid = r.oid AND d.deptype <> 'o'`;
  const ours = `(EXISTS (SELECT FROM pg_db_role_setting AS s WHERE s.setrole = r.oid AND s.setdatabase = 0
      AND s.setconfig @> '{default_transaction_read_only=on,search_path=pg_catalog}')
    OR EXISTS (SELECT ${granted} AND may.class <> 'pg_database'::regclass))`;
  const acls = ['pg_class relacl', 'pg_namespace nspacl', 'pg_proc proacl', 'pg_database datacl'].map((pair) => {
    const [catalog = '', column = ''] = words(pair);
    return `SELECT ${column} FROM ${catalog} WHERE may.class = '${catalog}'::regclass AND oid = may.object`;
  });
  return [
    `SELECT 'has rights on ' || CASE WHEN d.dbid IN (0, ${here}) THEN pg_describe_object(d.classid, d.objid, d.objsubid) ELSE 'something in another database' END
    ${granted} AND may.class IS NULL AND (d.dbid = ${here} OR NOT ${ours})`,
    `SELECT format('may %s %s', a.privilege_type, pg_describe_object(d.classid, d.objid, 0))
    ${granted.replace('\n    WHERE', ` CROSS JOIN LATERAL (${acls.join(' UNION ALL ')}) AS on_it(acl) CROSS JOIN LATERAL aclexplode(on_it.acl) AS a\n    WHERE`)} AND a.grantee = r.oid AND (a.is_grantable OR a.privilege_type <> ALL (may.rights))`,
    `SELECT format('has settings of its own (%s)', array_to_string(s.setconfig, ', ')) FROM pg_db_role_setting AS s
    WHERE s.setrole = r.oid AND NOT ${ours}`,
  ];
}
