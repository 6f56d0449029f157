import type { ResolvedMapping, ScanEstimate } from '../../src/contract/telemetry/index.ts';
import { literal, textOf, type Row, type Rows } from './quote.ts';

const rememberedMs = 300_000;

/** From what EXPLAIN ESTIMATE answers to bytes, by how many a row of each table takes on disk, all its columns together. */
export class Estimates {
  readonly #rows: Rows;
  readonly #rowBytes = new Map<string, { readonly bytes: number; readonly until: number }>();

  private constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Undefined where the engine cannot tell: it counts in MergeTree tables of the server that is asked, nowhere else. */
  static async open(rows: Rows, { tables }: ResolvedMapping): Promise<Estimates | undefined> {
    for (const { from } of Object.values(tables).flat()) {
      const [database, table] = from.replaceAll('`', '').split('.');
      if (table === undefined || from.includes('{tenant}')) return undefined;
      const found = await rows(
        `SELECT engine FROM system.tables WHERE database = ${literal(database ?? '')} AND name = ${literal(table)}`,
      );
      if (!textOf(found[0]?.['engine']).endsWith('MergeTree')) return undefined;
    }
    return new Estimates(rows);
  }

  async of(explained: readonly Row[]): Promise<ScanEstimate> {
    let rows = 0;
    let bytes = 0;
    for (const { database, table, rows: read } of explained) {
      const count = Number(read ?? 0);
      rows += count;
      bytes += count * (await this.#bytesPerRow(textOf(database), textOf(table)));
    }
    return { bytes: Math.ceil(bytes), rows };
  }

  async #bytesPerRow(database: string, table: string): Promise<number> {
    const key = JSON.stringify([database, table]);
    const known = this.#rowBytes.get(key);
    if (known !== undefined && known.until > performance.now()) return known.bytes;
    const [row] = await this.#rows(
      `SELECT total_bytes / greatest(total_rows, 1) AS bytes FROM system.tables
         WHERE database = ${literal(database)} AND name = ${literal(table)}`,
    );
    const bytes = Number(row?.['bytes'] ?? 0);
    this.#rowBytes.set(key, { bytes, until: performance.now() + rememberedMs });
    return bytes;
  }
}
