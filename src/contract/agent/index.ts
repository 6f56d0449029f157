export type * from './agent.ts';
export { contradicts, heldTo, type Evidence } from './evidence.ts';
