import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { exportAudit } from '../records/audit/export.ts';
import { registerVerify } from './audit/verify.ts';
import { act, organizationsOf, orgShape, type Register, withWorkspace } from './command.ts';
import { Exit } from './exit.ts';
import type { Output } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('audit').description(summary);
  registerVerify(group, output);
  registerExport(group, output);
};

const shape = orgShape.extend({ from: z.string().optional(), to: z.string().optional() });

function registerExport(group: Command, output: Output): void {
  const command = group
    .command('export')
    .argument('[file]', 'default, and for -: standard output')
    .description('write records as JSON lines, signed, for `audit verify` and for others to keep')
    .option('--org <name>', 'organization, by name or id (default: all)')
    .option('--from <time>', 'records from this time on, such as 2026-03-01 or 2026-03-01T12:00:00Z')
    .option('--to <time>', 'records before this time');
  act(command, output, shape, async ({ settings, options, operands: [operand] }) => {
    const file = operand === '-' ? undefined : operand;
    const range = { ...timeOf('from', options.from), ...timeOf('to', options.to) };
    const target = file === undefined ? undefined : createWriteStream(resolve(file), { flags: 'wx', mode: 0o600 });
    if (target) await opened(target, resolve(file ?? ''));
    const stream = target ?? process.stdout;
    const exported = await withWorkspace(settings, async (workspace) =>
      exportAudit({
        storage: workspace.storage,
        vault: workspace.vault,
        now: workspace.now,
        organizations: await organizationsOf(workspace, options.org),
        ...range,
        write: async (text) => {
          if (!stream.write(text)) await once(stream, 'drain');
        },
        onProgress: (done) => output.progress(done, 'exporting'),
      }),
    );
    output.progress(undefined);
    if (target) {
      target.end();
      await finished(target);
      output.result({ file: resolve(file ?? ''), ...exported }, () => `Wrote ${file}: ${exported.records} records.`);
    }
    if (exported.problems === 0) return;
    output.warn(`The audit has ${exported.problems} problems, and the export says so: sightline audit verify`);
    throw new Exit(1);
  });
}

async function opened(target: NodeJS.EventEmitter, file: string): Promise<void> {
  try {
    await once(target, 'open');
  } catch (cause) {
    throw new SightlineError('invalid_argument', `The file ${file} cannot be made.`, {
      hint: 'Name one that does not exist, in a folder that can be written.',
      cause,
    });
  }
}

function timeOf(name: 'from' | 'to', text: string | undefined): Partial<Record<'from' | 'to', Date>> {
  if (text === undefined) return {};
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw new SightlineError('invalid_argument', `--${name} ${JSON.stringify(text.slice(0, 40))} is no time.`, {
      hint: 'Write it as 2026-03-01 or 2026-03-01T12:00:00Z.',
    });
  }
  return { [name]: time };
}
