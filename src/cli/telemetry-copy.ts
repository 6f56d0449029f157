import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { openEmbeddedTelemetry, openWarehouse, startWarehouse } from '../gateway/wiring/warehouse.ts';
import type { OpenWorkspace } from '../gateway/wiring/workspace.ts';
import { SightlineError } from '../contract/core/index.ts';
import type { Organization } from '../contract/storage/index.ts';
import type { TableName, TelemetrySink } from '../contract/telemetry/index.ts';
import { copyTelemetry } from '../records/transfer/telemetry/table.ts';
import { act, organizationsOf, withWorkspace } from './command.ts';
import type { Output } from './output.ts';

export function registerCopy(group: Command, output: Output): void {
  const command = group
    .command('copy')
    .description('copy what a data directory holds into the warehouse of the configuration; goes on where it stopped')
    .option('--from <dir>', 'data directory of the gateway that kept it (default: the one of the configuration)')
    .option('--org <name>', 'organization, by name or id (default: all)');
  const options = z.object({ from: z.string().optional(), org: z.string().optional() });
  act(command, output, options, async ({ settings, options: { from, org } }) => {
    const organizations = await withWorkspace(settings, async (workspace) => {
      const directory = resolve(from ?? workspace.dataDirectory);
      refuseItself(workspace, directory);
      const { label, telemetry } = await openWarehouse(workspace);
      try {
        await startWarehouse(workspace, telemetry);
        return await copyAll(workspace, directory, org, requireSink(label, telemetry.sink), output);
      } finally {
        output.progress(undefined);
        await telemetry.stop();
      }
    });
    output.result({ organizations }, () =>
      organizations.length === 0
        ? 'There was nothing to copy.'
        : organizations
            .map(({ name, rows }) => `${name}: ${rows.spans} spans, ${rows.metrics} metrics, ${rows.logs} logs`)
            .join('\n'),
    );
  });
}

async function copyAll(
  workspace: OpenWorkspace,
  directory: string,
  org: string | undefined,
  target: TelemetrySink,
  output: Output,
) {
  const named = await organizationsOf(workspace, org);
  const wanted = org === undefined ? [...named, ...(await restorable(workspace))] : named;
  const embedded = await openEmbeddedTelemetry(workspace, directory);
  const copied: { id: string; name: string; rows: Readonly<Record<TableName, number>> }[] = [];
  try {
    for (const { id, name } of wanted.filter((each) => embedded.has(each.id))) {
      const rows = await copyTelemetry({
        source: embedded.telemetry,
        target,
        organization: { id },
        logs: embedded.logs(id),
        signal: new AbortController().signal,
        onProgress: (table, fraction) => output.progress(fraction, `${name}, ${table}`),
      });
      copied.push({ id, name, rows });
    }
  } finally {
    await embedded.close();
  }
  return copied;
}

/** Deleted ones come back with their telemetry, or are removed with it. */
async function restorable({ storage }: OpenWorkspace): Promise<readonly Organization[]> {
  const deleted = await storage.directory.deletedOrganizations.list();
  return deleted.filter(({ purgeAt }) => purgeAt !== undefined);
}

function refuseItself({ config, dataDirectory }: OpenWorkspace, directory: string): void {
  if (config.telemetry.plugin !== 'duckdb' || realOf(directory) !== realOf(dataDirectory)) return;
  throw new SightlineError('invalid_argument', 'The configuration names the telemetry of this very data directory.', {
    hint: 'Name the new warehouse under telemetry in the config file first, or the old directory with --from DIR.',
  });
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function requireSink(label: string, sink: TelemetrySink | undefined): TelemetrySink {
  if (sink !== undefined) return sink;
  throw new SightlineError('invalid_argument', `The ${label} takes no rows from us: something else feeds it.`, {
    hint: 'Telemetry is copied into a warehouse of our own layout: telemetry.ingest, in docs/warehouses.md.',
  });
}
