import { claude } from './claude.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { continueCli } from './continue.ts';
import { copilot } from './copilot.ts';
import { gemini } from './gemini.ts';
import type { Kind } from './kind.ts';
import { aiSdk, langchain, mastra, openaiAgents } from './library.ts';
import { opencode } from './opencode.ts';
import { qwen } from './qwen.ts';
import { inspector, mcpRemote, mcporter } from './tools.ts';

export const kinds: readonly Kind[] = [
  claude,
  codex,
  gemini,
  copilot,
  opencode,
  cline,
  continueCli,
  qwen,
  mcpRemote,
  mcporter,
  inspector,
  langchain,
  aiSdk,
  mastra,
  openaiAgents,
];
