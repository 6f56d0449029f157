import { grantSql, seenSql, type Access } from '../../setup/access.ts';

const escape = (text: string | number) =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The same access as users.xml of the engine, whose one user is `default`: policies say `tenant`, since a process is one tenant's. */
export function usersXml(
  { settings, grants, seen, policies }: Access,
  policy: (using: string) => string = (using) => using,
): string {
  const values = settings.map(({ name, value }) => `<${name}>${escape(value)}</${name}>`).join('');
  // The embedded engine takes no changeable_in_readonly: at readonly = 1 nothing may be set at all.
  const constraints = settings
    .map(({ name, changeable }) => (changeable ? '' : `<${name}><const/></${name}>`))
    .join('');
  const databases = Map.groupBy(policies, ({ database }) => database);
  const filters = [...databases].map(
    ([database, of]) =>
      `<${database}>${of.map(({ table, using }) => `<${table}><filter>${escape(policy(using))}</filter></${table}>`).join('')}</${database}>`,
  );
  const granted = [...grants.map((grant) => grantSql(grant)), ...seen.map((grant) => seenSql(grant))]
    .map((sql) => `<query>${escape(sql)}</query>`)
    .join('');
  return `<clickhouse>
    <profiles><default>${values}<constraints>${constraints}</constraints></default></profiles>
    <quotas><default></default></quotas>
    <users><default><password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
      <databases>${filters.join('')}</databases><grants>${granted}</grants></default></users></clickhouse>`;
}
