import type { ServerResponse } from 'node:http';
import { SightlineError } from '../contract/core/index.ts';
import type { OrganizationId } from '../contract/core/index.ts';
import { Counts } from '../limits/counts.ts';
import { requestFailure } from './failure.ts';

const mebibyte = 1024 * 1024;
const most = 256 * mebibyte;
const mostEach = 64 * mebibyte;
/** Smaller ones are with the operating system at once. */
const smallBytes = 64 * 1024;

/** The memory of large answers that slow readers have not taken yet. */
export class HeldAnswers {
  readonly #held = new Counts();

  /** Throws where so much is held, of all or of the organization, that no further call is to be begun. */
  check(organizationId: OrganizationId): void {
    if (this.#held.total === 0) return;
    const own = this.#held.of(organizationId) >= mostEach;
    if (!own && this.#held.total < most) return;
    throw requestFailure(
      new SightlineError(own ? 'rate_limited' : 'overloaded', 'Too many large answers wait to be read.', {
        hint: 'Read the answers to earlier calls, or ask for fewer rows.',
        retryAfterSeconds: 2,
      }),
    );
  }

  /** Counts an answer until it is with the operating system, or its reader is gone. */
  add(organizationId: OrganizationId, bytes: number, response: ServerResponse): void {
    if (bytes <= smallBytes || response.closed || response.destroyed) return;
    this.#held.add(organizationId, bytes);
    response.once('close', () => this.#held.add(organizationId, -bytes));
  }
}
