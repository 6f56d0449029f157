import { type AnyPage, definePage } from '../page.ts';
import { accountPages, organizationsPage } from './account/account.ts';
import { deleteOrganizationPage, restoreOrganizationPage } from './account/deleted-organization.ts';
import { cancelPage, chatPage } from './chats/chat.ts';
import { chatsPage } from './chats/list.ts';
import { newChatPage } from './chats/new.ts';
import { chatNewsPage } from './chats/progress.ts';
import { consentPage } from './consent/consent.ts';
import { changePage } from './incidents/change.ts';
import { documentPage } from './incidents/document.ts';
import { evidencePage } from './incidents/evidence.ts';
import { incidentPage } from './incidents/incident.ts';
import { incidentsPage } from './incidents/list.ts';
import { alertSourcePage, removeAlertSourcePage, rotateAlertSourcePage, alertsPage } from './integrations/alerts.ts';
import { applicationsPage, revokeApplicationPage } from './integrations/applications.ts';
import { discardPage, keyPage, pausePage, resumePage, retirePage, revokePage, rotatePage } from './integrations/key.ts';
import { keysPage } from './integrations/keys.ts';
import { endScimTokenPage, provisioningPage } from './integrations/provisioning.ts';
import { endTokenPage, rotateTokenPage, telemetryPage } from './integrations/telemetry.ts';
import { invitationPage } from './invitation.ts';
import { invitedPage, revokeInvitationPage, removePage, rolePage } from './members/member.ts';
import { membersPage } from './members/list.ts';
import { passwordPage } from './password.ts';
import { copiedPage } from '../shown-once.ts';
import { startPage } from './sign-in/pending.ts';
import { arrivalsPage } from './telemetry/arrivals.ts';
import { explorePage } from './telemetry/explore.ts';
import { traceOfIdPage, tracePage } from './telemetry/trace.ts';
import { callbackPage, signInPage, signOutPage } from './sign-in/sign-in.ts';

const integrationsPage = definePage({
  path: '/integrations',
  access: 'member',
  get: ({ role }) => ({ redirect: role === 'admin' ? '/integrations/api-keys' : '/integrations/telemetry' }),
});

export const integrationPages = [
  integrationsPage,
  keysPage,
  keyPage,
  rotatePage,
  retirePage,
  discardPage,
  pausePage,
  resumePage,
  revokePage,
  telemetryPage,
  rotateTokenPage,
  endTokenPage,
  alertsPage,
  alertSourcePage,
  rotateAlertSourcePage,
  removeAlertSourcePage,
  provisioningPage,
  endScimTokenPage,
  applicationsPage,
  revokeApplicationPage,
] as const;

export const memberPages = [membersPage, rolePage, removePage, invitedPage, revokeInvitationPage] as const;

export const incidentPages = [incidentsPage, incidentPage, changePage, documentPage, evidencePage] as const;

/** `new` stands before the pattern that it would match. */
export const chatPages = [chatsPage, newChatPage, chatPage, chatNewsPage, cancelPage] as const;

export const telemetryPages = [explorePage, traceOfIdPage, tracePage, arrivalsPage] as const;

/** Every page there is. A file that is not listed here is not served. */
export const allPages: readonly AnyPage[] = [
  signInPage,
  startPage,
  callbackPage,
  signOutPage,
  copiedPage,
  consentPage,
  invitationPage,
  passwordPage,
  organizationsPage,
  deleteOrganizationPage,
  restoreOrganizationPage,
  ...accountPages,
  ...incidentPages,
  ...chatPages,
  ...telemetryPages,
  ...memberPages,
  ...integrationPages,
];
