export { resolveSettings } from './settings.ts';
export type { Settings } from './settings.ts';
export { openWorkspace } from './workspace.ts';
export type { OpenWorkspace } from './workspace.ts';
export { createGateway } from './gateway.ts';
export type { Gateway, GatewaySettings } from './gateway.ts';
export type { Listener } from './cradle.ts';
export { checkConfig, writeConfigSchema } from './config.ts';
