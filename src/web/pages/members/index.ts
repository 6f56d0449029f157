import { invitedPage, revokeInvitationPage } from './invitation.ts';
import { membersPage } from './list.ts';
import { removePage, rolePage } from './member.ts';

export const memberPages = [membersPage, rolePage, removePage, invitedPage, revokeInvitationPage] as const;
