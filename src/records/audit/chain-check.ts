import { auditSeals, recordHash, type AuditPlace, type ChainedRecord } from '../../contract/storage/index.ts';
import type { OrganizationId, Vault } from '../../contract/core/index.ts';

/** A contradiction in the chain, which proves a later change. */
export interface Problem {
  readonly organization: OrganizationId;
  readonly chain?: number;
  readonly seq?: number;
  readonly what: string;
}

/** Of a record that cannot be read: the one behind it cannot be compared. */
export const unknownHash = '';

export type Report = (problem: Problem) => void;

/** Verifies a chain, record by record. After a problem it continues from the stored hash, so that each is reported once. */
export class ChainCheck {
  readonly #organization: OrganizationId;
  readonly #chain: number;
  readonly #report: Report;
  /** Where it was at an earlier verification, if it was there then. */
  readonly #known: AuditPlace | undefined;
  readonly #erasures: ReturnType<typeof auditSeals>['erasure'];
  #last: AuditPlace;

  constructor(
    at: { readonly organization: OrganizationId; readonly chain: number; readonly start: AuditPlace },
    vault: Pick<Vault, 'sign' | 'verifies'>,
    report: Report,
    known?: AuditPlace,
  ) {
    this.#erasures = auditSeals(vault, at.organization).erasure;
    this.#organization = at.organization;
    this.#chain = at.chain;
    this.#report = report;
    this.#known = known;
    this.#last = at.start;
  }

  get last(): AuditPlace {
    return this.#last;
  }

  /** Goes on behind records that are not there for a reason. */
  skip(place: AuditPlace): void {
    this.#last = place;
  }

  next(chained: ChainedRecord): void {
    const { seq, hash } = chained;
    const expected = this.#last.seq + 1;
    if (seq !== expected) {
      const gap = `${missing(seq - expected)}: from here to ${seq - 1}`;
      this.problem(expected, seq < expected ? 'a record is there twice' : gap);
    } else if (this.#last.hash !== unknownHash && !this.#isIntact(chained)) {
      this.problem(seq, 'the record was changed, or put in the place of another');
    }
    if (this.#known?.seq === seq && this.#known.hash !== hash) {
      this.problem(seq, 'the record is not the one that was here at the earlier verification');
    }
    this.#last = { seq, hash };
  }

  #isIntact({ erased, ...chained }: ChainedRecord): boolean {
    const { seq, hash, record } = chained;
    const previous = this.#last.hash;
    if (erased !== undefined && record.statement === undefined) {
      return this.#erasures.fits(erased, this.#chain, previous, chained);
    }
    return recordHash(this.#organization, this.#chain, seq, previous, record) === hash;
  }

  /** @param head where the chain is said to end. */
  end(head: AuditPlace): void {
    const { seq, hash } = this.#last;
    if (seq < head.seq) this.problem(seq + 1, `${missing(head.seq - seq)} at the end`);
    if (seq > head.seq) this.problem(head.seq + 1, 'there are records behind the sealed end of the chain');
    if (seq === head.seq && hash !== head.hash) this.problem(seq, 'the last record is not the one that was sealed');
    if (this.#known !== undefined && head.seq < this.#known.seq) {
      this.problem(head.seq + 1, `${missing(this.#known.seq - head.seq)} that were there at the earlier verification`);
    }
  }

  problem(seq: number, what: string): void {
    this.#report({ organization: this.#organization, chain: this.#chain, seq, what });
  }
}

function missing(count: number): string {
  return count === 1 ? '1 record is missing' : `${count} records are missing`;
}
