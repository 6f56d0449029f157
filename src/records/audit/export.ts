import { createHash } from 'node:crypto';
import type { Vault } from '../../contract/core/index.ts';
import type { AuditRecord, Organization, Storage } from '../../contract/storage/index.ts';
import type { Problem } from './chain-check.ts';
import { signatureContext, type ChainLine, type EndLine, type HeaderLine, type RecordLine } from './format.ts';
import { gatherFindings, verifyAudit } from './verify.ts';

export type { Problem } from './chain-check.ts';
export { verifyAuditFile } from './verify-file.ts';
export { gatherFindings, verifyAudit } from './verify.ts';
export type { Head } from './verify.ts';

export interface ExportOptions {
  readonly storage: Pick<Storage, 'workspace'>;
  readonly vault: Vault;
  readonly now: () => Date;
  readonly organizations: readonly Organization[];
  /** Records from here on; all of them without. */
  readonly from?: Date;
  /** Records before this. */
  readonly to?: Date;
  /** Takes whole lines; resolves when it can take more. */
  readonly write: (text: string) => Promise<void>;
  readonly onProgress?: (fraction: number) => void;
}

export interface Exported {
  readonly records: number;
  readonly problems: number;
}

/**
 * Writes records as JSON lines, verifying all of the audit on the way, and signs the whole: what was wrong with the audit is
 * said in the file, so that an export makes nothing right.
 */
export async function exportAudit(options: ExportOptions): Promise<Exported> {
  const { storage, vault, now, organizations, from, to, write, onProgress } = options;
  const digest = createHash('sha256');
  let records = 0;
  let problems = 0;
  const put = async (line: HeaderLine | ChainLine | RecordLine | (Problem & { readonly type: 'problem' })) => {
    const text = `${JSON.stringify(line)}\n`;
    digest.update(text);
    await write(text);
  };
  await put({
    type: 'audit',
    format: 1,
    exportedAt: now().toISOString(),
    organizations: organizations.map(({ id, name }) => ({ id, name })),
    ...(from && { from: from.toISOString() }),
    ...(to && { to: to.toISOString() }),
  });
  const wanted = ({ at }: AuditRecord) => (from === undefined || at >= from) && (to === undefined || at < to);
  for (const [index, { id }] of organizations.entries()) {
    const { report, kept, count } = gatherFindings<Problem>(mostProblems);
    let place: { readonly chain: number; readonly seq: number } | undefined;
    await verifyAudit({
      audit: storage.workspace(id).audit,
      organization: id,
      vault,
      report,
      onRecord: async ({ number, instance, openedAt }, { seq, hash, record, erased }, previous) => {
        if (!wanted(record)) return;
        if (place?.chain !== number) {
          await put({ type: 'chain', organization: id, chain: number, instance, openedAt: openedAt.toISOString() });
        }
        const follows = place?.chain === number && place.seq === seq - 1;
        const { at, ...rest } = record;
        await put({
          type: 'record',
          organization: id,
          chain: number,
          seq,
          at: at.toISOString(),
          ...rest,
          ...(!follows && { previous }),
          hash,
          ...(erased !== undefined && { erased }),
        });
        place = { chain: number, seq };
        records += 1;
      },
    });
    problems += count();
    for (const problem of kept) await put({ type: 'problem', ...problem });
    onProgress?.((index + 1) / organizations.length);
  }
  const end: Omit<EndLine, 'signature'> = { type: 'end', records, problems, sha256: digest.digest('hex') };
  await write(`${JSON.stringify({ ...end, signature: vault.sign(JSON.stringify(end), signatureContext) })}\n`);
  return { records, problems };
}

/** Of one organization; the count goes on. */
const mostProblems = 1_000;
