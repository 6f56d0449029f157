import type { OtlpSpan } from './otlp.ts';
import type { Pod } from './shop.ts';
import type { Timeline } from './timeline.ts';

export interface Figures {
  readonly requests: number;
  readonly errors: number;
  /** Milliseconds; 0 without requests. */
  readonly p95: number;
}

/** What the alerted service did, as anybody could have read it off a dashboard. */
export interface DemoFigures {
  readonly before: Figures;
  readonly after: Figures;
}

/** Follows the service that the scenario's alert names. */
export class Tally {
  readonly #timeline: Timeline;
  readonly #sides = { before: { errors: 0, ms: new Array<number>() }, after: { errors: 0, ms: new Array<number>() } };

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  add(pod: Pod, span: OtlpSpan): void {
    const { service, operation = span.name } = this.#timeline.scenario.alert;
    if (pod.service !== service || span.name !== operation) return;
    const [start, end] = [Number(span.startTimeUnixNano) / 1e6, Number(span.endTimeUnixNano) / 1e6];
    const side = this.#sides[start < this.#timeline.onset ? 'before' : 'after'];
    side.ms.push(end - start);
    if (span.status.code === 2) side.errors += 1;
  }

  figures(): DemoFigures {
    const sum = ({ errors, ms }: { errors: number; ms: number[] }): Figures => {
      const sorted = ms.toSorted((a, b) => a - b);
      return { requests: ms.length, errors, p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0 };
    };
    return { before: sum(this.#sides.before), after: sum(this.#sides.after) };
  }
}
