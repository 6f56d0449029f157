export { createMcpHandler } from './handler.ts';
export type { McpHandlerOptions, McpLimits, McpListener } from './handler.ts';
export type { CallsAtOnce } from '../limits/at-once.ts';
export type { Challenge, RateLimit } from './call.ts';
export type { RunningCalls } from './message.ts';
