import { tableNames, type ResolvedMapping, type SetupScript } from '../../../src/contract/telemetry/index.ts';
import { tablePath, textLiteral } from '../literals.ts';
import { named, namedByTenant, tenantPredicate } from '../tenant.ts';
import type { Warehouse } from '../warehouse.ts';

const account = 'sightline@PROJECT.iam.gserviceaccount.com';

/** Views and grants for the boundary that the config names. Nothing is run. */
export async function setup(warehouse: Warehouse, signal: AbortSignal): Promise<readonly SetupScript[]> {
  const { boundary, tenancy, projectId } = warehouse.config;
  switch (boundary) {
    case 'secure_context': {
      const mapping = await warehouse.mappingOf('', await warehouse.api(undefined), signal);
      return [secureViews(warehouse, mapping), readerGrants(projectId, viewDataset)];
    }
    case 'views': {
      const tenants = Object.values(tenancy.organizations ?? {});
      const named = tenants.length > 0 ? tenants : ['TENANT'];
      return [tenantDatasets(warehouse, named), readerGrants(projectId, 'DATASET_OF_EACH_ORGANIZATION')];
    }
    case 'connection':
      return [accounts(Object.keys(warehouse.config.connections))];
    case 'none':
      return [readerGrants(projectId, 'DATASET')];
  }
}

/** Where the views go: a dataset of their own, the only one the service may read. */
const viewDataset = 'sightline_views';

function secureViews(warehouse: Warehouse, mapping: ResolvedMapping): SetupScript {
  const { projectId, location, secureContextKey } = warehouse.config;
  const { boundary } = warehouse.tenancy;
  const context = `LAX_STRING(TO_JSON(SECURE_CONTEXT(${textLiteral(secureContextKey)})))`;
  const value = 'type' in boundary && boundary.type === 'int' ? `SAFE_CAST(${context} AS INT64)` : context;
  const rows = { boundary, mapping, style: warehouse.style, value };
  const views = tableNames.flatMap((table) =>
    (mapping.tables[table] ?? []).map(({ from, timeBounds = [] }) => {
      const predicate = named(tenantPredicate(rows, table) ?? 'TRUE', from);
      const partition = timeBounds.some((bound) => bound.includes('_PARTITIONTIME'))
        ? ', _PARTITIONTIME AS partition_time'
        : '';
      const view = tablePath(`${projectId}.${viewDataset}.${lastName(from)}`);
      return `CREATE OR REPLACE VIEW ${view} AS\nSELECT *${partition}\nFROM ${from}\nWHERE ${predicate};\n`;
    }),
  );
  return {
    title: 'Views that show each request the rows of its organization alone; run by an owner of the tables',
    sql: [
      `CREATE SCHEMA IF NOT EXISTS ${tablePath(`${projectId}.${viewDataset}`)} OPTIONS (location = ${textLiteral(location)});\n`,
      ...views,
      `-- Let the views read what the service may not: authorize their dataset in the dataset of the tables.`,
      `--   bq show --format=prettyjson ${projectId}:DATASET > dataset.json`,
      `--   add to "access": {"dataset": {"dataset": {"projectId": "${projectId}", "datasetId": "${viewDataset}"}, "targetTypes": ["VIEWS"]}}`,
      `--   bq update --source dataset.json ${projectId}:DATASET`,
      `-- Then point telemetry.mapping.names at ${viewDataset}.`,
    ].join('\n'),
  };
}

function tenantDatasets(warehouse: Warehouse, tenants: readonly string[]): SetupScript {
  const { projectId, location } = warehouse.config;
  const { boundary } = warehouse.tenancy;
  const template = namedByTenant(boundary) && 'template' in boundary ? boundary.template : '{tenant}';
  const sql = tenants.flatMap((tenant) => {
    const dataset = template.replaceAll('{tenant}', () => tenant).replaceAll('{table}', () => 'TABLE');
    const path = boundary.mode === 'dataset' ? dataset : `DATASET.${dataset}`;
    return [
      ...(boundary.mode === 'dataset'
        ? [
            `CREATE SCHEMA IF NOT EXISTS ${tablePath(`${projectId}.${path}`)} OPTIONS (location = ${textLiteral(location)});`,
          ]
        : []),
      `-- CREATE OR REPLACE VIEW ${tablePath(`${projectId}.${path}${boundary.mode === 'dataset' ? '.TABLE' : ''}`)} AS SELECT * FROM BASE_TABLE WHERE TENANT_COLUMN = ${textLiteral(tenant)};`,
    ];
  });
  return {
    title: 'A dataset or tables of its own for each organization; run by an owner of the project',
    sql: sql.join('\n'),
  };
}

function readerGrants(projectId: string, dataset: string): SetupScript {
  return {
    title: 'What the service may do: run jobs, and read this alone',
    sql: [
      `-- gcloud iam service-accounts create sightline --project ${projectId}`,
      `-- gcloud projects add-iam-policy-binding ${projectId} --member serviceAccount:${account} --role roles/bigquery.jobUser`,
      `GRANT \`roles/bigquery.dataViewer\` ON SCHEMA ${tablePath(`${projectId}.${dataset}`)} TO 'serviceAccount:${account}';`,
      '-- Nothing else: no bigquery.connections.use, no bigquery.jobs.listAll, no role on the tables behind views.',
    ].join('\n'),
  };
}

function accounts(tenants: readonly string[]): SetupScript {
  const lines = tenants.flatMap((tenant) => [
    `-- ${JSON.stringify(tenant)}: a service account with roles/bigquery.jobUser in its project,`,
    `--   roles/bigquery.dataViewer on its own dataset alone, and a credential file under telemetry.connections.`,
  ]);
  return { title: 'A service account for each organization; made by an owner of the project', sql: lines.join('\n') };
}

/** `` `p.d.trace` `` → `trace`. */
function lastName(from: string): string {
  const bare = from.replaceAll('`', '');
  return bare.slice(bare.lastIndexOf('.') + 1);
}
