import { ci } from './ci.ts';
import { claude } from './claude.ts';
import type { Client } from './client.ts';
import { cursor } from './cursor.ts';
import { inspector } from './inspector.ts';
import { vscode } from './vscode.ts';

export type { Client, Connection, ProjectFile, Snippet } from './client.ts';

/** Every client we can write a configuration for, in the order in which they are offered. */
export const clients: readonly Client[] = [claude, cursor, vscode, inspector, ci];
