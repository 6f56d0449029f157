import type { AnyPage } from '../page.ts';
import { accountPages, organizationsPage } from './account/account.ts';
import { consentPage } from './consent/consent.ts';
import { integrationPages } from './integrations/index.ts';
import { invitationPage } from './invitation.ts';
import { passwordPage } from './password.ts';
import { callbackPage, signInPage, signOutPage } from './sign-in/sign-in.ts';
import { startPage } from './sign-in/pending.ts';
import { cancelPage, chatPage } from './chats/chat.ts';
import { chatsPage } from './chats/list.ts';
import { newChatPage } from './chats/new.ts';
import { changePage } from './incidents/change.ts';
import { documentPage } from './incidents/document.ts';
import { evidencePage } from './incidents/evidence.ts';
import { incidentPage } from './incidents/incident.ts';
import { incidentsPage } from './incidents/list.ts';
import { invitedPage, revokeInvitationPage } from './members/invitation.ts';
import { membersPage } from './members/list.ts';
import { removePage, rolePage } from './members/member.ts';

export const memberPages = [membersPage, rolePage, removePage, invitedPage, revokeInvitationPage] as const;

export const incidentPages = [incidentsPage, incidentPage, changePage, documentPage, evidencePage] as const;

/** `new` stands before the pattern that it would match. */
export const chatPages = [chatsPage, newChatPage, chatPage, cancelPage] as const;

/** Every page there is. A file that is not listed here is not served. */
export const allPages: readonly AnyPage[] = [
  signInPage,
  startPage,
  callbackPage,
  signOutPage,
  consentPage,
  invitationPage,
  passwordPage,
  organizationsPage,
  ...accountPages,
  ...incidentPages,
  ...chatPages,
  ...memberPages,
  ...integrationPages,
];
