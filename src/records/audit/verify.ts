import { SightlineError, type OrganizationId, type Vault } from '../../contract/core/index.ts';
import {
  auditSeals,
  chainRoot,
  type AuditChainState,
  type AuditRepository,
  type ChainedRecord,
} from '../../contract/storage/index.ts';
import { ChainCheck, unknownHash, type Report } from './chain-check.ts';

const page = 500;

/** Where a chain was when it was verified: kept elsewhere, it shows later what was cut off since. */
export interface Head {
  readonly organization: OrganizationId;
  readonly chain: number;
  readonly seq: number;
  readonly hash: string;
}

/** What a verification finds: everything is counted, and the first are kept to be told. */
interface Findings<Found> {
  readonly report: (problem: Found) => void;
  readonly kept: readonly Found[];
  readonly count: () => number;
}

/** @param most how many are kept. */
export function gatherFindings<Found>(most: number): Findings<Found> {
  const kept: Found[] = [];
  let count = 0;
  return {
    report(problem) {
      count += 1;
      if (kept.length < most) kept.push(problem);
    },
    kept,
    count: () => count,
  };
}

export interface Verified {
  readonly records: number;
  readonly chains: number;
  /** Records from before there were chains, which nothing protects. */
  readonly unchained: number;
  readonly heads: readonly Head[];
}

export interface VerifyOptions {
  readonly audit: AuditRepository;
  readonly organization: OrganizationId;
  readonly vault: Vault;
  readonly report: Report;
  /** Of an earlier verification. */
  readonly known?: readonly Head[];
  /** Given each record as it is read; `previous` is the hash before it. */
  readonly onRecord?: (chain: AuditChainState, record: ChainedRecord, previous: string) => Promise<void> | void;
}

/** Looks at every record of an organization, while gateways go on writing. */
export async function verifyAudit(options: VerifyOptions): Promise<Verified> {
  const { audit, organization, vault, report } = options;
  const known = new Map(
    options.known?.flatMap((each) => (each.organization === organization ? [[each.chain, each]] : [])),
  );
  const seals = auditSeals(vault, organization);
  const { register } = await audit.census();
  const heads: Head[] = [];
  let records = 0;
  let last = 0;
  for (;;) {
    const states = await audit.chains({ after: last, limit: page });
    for (const state of states) {
      missingChains(last, state.number);
      last = state.number;
      const counted = await verifyChain(options, state, known.get(state.number));
      records += counted.records;
      heads.push(counted.head);
    }
    if (states.length < page) break;
  }
  if (register !== undefined) missingChains(last, register.chains + 1);
  for (const chain of known.keys()) {
    if (chain <= last) continue;
    report({ organization, chain, what: 'the chain is missing that was there at the earlier verification' });
  }
  const census = await audit.census();
  const now = census.register;
  if (now === undefined) {
    if (last > 0) report({ organization, what: 'the register of chains is missing' });
  } else {
    if (!seals.register.fits(now.seal, now))
      report({ organization, what: 'the seal of the register of chains is wrong' });
    if (now.damaged)
      report({ organization, what: 'the register of chains was missing or changed when a chain was opened' });
    if (last > now.chains) report({ organization, chain: last, what: 'the chain is not in the register' });
    if (census.unchained > now.unchained) {
      report({ organization, what: `${census.unchained - now.unchained} records stand in no chain` });
    }
  }
  if (census.astray > 0) report({ organization, what: `${census.astray} records are of chains that are not there` });
  return { records, chains: heads.length, unchained: census.unchained, heads };

  function missingChains(before: number, next: number): void {
    for (let chain = before + 1; chain < next; chain += 1) {
      report({ organization, chain, what: 'the chain is missing, with all its records' });
    }
  }
}

async function verifyChain(
  { audit, organization, vault, report, onRecord }: VerifyOptions,
  first: AuditChainState,
  earlier: Head | undefined,
): Promise<{ readonly records: number; readonly head: Head }> {
  const chain = first.number;
  const seals = auditSeals(vault, organization);
  const root = chainRoot(organization, first);
  const at = { organization, chain, start: first.cut ?? root };
  const check = new ChainCheck(at, vault, report, earlier);
  let state = first;
  checkCut();
  let records = 0;
  for (;;) {
    const found = await read();
    if (found === undefined) continue;
    for (const record of found) {
      if (record.seq !== check.last.seq + 1) await followRetention(record.seq);
      const previous = check.last.hash;
      check.next(record);
      records += 1;
      await onRecord?.(state, record, previous);
    }
    if (found.length === page) continue;
    // Read behind the records: of what is written meanwhile the end is seen last.
    const now = await audit.chain(chain);
    if (now === undefined) {
      report({ organization, chain, what: 'the chain vanished while it was verified' });
      break;
    }
    // What the chain had before its records were read is missing where they are not there; what came since is read now.
    const wasThere = found.length === 0 && state.head.seq > check.last.seq;
    state = now;
    if (!wasThere && state.head.seq > check.last.seq) continue;
    await followRetention(state.head.seq + 1);
    check.end(state.head);
    break;
  }
  if (!seals.head.fits(state.head.seal, chain, state.head))
    check.problem(state.head.seq, 'the seal of the end of the chain is wrong');
  return { records, head: { organization, chain, seq: state.head.seq, hash: state.head.hash } };

  /** The next records. A record with a value that no gateway writes is reported as changed. */
  async function read(): Promise<readonly ChainedRecord[] | undefined> {
    const next = (limit: number) => audit.records({ chain, after: check.last.seq, limit });
    try {
      return await next(page);
    } catch (error) {
      requireDamage(error);
    }
    try {
      return await next(1);
    } catch (error) {
      requireDamage(error);
      if (check.last.seq > state.head.seq) throw error;
      check.problem(check.last.seq + 1, 'the record was changed into something that cannot be read');
      check.skip({ seq: check.last.seq + 1, hash: unknownHash });
      return undefined;
    }
  }

  /** What retention took away since this began is not missing. */
  async function followRetention(next: number): Promise<void> {
    const cut = (await audit.chain(chain))?.cut;
    if (cut === undefined || cut.seq <= check.last.seq || cut.seq >= next) return;
    state = { ...state, cut };
    checkCut();
    check.skip(cut);
  }

  function checkCut(): void {
    const { cut } = state;
    if (cut !== undefined && !seals.cut.fits(cut.seal, chain, cut)) {
      check.problem(cut.seq, 'the seal of the place where retention cut the chain is wrong');
    }
  }
}

function requireDamage(error: unknown): void {
  if (!(error instanceof SightlineError) || error.code === 'unavailable') throw error;
}
