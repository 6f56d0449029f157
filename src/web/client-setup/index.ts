import { ci, claude, cline, codex, goose, inspector } from './commands.ts';
import type { Client } from './client.ts';
import { copilot, cursor, gemini, opencode, windsurf, zed, vscode } from './settings.ts';

export type { Client, Connection, ClientFile, Snippet } from './client.ts';

/** Every client we can write a configuration for, in the order in which they are offered. */
export const clients: readonly Client[] = [
  claude,
  cursor,
  vscode,
  codex,
  gemini,
  copilot,
  opencode,
  cline,
  goose,
  zed,
  windsurf,
  inspector,
  ci,
];
