import type { AgentEvent } from '../../src/contract/agent/index.ts';

/** A step: yields what it does, returns what it found. */
export type Step<Found> = AsyncGenerator<AgentEvent, Found>;
