import { alertRules } from '../../../../src/contract/storage/index.ts';
import type { IncidentId } from '../../../../src/contract/core/index.ts';
import { countOf, inChunks } from '../../columns.ts';
import type { Scope } from '../../scope.ts';
import { toAlertRow, toKeptAlert, type KeptAlert } from './alert-rows.ts';

/** The alerts that a transaction is about. Changes are written together, at its end. */
export class KeptAlerts {
  readonly #scope: Scope;
  readonly #latest = new Map<string, KeptAlert>();
  /** By position. */
  readonly #changed = new Map<number, KeptAlert>();
  readonly #stored = new Set<number>();
  #last: number | undefined;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  async load(keys: readonly string[]): Promise<void> {
    for (const some of inChunks([...new Set(keys)])) {
      const rows = await this.#scope.from('alerts').whereIn('key_hash', some).select();
      for (const alert of rows.map(toKeptAlert)) {
        if (alert.key !== undefined) this.#latest.set(alert.key, alert);
        this.#stored.add(alert.position);
      }
    }
  }

  latest(key: string): KeptAlert | undefined {
    return this.#latest.get(key);
  }

  change(alert: KeptAlert): void {
    this.#changed.set(alert.position, alert);
    if (alert.key !== undefined) this.#latest.set(alert.key, alert);
  }

  /** From now on it is this one that its key means; the one before is history. */
  async add(alert: Omit<KeptAlert, 'position' | 'key'>, key: string): Promise<void> {
    const before = this.#latest.get(key);
    if (before !== undefined) {
      const { key: _, ...history } = before;
      this.#changed.set(history.position, history);
    }
    this.#last = (this.#last ?? (await this.#scope.lockCounter('alert'))) + 1;
    this.change({ ...alert, position: this.#last, key });
  }

  async write(): Promise<void> {
    const replaced = [...this.#changed.keys()].filter((position) => this.#stored.has(position));
    for (const some of inChunks(replaced)) {
      await this.#scope.from('alerts').whereIn('position', some).delete();
    }
    await this.#scope.insertMany('alerts', [...this.#changed.values()].map(toAlertRow));
    if (this.#last !== undefined) await this.#scope.setCounter('alert', this.#last);
    const added = [...this.#changed.values()].filter(({ position }) => !this.#stored.has(position));
    for (const id of new Set(added.flatMap(({ incidentId = [] }) => incidentId))) await this.#dropOldest(id);
  }

  /** An incident keeps so many: the first, and of the others those that fire before those that are resolved, the newest. */
  async #dropOldest(id: IncidentId): Promise<void> {
    const all = () => this.#scope.from('alerts').where({ incident_id: id });
    const over = (await countOf(all())) - alertRules.kept;
    if (over <= 0) return;
    const first = await all().orderBy('position').first('position');
    const dropped = await all()
      .whereNot('position', first?.position ?? 0)
      // In the order of the alphabet backwards, what is resolved stands before what fires.
      .orderBy([{ column: 'status', order: 'desc' }, { column: 'position' }])
      .limit(over)
      .pluck('position');
    for (const some of inChunks(dropped)) await all().whereIn('position', some).delete();
  }
}
