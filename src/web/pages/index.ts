import type { AnyPage } from '../page.ts';
import { accountPages } from './account/account.ts';
import { chatPages } from './chats/index.ts';
import { consentPage } from './consent/consent.ts';
import { incidentPages } from './incidents/index.ts';
import { integrationPages } from './integrations/index.ts';
import { invitationPage } from './invitation.ts';
import { memberPages } from './members/index.ts';
import { organizationsPage } from './organizations.ts';
import { passwordPage } from './password.ts';
import { callbackPage } from './sign-in/callback.ts';
import { signInPage } from './sign-in/sign-in.ts';
import { startPage } from './sign-in/start.ts';
import { signOutPage } from './sign-out.ts';

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
