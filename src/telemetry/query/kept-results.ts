import { SightlineError, newId } from '../../contract/core/index.ts';
import type { Principal } from '../../contract/issuer/index.ts';
import { readPage, type KeptPage, type KeptResult, type PageRequest } from './kept-page.ts';
import type { RowSet } from './result.ts';

export interface KeptResultsLimits {
  readonly keepMs: number;
  readonly perPrincipal: { readonly results: number; readonly bytes: number };
  readonly overallBytes: number;
}

export const defaultKeptResultsLimits: KeptResultsLimits = {
  keepMs: 600_000,
  perPrincipal: { results: 8, bytes: 16_000_000 },
  overallBytes: 64_000_000,
};

/** The role too: what one role may read is denied to another. */
export type Holder = Pick<Principal, 'subject' | 'organizationId' | 'role'>;

/** A page of a kept result, with what is said of the whole. */
export type ReadPage = Omit<KeptResult, 'rows'> & KeptPage;

/** What a tool sees of kept results, which another process may keep. As `KeptResults`. */
export interface KeptPages {
  keep(holder: Holder, result: KeptResult): Promise<string | undefined> | string | undefined;
  page(holder: Holder, id: string, request: PageRequest): Promise<ReadPage> | ReadPage;
  clear(): void;
}

export interface KeptResults extends KeptPages {
  /** Keeps a result for its principal, at the cost of older ones; undefined when it is too large to keep at all. */
  keep(holder: Holder, result: KeptResult): string | undefined;
  /** Throws result_expired: gone, never there and another principal's are one and the same. */
  get(holder: Holder, id: string): KeptResult;
  /** Throws as `get` does. */
  page(holder: Holder, id: string, request: PageRequest): ReadPage;
  /** Undefined where `page` throws. */
  findPage(holder: Holder, id: string, request: PageRequest): ReadPage | undefined;
  /** Forgets everything. */
  clear(): void;
}

interface Entry {
  readonly result: KeptResult;
  readonly bytes: number;
  readonly until: number;
}

interface Shelf {
  /** Oldest first. */
  readonly entries: Map<string, Entry>;
  bytes: number;
}

/** In the memory of this process, bounded by number, size and time, for each principal and overall. */
export function createKeptResults(parts: {
  readonly now: () => Date;
  readonly limits?: KeptResultsLimits;
}): KeptResults {
  return new Shelves(parts.now, parts.limits ?? defaultKeptResultsLimits);
}

class Shelves implements KeptResults {
  readonly #now: () => Date;
  readonly #limits: KeptResultsLimits;
  readonly #shelves = new Map<string, Shelf>();
  #bytes = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(now: () => Date, limits: KeptResultsLimits) {
    this.#now = now;
    this.#limits = limits;
  }

  keep(holder: Holder, result: KeptResult): string | undefined {
    const { perPrincipal, overallBytes, keepMs } = this.#limits;
    const rows = compact(result.rows);
    const bytes = rows.json.length + rows.ends.length * 8 + 1000;
    if (bytes > Math.min(perPrincipal.bytes, overallBytes)) return undefined;
    this.#dropExpired();
    const shelf = this.#shelf(shelfOf(holder));
    const id = newId('res');
    shelf.entries.set(id, { result: { ...result, rows }, bytes, until: this.#now().getTime() + keepMs });
    shelf.bytes += bytes;
    this.#bytes += bytes;
    while (shelf.entries.size > perPrincipal.results || shelf.bytes > perPrincipal.bytes) this.#dropOldest(shelf);
    // Who holds most gives way, so that one principal's appetite does not cost the others theirs.
    while (this.#bytes > overallBytes) this.#dropOldest(this.#fullest(id));
    this.#armSweep();
    return id;
  }

  get(holder: Holder, id: string): KeptResult {
    const result = this.#find(holder, id);
    if (result === undefined) throw resultExpired();
    return result;
  }

  page(holder: Holder, id: string, request: PageRequest): ReadPage {
    const page = this.findPage(holder, id, request);
    if (page === undefined) throw resultExpired();
    return page;
  }

  findPage(holder: Holder, id: string, request: PageRequest): ReadPage | undefined {
    const kept = this.#find(holder, id);
    return kept && { ...kept, ...readPage(kept, request) };
  }

  clear(): void {
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
    this.#shelves.clear();
    this.#bytes = 0;
  }

  #find(holder: Holder, id: string): KeptResult | undefined {
    const entry = this.#shelves.get(shelfOf(holder))?.entries.get(id);
    return entry === undefined || entry.until <= this.#now().getTime() ? undefined : entry.result;
  }

  #shelf(key: string): Shelf {
    const known = this.#shelves.get(key);
    if (known !== undefined) return known;
    const shelf: Shelf = { entries: new Map(), bytes: 0 };
    this.#shelves.set(key, shelf);
    return shelf;
  }

  /** Who holds most, one that holds nothing but `spared` left out. */
  #fullest(spared: string): Shelf {
    let fullest: Shelf = { entries: new Map(), bytes: -1 };
    for (const shelf of this.#shelves.values()) {
      if (shelf.bytes > fullest.bytes && !(shelf.entries.size === 1 && shelf.entries.has(spared))) fullest = shelf;
    }
    return fullest;
  }

  #dropOldest(shelf: Shelf): void {
    for (const [id, { bytes }] of shelf.entries) {
      shelf.entries.delete(id);
      shelf.bytes -= bytes;
      this.#bytes -= bytes;
      return;
    }
    throw new Error('kept results are counted wrongly');
  }

  #dropExpired(): void {
    const now = this.#now().getTime();
    for (const [key, shelf] of this.#shelves) {
      for (const { until } of shelf.entries.values()) {
        if (until > now) break;
        this.#dropOldest(shelf);
      }
      if (shelf.entries.size === 0) this.#shelves.delete(key);
    }
  }

  /** Frees the memory even without further calls. */
  #armSweep(): void {
    if (this.#sweep !== undefined || this.#shelves.size === 0) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      this.#dropExpired();
      this.#armSweep();
    }, this.#limits.keepMs / 10).unref();
  }
}

export function resultExpired(): SightlineError {
  return new SightlineError('result_expired', 'There is no kept result with this result_id.', {
    hint: 'Results are kept for ten minutes, the newest few of each caller. Run the sql again.',
  });
}

/** Whose a kept result is, in one text. */
export function shelfOf({ organizationId, subject, role }: Holder): string {
  return `${organizationId} ${role} ${subject}`;
}

/** A copy where the rows are a view of a larger buffer, which would be held in memory with them. */
function compact(rows: RowSet): RowSet {
  return rows.json.buffer.byteLength <= rows.json.length * 1.1 ? rows : { ...rows, json: Buffer.from(rows.json) };
}
