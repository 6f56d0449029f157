import { createHash } from 'node:crypto';
import { SightlineError, type OrganizationId, type Vault } from '../../contract/core/index.ts';
import { chainRoot, type AuditPlace } from '../../contract/storage/index.ts';
import { bytesOf, linesOf } from '../transfer/format.ts';
import { ChainCheck, type Problem, type Report } from './chain-check.ts';
import {
  parseFileLine,
  signatureContext,
  type ChainLine,
  type EndLine,
  type FileLine,
  type RecordLine,
} from './format.ts';

export interface VerifiedFile {
  readonly records: number;
  readonly exportedAt: string;
}

export interface VerifyFileOptions {
  readonly file: string;
  readonly vault: Vault;
  /** Of the file as a whole, where there is no organization. */
  readonly report: (problem: Problem | { readonly what: string }) => void;
}

/** Looks at an exported file without any storage. `invalid_argument` where it is no such file. */
export async function verifyAuditFile({ file, vault, report }: VerifyFileOptions): Promise<VerifiedFile> {
  const digest = createHash('sha256');
  const chains = new FileChains(vault, report);
  let exportedAt: string | undefined;
  let end: EndLine | undefined;
  let number = 0;
  for await (const bytes of linesOf(bytesOf(file))) {
    number += 1;
    const line = parseFileLine(bytes.toString('utf8'));
    if (number === 1) {
      if (line?.type !== 'audit') throw notOne(file);
      ({ exportedAt } = line);
    } else if (line === undefined) report({ what: `line ${number} is none of an export` });
    else if (end !== undefined) report({ what: `line ${number} is behind the end` });
    if (line?.type === 'end') end = line;
    else digest.update(bytes).update('\n');
    if (line !== undefined) chains.take(line);
  }
  if (exportedAt === undefined) throw notOne(file);
  if (end === undefined) report({ what: 'the end is missing, and with it the signature' });
  else {
    const { signature, ...signed } = end;
    if (!vault.verifies(signature, JSON.stringify(signed), signatureContext)) {
      report({ what: 'the signature is not of this master key' });
    }
    if (signed.sha256 !== digest.digest('hex') || signed.records !== chains.records) {
      report({ what: 'the lines are not those that were signed' });
    }
    // More than the file names: the rest was counted alone.
    if (signed.problems > chains.problems) {
      report({ what: `the audit had ${signed.problems - chains.problems} further problems when it was exported` });
    }
  }
  return { records: chains.records, exportedAt };
}

/** The chains of a file, of which there may be parts alone. */
class FileChains {
  readonly #vault: Vault;
  readonly #report: Report;
  #chain: ChainLine | undefined;
  #check: { readonly organization: OrganizationId; readonly chain: number; readonly along: ChainCheck } | undefined;
  records = 0;
  problems = 0;

  constructor(vault: Vault, report: Report) {
    this.#vault = vault;
    this.#report = report;
  }

  take(line: FileLine): void {
    if (line.type === 'chain') this.#chain = line;
    if (line.type === 'record') this.#record(line);
    if (line.type === 'problem') {
      this.problems += 1;
      const { type: _, ...problem } = line;
      this.#report(problem);
    }
  }

  #record(line: RecordLine): void {
    this.records += 1;
    const { type: _, organization, chain, seq, previous, hash, erased, at, ...rest } = line;
    if (this.#check?.organization !== organization || this.#check.chain !== chain) {
      const start = this.#start(line);
      const along = new ChainCheck({ organization, chain, start }, this.#vault, this.#report);
      this.#check = { organization, chain, along };
    } else if (previous !== undefined) this.#check.along.skip({ seq: seq - 1, hash: previous });
    const record = { at: new Date(at), ...rest };
    this.#check.along.next({ seq, hash, record, ...(erased !== undefined && { erased }) });
  }

  #start({ organization, chain, seq, previous }: RecordLine): AuditPlace {
    const opened = this.#chain;
    if (opened?.organization !== organization || opened.chain !== chain) {
      this.#report({ organization, chain, what: 'the chain was not begun in the file' });
    } else if (seq === 1) {
      const { instance, openedAt } = opened;
      return chainRoot(organization, { number: chain, instance, openedAt: new Date(openedAt) });
    }
    return { seq: seq - 1, hash: previous ?? '' };
  }
}

function notOne(file: string): SightlineError {
  return new SightlineError('invalid_argument', `The file ${file} is no exported audit.`, {
    hint: 'One is written by: sightline audit export FILE',
  });
}
