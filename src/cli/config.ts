import { z } from 'zod';
import { act, type Register } from './command.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('config').description(summary);
  const check = group
    .command('check')
    .description('load the configuration with every plugin it names, and start nothing');
  act(check, output, z.object({}), async ({ settings }) => {
    const { checkConfig } = await import('../gateway/wiring/config.ts');
    const { file, plugins, reloadable } = await checkConfig(settings);
    output.result({ ok: true, file: file ?? null, plugins, reloadable }, () => {
      const used = Object.entries(plugins).map(([kind, name]) => `  ${kind.padEnd(10)} ${name}`);
      const valid = file === undefined ? 'No config file: the defaults are valid.' : `${file} is valid.`;
      const reload = `A running gateway takes on SIGHUP: ${reloadable.join(', ')}. All else needs a restart.`;
      return [valid, ...used, reload].join('\n');
    });
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
