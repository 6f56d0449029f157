import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Agent } from '../contract/agent/index.ts';
import type { AlertInput } from '../contract/alerts/index.ts';
import type { Host, Instruments } from '../contract/core/index.ts';
import type { Storage } from '../contract/storage/index.ts';
import { visit } from './alerts/answers.ts';
import { createAlertReceiver, type AlertReceiver, type AlertReceiverOptions } from './alerts/receiver.ts';
import { createAlertRecorder } from './alerts/recorder.ts';
import { createAlertSources, type AlertSources } from './alerts/sources.ts';
import { createInvestigationWorker, type InvestigationWorker } from './investigation/worker.ts';
import { createWebhookSender } from './webhooks/sender.ts';

export interface IncidentsParts {
  readonly alertSources: AlertSources;
  readonly alertReceiver: AlertReceiver;
  readonly worker: InvestigationWorker;
  /** Undefined in a process that another one of the same gateway speaks for. */
  readonly webhookSender: ReturnType<typeof createWebhookSender> | undefined;
}

interface IncidentsCradle extends IncidentsParts {
  readonly foundation: Pick<Host, 'logger' | 'vault' | 'now'>;
  readonly urls: Pick<Host, 'publicUrl' | 'authUrl'>;
  readonly seat: { readonly number: number } | undefined;
  readonly instruments: Instruments | undefined;
  readonly storage: Storage;
  readonly agent: Agent;
  readonly alertInputs: ReadonlyMap<string, AlertInput>;
  readonly clientAddress: AlertReceiverOptions['clientAddress'];
  /** Tells the worker of a new task. */
  readonly wake: () => void;
}

type Wiring = { readonly [Part in keyof IncidentsParts]: (cradle: IncidentsCradle) => IncidentsParts[Part] };

/** How the parts of this domain are made. */
export const incidentsWiring: Wiring = {
  alertSources: ({ storage, alertInputs, urls, foundation: { vault, now } }) =>
    createAlertSources({ storage, vault, inputs: alertInputs, publicUrl: urls.publicUrl, now }),
  alertReceiver: ({ storage, agent, alertInputs, alertSources, wake, clientAddress, foundation: { logger, now } }) =>
    createAlertReceiver({
      directory: () => storage.directory,
      inputs: alertInputs,
      secretOf: (source) => alertSources.secretOf(source),
      recorder: createAlertRecorder({ storage, engine: agent.engine, wake, logger }),
      clientAddress,
      confirm: visit,
      now,
      logger,
    }),
  worker: ({ storage, agent, instruments, foundation: { logger, now } }) =>
    createInvestigationWorker({ storage, agent, logger, now, holder: holder(), concurrency: 2, instruments }),
  webhookSender: ({ storage, seat, urls, foundation: { logger, now, vault } }) => {
    if (seat && seat.number !== 1) return undefined;
    const directory = () => storage.directory;
    return createWebhookSender({ directory, vault, holder: holder(), authUrl: urls.authUrl, now, logger });
  },
};

/** Of a lease: this process and none after it. */
function holder(): string {
  return `${hostname()}:${process.pid}:${randomUUID()}`;
}
