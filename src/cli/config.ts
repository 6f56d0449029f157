import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import type { Finding } from '../contract/telemetry/index.ts';
import type { Settings } from '../gateway/wiring/settings.ts';
import { act, withWorkspace, type Register } from './command.ts';
import { findingsTable } from './doctor.ts';
import { Exit } from './exit.ts';

/** Opens the storage beside a running gateway, as every command does. */
async function outside(settings: Settings): Promise<readonly Finding[]> {
  const { examineOutside } = await import('./examine-outside.ts');
  return withWorkspace(settings, (workspace) => examineOutside(workspace));
}

/** Refuses a data directory that nobody can make; who checks the config may be another user than the gateway's. */
async function directoryWarning(path: string): Promise<string | undefined> {
  const { cannotBeMade } = await import('./examination.ts');
  const trouble = cannotBeMade(path);
  if (trouble === undefined) return undefined;
  const message = `dataDirectory: ${path} cannot be made: ${trouble.why}.`;
  if (!trouble.certain) return message;
  throw new SightlineError('config_invalid', message, { hint: 'Name another one, there or with --data.' });
}

export const register: Register = (program, output, summary) => {
  const group = program.command('config').description(summary);
  const check = group
    .command('check')
    .description('load the configuration with every plugin it names, and start nothing')
    .option('--online', 'also ask the identity provider, the model and publicUrl');
  act(check, output, z.object({ online: z.boolean().default(false) }), async ({ settings, options: { online } }) => {
    const { checkConfig } = await import('../gateway/wiring/config.ts');
    const { file, plugins, reloadable, config } = await checkConfig(settings);
    const warning = await directoryWarning(config.dataDirectory);
    const checks = online ? await outside(settings) : [];
    const ok = checks.every(({ status }) => status !== 'fail');
    output.result(
      { ok, file: file ?? null, plugins, reloadable, ...(warning && { warning }), ...(online && { checks }) },
      () => {
        const used = Object.entries(plugins).map(([kind, name]) => `  ${kind.padEnd(10)} ${name}`);
        const valid = file === undefined ? 'No config file: the defaults are valid.' : `${file} is valid.`;
        const reload = `A running gateway takes on SIGHUP: ${reloadable.join(', ')}. All else needs a restart.`;
        return [
          valid,
          ...used,
          reload,
          ...(warning ? [warning] : []),
          ...(online ? [findingsTable(checks, output)] : []),
        ].join('\n');
      },
    );
    if (!ok) throw new Exit(1);
  });

  const openapi = group.command('openapi').description('print the OpenAPI document of the admin interface');
  act(openapi, output, z.object({}), async () => {
    const { openApiDocument } = await import('../gateway/admin/openapi.ts');
    process.stdout.write(`${JSON.stringify(openApiDocument(), undefined, 2)}\n`);
  });

  const schema = group.command('schema').description('print the JSON Schema of the config file');
  act(schema, output, z.object({}), async () => {
    const { writeConfigSchema } = await import('../gateway/wiring/config.ts');
    process.stdout.write(`${(await writeConfigSchema()).trimEnd()}\n`);
  });
};
