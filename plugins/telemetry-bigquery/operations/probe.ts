import { randomUUID } from 'node:crypto';
import { SightlineError } from '../../../src/contract/core/index.ts';
import { tableNames, type Finding, type ResolvedMapping } from '../../../src/contract/telemetry/index.ts';
import { ApiFailure, type Api } from '../api.ts';
import { dryRun, RunningJob } from '../jobs.ts';
import { tablePath, timestampLiteral } from '../literals.ts';
import type { TenantAccess, Warehouse } from '../warehouse.ts';

const timeoutMs = 20_000;

/** Attempts what must not succeed, by dry runs alone: BigQuery checks permissions there and changes nothing. */
export async function probe(warehouse: Warehouse, signal: AbortSignal): Promise<readonly Finding[]> {
  return await new Probe(warehouse, signal).run();
}

class Probe {
  readonly #warehouse: Warehouse;
  readonly #signal: AbortSignal;
  readonly #findings: Finding[] = [];

  constructor(warehouse: Warehouse, signal: AbortSignal) {
    this.#warehouse = warehouse;
    this.#signal = signal;
  }

  async run(): Promise<readonly Finding[]> {
    const { projectId, location } = this.#warehouse.config;
    let accesses: readonly TenantAccess[];
    try {
      accesses = await this.#accesses();
    } catch (error) {
      const said = error instanceof SightlineError ? (error.operatorMessage ?? error.message) : reasonOf(error);
      this.#add('warehouse', 'fail', `The tables in ${projectId}, ${location} cannot be read: ${said}`);
      return this.#findings;
    }
    this.#add('warehouse', 'ok', `BigQuery answers in ${projectId}, ${location}.`);
    this.#boundary();
    for (const access of accesses) {
      const mayGoOn = await this.#reads(access);
      if (!mayGoOn) return this.#findings;
    }
    const [first] = accesses;
    if (first === undefined) return this.#findings;
    await this.#writes(first);
    await this.#others(first);
    await this.#apart(accesses);
    return this.#findings;
  }

