import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { mostProblems } from '../gateway/admin/audit.ts';
import { operations } from '../gateway/admin/index.ts';
import { gatherFindings, verifyAuditFile } from '../records/audit/export.ts';
import { parseFileLine } from '../records/audit/format.ts';
import { acceptRemote, actOnAdmin, isRemote, onAdmin, type AdminCall } from './admin.ts';
import { act, notMade, orgShape, type Register } from './command.ts';
import { Exit } from './exit.ts';
import type { Output } from './output.ts';
import type { Settings } from '../gateway/wiring/settings.ts';
import { layFoundation } from '../gateway/wiring/workspace.ts';

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
  actOnAdmin(
    command,
    output,
    shape,
    async ({ admin, options: { org: organization, from, to }, operands: [operand] }) => {
      const file = operand === '-' ? undefined : operand;
      const range = { ...timeOf('from', from), ...timeOf('to', to) };
      const target = file === undefined ? undefined : createWriteStream(resolve(file), { flags: 'wx', mode: 0o600 });
      if (target) {
        await once(target, 'open').catch((cause: unknown) => {
          throw notMade(resolve(file ?? ''), cause);
        });
      }
      const stream = target ?? process.stdout;
      let tail = '';
      await admin.stream(
        operations.exportWholeAudit,
        { organization, ...range },
        async (text) => {
          tail = `${tail}${text}`.slice(-longestEnd);
          if (!stream.write(text)) await once(stream, 'drain');
        },
        (done) => output.progress(done, 'exporting'),
      );
      output.progress(undefined);
      if (target) {
        target.end();
        await finished(target);
      }
      const { records, problems } = endOf(tail);
      if (file !== undefined) {
        output.result({ file: resolve(file), records, problems }, () => `Wrote ${file}: ${records} records.`);
      }
      if (problems === 0) return;
      output.warn(`The audit has ${problems} problems, and the export says so: sightline audit verify`);
      throw new Exit(1);
    },
  );
}

/** Characters; the last line of an export is a fraction of it. */
const longestEnd = 2_000;

function endOf(text: string): { readonly records: number; readonly problems: number } {
  const end = parseFileLine(text.trimEnd().split('\n').at(-1) ?? '');
  if (end?.type === 'end') return end;
  throw new SightlineError('unavailable', 'The export was cut off: its last line is missing.');
}

function timeOf(name: 'from' | 'to', text: string | undefined): Partial<Record<'from' | 'to', string>> {
  if (text === undefined) return {};
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw new SightlineError('invalid_argument', `--${name} ${JSON.stringify(text.slice(0, 40))} is no time.`, {
      hint: 'Write it as 2026-03-01 or 2026-03-01T12:00:00Z.',
    });
  }
  return { [name]: time.toISOString() };
}

const verifyShape = orgShape.extend({ since: z.string().optional() });

function registerVerify(group: Command, output: Output): void {
  const command = group
    .command('verify')
    .argument('[file]', 'what `audit export` wrote (default: the storage)')
    .description('check whether records were changed, moved, forged or removed')
    .option('--org <name>', 'organization, by name or id (default: all)')
    .option('--since <file>', 'what `audit verify --json` printed earlier: tells what was cut off since');
  acceptRemote(command);
  act(command, output, verifyShape, async (call) => {
    const [file] = call.operands;
    if (file === undefined) return onAdmin(command, call, (remotely) => verifyStorage(output, remotely));
    if (!isRemote(command)) return verifyFile(output, call.settings, resolve(file));
    throw new SightlineError('invalid_argument', 'A file is verified with the master key, which is not sent.', {
      hint: 'Leave out --url, on the machine of the gateway.',
    });
  });
}

async function verifyFile(output: Output, settings: Settings, file: string): Promise<void> {
  const { report, kept: problems, count } = gatherFindings<Found>(mostProblems);
  const { vault } = await layFoundation(settings);
  const { records, exportedAt } = await verifyAuditFile({ file, vault, report });
  output.result({ ok: count() === 0, file, exportedAt, records, problemCount: count(), problems }, () =>
    inWords(output, `${records} records, exported on ${exportedAt}`, problems, count()),
  );
  if (count() > 0) throw new Exit(1);
}

async function verifyStorage(
  output: Output,
  { admin, options: { org: organization, since } }: AdminCall<z.output<typeof verifyShape>>,
): Promise<void> {
  const known = since === undefined ? undefined : readHeads(since);
  const progress = (done: number): void => output.progress(done, 'verifying');
  const found = await admin.perform(operations.verifyAudit, { organization, known }, undefined, progress);
  const { problems, problem_count: problemCount, ...result } = found;
  const { records, chains, unchained } = result;
  const old = unchained === 0 ? '' : `; ${unchained} records are older than the chains, and nothing protects them`;
  output.result({ ok: problemCount === 0, ...result, problemCount, problems }, () =>
    inWords(output, `${records} records in ${chains} chains${old}`, problems, problemCount),
  );
  if (problemCount > 0) throw new Exit(1);
}

interface Found {
  readonly organization?: string | undefined;
  readonly chain?: number | undefined;
  readonly seq?: number | undefined;
  readonly what: string;
}

const headsShape = z.object({ heads: operations.verifyAudit.output.shape.heads });

function readHeads(file: string): z.output<typeof headsShape>['heads'] {
  try {
    return headsShape.parse(JSON.parse(readFileSync(file, 'utf8'))).heads;
  } catch (cause) {
    throw new SightlineError('invalid_argument', `The file ${file} is not what \`audit verify --json\` prints.`, {
      cause,
    });
  }
}

function inWords(output: Output, seen: string, problems: readonly Found[], count: number): string {
  if (count === 0) return `${output.style('green', 'ok')}  ${seen}.`;
  const lines = problems.map(({ organization, chain, seq, what }) => {
    const place = [organization, chain && `chain ${chain}`, seq && `record ${seq}`].filter(Boolean).join(', ');
    return `${output.style('red', 'FAIL')}  ${place === '' ? '' : `${place}: `}${what}`;
  });
  const rest = count > problems.length ? [`and ${count - problems.length} more`] : [];
  return [...lines, ...rest, `${seen}; ${count} ${count === 1 ? 'problem' : 'problems'}.`].join('\n');
}
