export { createMcpHandler } from './handler.ts';
export type { McpHandlerOptions, McpLimits, McpListener } from './handler.ts';
export type { CallsAtOnce, Challenge, RateLimit } from './call.ts';
export type { ServerInfo } from './catalog.ts';
export type { RunningCalls } from './running.ts';
