import type { Scope } from '../contract/issuer/index.ts';

/** What a scope lets somebody do, in words for who gives it. */
export const scopeWords: Readonly<Record<Scope, { readonly title: string; readonly detail: string }>> = {
  'telemetry:read': {
    title: 'Read telemetry',
    detail: 'Logs, traces and metrics, by queries that change nothing.',
  },
  'ingest:read': {
    title: 'See how telemetry is sent',
    detail: 'The address, and the token with which anyone can send telemetry in the organization’s name.',
  },
  'incidents:read': {
    title: 'Read incidents',
    detail: 'With what investigations found, and who is waited for.',
  },
  'chats:read': {
    title: 'Read chats',
    detail: 'What was asked of the agent, and what it answered.',
  },
  'chats:write': {
    title: 'Write in chats as you',
    detail: 'Ask the agent, which then works, and reply to it.',
  },
};
