import { z } from 'zod';
import { openWarehouse } from '../gateway/wiring/warehouse.ts';
import { warehouseTrouble } from '../gateway/wiring/warehouse-trouble.ts';
import { SightlineError } from '../contract/core/index.ts';
import type { InspectedPreset, ValueNote, WarehouseOperations } from '../contract/telemetry/index.ts';
import type { Settings } from '../gateway/wiring/settings.ts';
import { act, organizationsOf, withWorkspace, type Register } from './command.ts';
import { pasteable, type Output, yaml } from './output.ts';
import { registerCopy } from './telemetry-copy.ts';

const timeoutMs = 60_000;
const loginOption = ['--url <url>', 'a login to inspect with, in place of telemetry.url'] as const;
const lookOptions = z.object({ url: z.string().optional() });

export const register: Register = (program, output, summary) => {
  const group = program.command('telemetry').description(summary);

  registerCopy(group, output);

  const compact = group
    .command('compact')
    .description('rewrite DuckDB files, smaller and in the newest format; the gateway must be stopped')
    .option('--org <name>', 'organization, by name or id (default: all)');
  act(compact, output, z.object({ org: z.string().optional() }), async ({ settings, options: { org } }) => {
    const files = await withWorkspace(settings, async (workspace) => {
      const { label, telemetry } = await openWarehouse(workspace);
      if (telemetry.compact === undefined) {
        throw new SightlineError('invalid_argument', `The ${label} has no files of ours to compact.`);
      }
      const done: { name: string; before: number; after: number }[] = [];
      for (const { id, name } of await organizationsOf(workspace, org)) {
        const sizes = await telemetry.compact(id);
        if (sizes !== undefined) done.push({ name, ...sizes });
      }
      return done;
    });
    const mebibytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
    output.result({ files }, () =>
      files.length === 0
        ? 'There was nothing to compact.'
        : files.map(({ name, before, after }) => `${name}: ${mebibytes(before)}, now ${mebibytes(after)}`).join('\n'),
    );
  });

  const setup = group
    .command('setup')
    .description('print the SQL with which an administrator makes the warehouse keep organizations apart')
    .option('--print', 'print the SQL; nothing is run')
    .option('--harden', 'the SQL that revokes rights which the warehouse gives to all logins')
    .option(...loginOption);
  const setupOptions = lookOptions.extend({ print: z.boolean().default(false), harden: z.boolean().default(false) });
  act(setup, output, setupOptions, async ({ settings, options }) => {
    const { label, all } = await withOperations(settings, options.url, async (operations, name) => ({
      label: name,
      all: await operations.setup(AbortSignal.timeout(timeoutMs)),
    }));
    const scripts = all.filter(({ everybody = false }) => everybody === options.harden);
    output.result({ scripts }, () => {
      // A comment, so that what is printed can be run.
      if (scripts.length === 0) return `-- Nothing to harden: no right of the ${label} is granted to every login.`;
      if (options.print) return scripts.map(({ title, sql }) => `-- ${title}\n${sql.trim()}\n`).join('\n');
      const list = scripts.map(({ title }, index) => `${index + 1}. ${title}`);
      return [...list, '', pasteable('Print them with: sightline telemetry setup --print')].join('\n');
    });
  });

  const inspect = group
    .command('inspect')
    .description('inspect the warehouse and print the mapping that fits')
    .option(...loginOption);
  act(inspect, output, lookOptions, async ({ settings, options }) => {
    const { found, configured } = await withOperations(settings, options.url, async (operations) => {
      const signal = AbortSignal.timeout(timeoutMs);
      return { found: await operations.inspect(signal), configured: await operations.look?.(signal) };
    });
    const own = configured === undefined ? [] : ['', 'The mapping of the config file:', ...said(configured, output)];
    output.result({ ...found, ...(configured !== undefined && { configured }) }, () => {
      const [best, ...others] = found.candidates;
      if (best === undefined) {
        const nothing = 'Nothing else there looks like telemetry. Map its tables by hand: docs/warehouses.md.';
        return [found.server, '', nothing, ...own].join('\n');
      }
      const rest = others.map(({ preset, title }) => `  ${preset}  ${title}`);
      return [
        found.server,
        '',
        ...candidate(best, output),
        ...(rest.length === 0 ? [] : ['', 'Also possible:', ...rest]),
        ...own,
      ].join('\n');
    });
  });
};

function candidate(
  { preset, title, found, missing, mapping, notes = [] }: InspectedPreset,
  output: Output,
): readonly string[] {
  const width = Math.max(
    0,
    ...Object.keys(found).map((name) => name.length),
    ...missing.map(({ what }) => what.length),
  );
  return [
    `${output.style('bold', preset)}  ${title}`,
    ...Object.entries(found).map(
      ([logical, physical]) => `  ${output.style('green', logical.padEnd(width))}  ${physical}`,
    ),
    ...missing.map(({ what, instead }) => `  ${output.style('yellow', what.padEnd(width))}  missing: ${instead}`),
    ...(notes.length === 0
      ? []
      : ['', 'What the values say, mended below where it can be:', ...said(notes, output, true)]),
    '',
    'In the config file, under telemetry:',
    ...yaml({ mapping }).map((line) => `  ${line}`),
  ];
}

/** What values say of columns, one a line; what is empty in one line. `mended`: the expressions are printed elsewhere. */
function said(notes: readonly ValueNote[], output: Output, mended = false): readonly string[] {
  const lines = notes
    .filter(({ empty }) => empty !== true)
    .map(({ what, found, mend }) => {
      const cure = mend === undefined ? output.style('yellow', 'map this by hand') : mended ? '' : `write ${mend}`;
      return `  ${what}  ${found}${cure && `: ${cure}`}`;
    });
  const empty = notes.filter(({ empty: is }) => is === true).map(({ what }) => what);
  const none = empty.length === 0 ? [] : [`  empty in every row looked at: ${empty.join(', ')}`];
  return notes.length === 0 ? ['  fits what the values say'] : [...lines, ...none];
}

/** With the plugin of the configuration, which is closed whatever happens. Throws for one that has nothing to operate. */
function withOperations<Result>(
  settings: Settings,
  url: string | undefined,
  work: (operations: WarehouseOperations, label: string) => Promise<Result>,
): Promise<Result> {
  return withWorkspace(settings, async (workspace) => {
    const { label, telemetry } = await openWarehouse(workspace);
    if (telemetry.operations === undefined) {
      throw new SightlineError('invalid_argument', `The ${label} needs no setting up: it keeps telemetry by itself.`, {
        hint: 'To use a warehouse that you have, see docs/warehouses.md.',
      });
    }
    try {
      const { operations } = telemetry;
      if (url !== undefined && operations.as === undefined) {
        throw new SightlineError('invalid_argument', `The ${label} takes no --url.`, {
          hint: 'Change the login under telemetry in the config file.',
        });
      }
      return await work(url === undefined ? operations : (operations.as?.(url) ?? operations), label);
    } catch (error) {
      throw warehouseTrouble(error, workspace.config.telemetry, url) ?? error;
    } finally {
      await telemetry.stop();
    }
  });
}
