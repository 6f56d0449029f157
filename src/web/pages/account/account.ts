import { z } from 'zod';
import { isId, SightlineError } from '../../../contract/core/index.ts';
import { notice } from '../../components.ts';
import { refusal } from '../../failure.ts';
import { requireForm } from '../../forms.ts';
import { definePage } from '../../page.ts';
import { accountPath, accountView, changePasswordPath, everywherePath, revokeApplicationPath } from './view.ts';

const done: ReadonlyMap<string | null, string> = new Map([
  ['password', 'The password was changed, and every other browser was signed out.'],
  ['application', 'The application has no access any more.'],
]);

const accountPage = definePage({
  path: accountPath,
  access: 'signed-in',
  get(visit, services) {
    const message = done.get(visit.search.get('done'));
    return accountView(visit, services, message === undefined ? undefined : notice(message));
  },
});

const passwordFields = z.object({ current: z.string().max(1_000), next: z.string().max(1_000) });

const changePasswordPage = definePage({
  path: changePasswordPath,
  access: 'signed-in',
  async post(visit, form, services) {
    const { current, next } = requireForm(passwordFields, form);
    try {
      await services.people.changePassword(visit.user.id, current, next);
    } catch (error) {
      const { message, ...rest } = refusal(error);
      return { ...(await accountView(visit, services, message)), ...rest };
    }
    // The change has ended every session; this browser goes on under a new one.
    await visit.openSession(visit.user);
    return { redirect: `${accountPath}?done=password` };
  },
});

const signOutEverywherePage = definePage({
  path: everywherePath,
  access: 'signed-in',
  async post({ user, closeSession }, _form, { people }) {
    await people.signOutEverywhere(user.id);
    await closeSession();
    return { redirect: '/sign-in' };
  },
});

const applicationFields = z.object({ grant: z.string().max(64) });

/** One of the person's own. */
const revokeOwnApplicationPage = definePage({
  path: revokeApplicationPath,
  access: 'member',
  async post({ organization, user, actor }, form, { people }) {
    const { grant } = requireForm(applicationFields, form);
    if (!isId('gra', grant)) throw new SightlineError('not_found', 'There is no such application.');
    await people.revokeApplication(organization.id, grant, actor, user.id);
    return { redirect: `${accountPath}?done=application` };
  },
});

export const accountPages = [accountPage, changePasswordPage, signOutEverywherePage, revokeOwnApplicationPage] as const;