  /** Of two organizations where the config lists them, else of one that there is not. */
  async #accesses(): Promise<readonly TenantAccess[]> {
    const { tenancy, connections } = this.#warehouse.config;
    const { boundary } = tenancy;
    const listed = [...Object.values(tenancy.organizations ?? {}), ...Object.keys(connections)];
    const nobody = boundary.mode === 'none' || ('type' in boundary && boundary.type === 'int') ? '0' : randomUUID();
    const named = [...new Set(listed)].slice(0, 2);
    const tenants = named.length > 0 || 'template' in boundary ? named : [nobody];
    return await Promise.all(tenants.map((tenant) => this.#warehouse.accessOfTenant(tenant, this.#signal)));
  }

  #boundary(): void {
    const { boundary, tenancy, isolation } = this.#warehouse.config;
    if (tenancy.boundary.mode === 'none') {
      this.#add('boundary', 'ok', 'One organization reads this warehouse.');
    } else if (boundary !== 'none') {
      this.#add('boundary', 'ok', `BigQuery keeps organizations apart by ${boundary}, beside the statement itself.`);
    } else {
      this.#add(
        'boundary',
        isolation === 'degraded' ? 'warn' : 'fail',
        'Only the predicate in the statement keeps organizations apart.',
        'Set telemetry.boundary (sightline telemetry setup --print has the views), or isolation: degraded.',
      );
    }
  }

  async #reads(access: TenantAccess): Promise<boolean> {
    try {
      const tables = await this.#warehouse.allowedTables(access, this.#signal);
      this.#add('telemetry tables', 'ok', `They read ${[...tables].join(', ') || 'no table'}.`);
      return true;
    } catch (error) {
      this.#add('telemetry tables', 'fail', `A dry run over them fails: ${reasonOf(error)}.`, 'See telemetry.mapping.');
      return false;
    }
  }

  async #writes({ api, mapping }: TenantAccess): Promise<void> {
    const [table = 'TABLE'] = fromsOf(mapping);
    const dataset = table.replaceAll('`', '').split('.').slice(0, -1).join('.');
    const fresh = `sightline_probe_${randomUUID().replaceAll('-', '')}`;
    const attempts = [
      `DELETE FROM ${table} WHERE TRUE`,
      `TRUNCATE TABLE ${table}`,
      `DROP TABLE ${table}`,
      `CREATE TABLE ${tablePath(`${dataset}.${fresh}`)} AS SELECT 1 AS x`,
      `CREATE FUNCTION ${tablePath(`${dataset}.${fresh}`)}() AS (1)`,
      `EXPORT DATA OPTIONS (uri = 'gs://${fresh}/*', format = 'CSV') AS SELECT 1 AS x`,
    ];
    await this.#mustFail('writes', attempts, api, 'Take every role but jobUser and dataViewer from the account.');
  }

  async #others({ api }: TenantAccess): Promise<void> {
    const { projectId, location } = this.#warehouse.config;
    const region = `region-${location.toLowerCase()}`;
    const views = ['JOBS', 'JOBS_BY_FOLDER', 'JOBS_BY_ORGANIZATION', 'SESSIONS_BY_PROJECT'];
    const attempts = views.map(
      (view) => `SELECT 1 FROM ${tablePath(`${projectId}.${region}`)}.INFORMATION_SCHEMA.${view}`,
    );
    await this.#mustFail('jobs of others', attempts, api, 'Take bigquery.jobs.listAll from the account.');
  }

  async #apart(accesses: readonly TenantAccess[]): Promise<void> {
    const { boundary } = this.#warehouse.config;
    const [one, other] = accesses;
    if (one === undefined) return;
    if (boundary === 'secure_context') {
      await this.#basesAreHidden(one);
      await this.#viewsFilter(one);
    }
    if (boundary !== 'views' && boundary !== 'connection') return;
    if (other === undefined) {
      this.#add(
        'organizations apart',
        'warn',
        'Nothing was tried: the config lists fewer than two.',
        'List them under telemetry.tenancy.organizations.',
      );
      return;
    }
    const own = await this.#warehouse.allowedTables(one, this.#signal);
    const foreign = [...(await this.#warehouse.allowedTables(other, this.#signal))];
    if (boundary === 'connection') {
      const attempts = foreign.map((table) => `SELECT 1 FROM ${tablePath(table)}`);
      await this.#mustFail('organizations apart', attempts, one.api, 'Let each account read its own tables alone.');
      return;
    }
    const shared = foreign.filter((table) => own.has(table));
    if (shared.length === 0) this.#add('organizations apart', 'ok', 'Two organizations read different tables.');
    else {
      this.#add(
        'organizations apart',
        this.#severity(),
        `Two organizations read the same tables behind their views: ${shared.join(', ')}.`,
        'BigQuery does not tell their views apart then: use secure_context, or a connection for each.',
      );
    }
  }

  /** What BigQuery names behind the views must not be readable itself. */
  async #basesAreHidden(access: TenantAccess): Promise<void> {
    const views = new Set(fromsOf(access.mapping).map((from) => qualified(from, access.api.projectId)));
    const bases = [...(await this.#warehouse.allowedTables(access, this.#signal))].filter((table) => !views.has(table));
    const attempts = bases.map((table) => `SELECT 1 FROM ${tablePath(table)}`);
    if (attempts.length === 0) {
      this.#add(
        'tables behind views',
        this.#severity(),
        'BigQuery names no table behind what is read, so these are no views.',
        'Point telemetry.mapping at the views.',
      );
      return;
    }
    await this.#mustFail('tables behind views', attempts, access.api, 'Authorize the views instead of the account.');
  }

  /** A tenant that does not exist must see nothing, without any predicate of ours. */
  async #viewsFilter({ api, mapping }: TenantAccess): Promise<void> {
    const since = timestampLiteral(new Date(Date.now() - 3_600_000));
    const seen: string[] = [];
    for (const table of tableNames) {
      for (const { from, columns } of mapping.tables[table] ?? []) {
        const sql = `SELECT 1 FROM ${from} WHERE (${columns['time']}) >= ${since} LIMIT 1`;
        const until = AbortSignal.any([this.#signal, AbortSignal.timeout(timeoutMs)]);
        const job = new RunningJob(api, this.#warehouse.job(sql, randomUUID()), timeoutMs, until);
        try {
          const { rows } = await job.page(undefined, 1, until);
          if (rows.length > 0) seen.push(from);
        } catch (error) {
          await job.cancel().catch(() => {});
          this.#add('secure context', this.#severity(), `A view cannot be asked: ${reasonOf(error)}.`);
          return;
        }
      }
    }
    if (seen.length === 0) this.#add('secure context', 'ok', 'The views show nothing to a tenant that is not there.');
    else this.#add('secure context', this.#severity(), `Not filtered by SECURE_CONTEXT: ${seen.join(', ')}.`);
  }

  async #mustFail(check: string, attempts: readonly string[], api: Api, hint: string): Promise<void> {
    if (attempts.length === 0) {
      this.#add(check, this.#severity(), 'BigQuery names no table to try this on, so nothing is known.', hint);
      return;
    }
    const succeeded: string[] = [];
    for (const sql of attempts) {
      const outcome = await this.#attempt(sql, api);
      if (outcome === 'unknown') {
        this.#add(check, this.#severity(), 'BigQuery did not answer, so nothing is known.', 'Try again.');
        return;
      }
      if (outcome === 'succeeded') succeeded.push(sql.slice(0, 120));
    }
    if (succeeded.length === 0) this.#add(check, 'ok', `${attempts.length} attempts were denied.`);
    else this.#add(check, this.#severity(), `BigQuery would let these through: ${succeeded.join('; ')}.`, hint);
  }

  async #attempt(sql: string, api: Api): Promise<'denied' | 'succeeded' | 'unknown'> {
    try {
      await dryRun(api, this.#warehouse.job(sql, ''), AbortSignal.any([this.#signal, AbortSignal.timeout(timeoutMs)]));
      return 'succeeded';
    } catch (error) {
      return error instanceof ApiFailure && error.status >= 400 && error.status < 500 ? 'denied' : 'unknown';
    }
  }

  #severity(): 'warn' | 'fail' {
    return this.#warehouse.config.isolation === 'degraded' ? 'warn' : 'fail';
  }

  #add(check: string, status: Finding['status'], detail: string, hint?: string): void {
    this.#findings.push({ check, status, detail, ...(hint === undefined ? {} : { hint }) });
  }
}

function fromsOf(mapping: ResolvedMapping): readonly string[] {
  return tableNames.flatMap((table) => (mapping.tables[table] ?? []).map(({ from }) => from));
}

/** As BigQuery names it: `project.dataset.table`. */
function qualified(from: string, projectId: string): string {
  const bare = from.replaceAll('`', '');
  return bare.split('.').length === 2 ? `${projectId}.${bare}` : bare;
}

function reasonOf(error: unknown): string {
  return error instanceof ApiFailure ? error.reason || 'no answer' : 'no answer';
}
