import { createKeptResults } from '../../telemetry/query/kept-results.ts';
import type { KeptResults } from '../../telemetry/query/kept-results.ts';
import type { FromWorker } from './messages.ts';
import { withBuffer } from './seat.ts';
import type { WorkerProcess } from './worker-process.ts';

/**
 * What workers have in common and storage has not. Cut results lie here and not at the worker that read them, so that
 * their limits hold for all together, any worker can page in them, and none is lost with its worker.
 */
export class Switchboard {
  readonly #kept: KeptResults;
  readonly #workers: () => Iterable<WorkerProcess>;

  constructor({ now, workers }: { readonly now: () => Date; readonly workers: () => Iterable<WorkerProcess> }) {
    this.#kept = createKeptResults({ now });
    this.#workers = workers;
  }

  take(message: FromWorker, from: WorkerProcess): void {
    switch (message.kind) {
      case 'keep': {
        const { call, holder, result } = message;
        const id = this.#kept.keep(holder, withBuffer(result));
        from.tell({ kind: 'kept', call, ...(id === undefined ? {} : { id }) });
        break;
      }
      case 'page': {
        const { call, holder, id, request } = message;
        const page = this.#kept.findPage(holder, id, request);
        from.tell({ kind: 'page', call, ...(page === undefined ? {} : { page }) });
        break;
      }
      case 'admitted':
      case 'cancelled':
        for (const worker of this.#workers()) if (worker !== from) worker.tell(message);
        break;
      case 'serving':
    }
  }

  clear(): void {
    this.#kept.clear();
  }
}
