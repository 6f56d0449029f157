import type { ServerResponse } from 'node:http';
import { SightlineError, type OrganizationId } from '../contract/core/index.ts';
import { Counts } from './at-once.ts';

const mebibyte = 1024 * 1024;
const most = 256 * mebibyte;
const mostEach = 64 * mebibyte;

/** Answers below this size fit the socket buffer. */
const smallBytes = 64 * 1024;

/** The memory of large answers that slow readers have not taken yet. */
export class HeldAnswers {
  readonly #held = new Counts();

  /** Why no further call may begin while so much is held, by all or by the organization; undefined when one may. */
  refusal(organizationId: OrganizationId): SightlineError | undefined {
    if (this.#held.total === 0) return undefined;
    const own = this.#held.of(organizationId) >= mostEach;
    if (!own && this.#held.total < most) return undefined;
    return new SightlineError(own ? 'rate_limited' : 'overloaded', 'Too many large answers wait to be read.', {
      hint: 'Read the answers to earlier calls, or ask for fewer rows.',
      retryAfterSeconds: 2,
    });
  }

  /** Counts an answer until it is with the operating system, or its reader is gone. */
  add(organizationId: OrganizationId, bytes: number, response: ServerResponse): void {
    if (bytes <= smallBytes || response.closed || response.destroyed) return;
    this.#held.add(organizationId, bytes);
    response.once('close', () => this.#held.add(organizationId, -bytes));
  }
}
