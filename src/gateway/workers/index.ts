export { createPrimary } from './primary.ts';
export { WorkerFailed } from './worker-process.ts';
