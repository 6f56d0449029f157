import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { SightlineError, isId, type OrganizationId } from '../contract/core/index.ts';
import { operations } from '../gateway/admin/index.ts';
import { auditedOrganizations } from '../gateway/admin/organizations.ts';
import { verifyAudit, verifyAuditFile, type Head, type Problem } from '../records/audit/export.ts';
import { parseFileLine } from '../records/audit/format.ts';
import { actOnAdmin } from './admin.ts';
import { act, orgShape, type Register, withWorkspace } from './command.ts';
import { Exit } from './exit.ts';
import type { Output } from './output.ts';
import { layFoundation, type OpenWorkspace } from '../gateway/wiring/workspace.ts';

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
      if (target) await opened(target, resolve(file ?? ''));
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

/** Problems printed; all are counted. */
const mostProblems = 200;

type Found = Pick<Problem, 'what'> & Partial<Problem>;

function registerVerify(group: Command, output: Output): void {
  const command = group
    .command('verify')
    .argument('[file]', 'what `audit export` wrote (default: the storage)')
    .description('check whether records were changed, moved, forged or removed')
    .option('--org <name>', 'organization, by name or id (default: all)')
    .option('--since <file>', 'what `audit verify --json` printed earlier: tells what was cut off since');
  act(command, output, verifyShape, async ({ settings, options: { org, since }, operands: [file] }) => {
    const problems: Found[] = [];
    let count = 0;
    const report = (problem: Found): void => {
      count += 1;
      if (problems.length < mostProblems) problems.push(problem);
    };
    if (file !== undefined) {
      const { vault } = await layFoundation(settings);
      const { records, exportedAt } = await verifyAuditFile({ file: resolve(file), vault, report });
      output.result({ ok: count === 0, file: resolve(file), exportedAt, records, problemCount: count, problems }, () =>
        inWords(output, `${records} records, exported on ${exportedAt}`, problems, count),
      );
    } else {
      const known = since === undefined ? [] : readHeads(since);
      await withWorkspace(settings, async (workspace) => {
        const result = await verifyAll(workspace, org, known, report, (done) => output.progress(done, 'verifying'));
        const { records, chains, unchained } = result;
        const old =
          unchained === 0 ? '' : `; ${unchained} records are older than the chains, and nothing protects them`;
        output.result({ ok: count === 0, ...result, problemCount: count, problems }, () =>
          inWords(output, `${records} records in ${chains} chains${old}`, problems, count),
        );
      });
    }
    if (count > 0) throw new Exit(1);
  });
}

async function verifyAll(
  workspace: OpenWorkspace,
  org: string | undefined,
  known: readonly Head[],
  report: (problem: Found) => void,
  progress: (done: number) => void,
) {
  const organizations = await auditedOrganizations(workspace.storage, org);
  const there = new Set<OrganizationId>(organizations.map(({ id }) => id));
  const before = new Set(org === undefined ? known.map((head) => head.organization) : []);
  const gone = [...before].filter((organization) => !there.has(organization));
  for (const organization of gone) report({ organization, what: 'the organization is missing' });
  const total = { records: 0, chains: 0, unchained: 0 };
  const heads: Head[] = [];
  for (const [index, { id }] of organizations.entries()) {
    const { audit } = workspace.storage.workspace(id);
    const verified = await verifyAudit({ audit, organization: id, vault: workspace.vault, report, known });
    total.records += verified.records;
    total.chains += verified.chains;
    total.unchained += verified.unchained;
    heads.push(...verified.heads);
    progress((index + 1) / organizations.length);
  }
  return { organizations: organizations.length, ...total, heads };
}

const headsShape = z.object({
  heads: z.array(
    z.object({
      organization: z.custom<OrganizationId>((value) => typeof value === 'string' && isId('org', value)),
      chain: z.number().int(),
      seq: z.number().int(),
      hash: z.string(),
    }),
  ),
});

function readHeads(file: string): readonly Head[] {
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
