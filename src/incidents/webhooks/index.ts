export { createWebhookSender } from './sender.ts';
export { createWebhooks } from './webhooks.ts';
export type { Webhooks } from './webhooks.ts';
