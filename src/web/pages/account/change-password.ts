import { z } from 'zod';
import { refusal } from '../../failure.ts';
import { requireForm } from '../../forms.ts';
import { definePage } from '../../page.ts';
import { accountPath, accountView, changePasswordPath } from './view.ts';

const fields = z.object({ current: z.string().max(1_000), next: z.string().max(1_000) });

export const changePasswordPage = definePage({
  path: changePasswordPath,
  access: 'signed-in',
  async post(visit, form, services) {
    const { current, next } = requireForm(fields, form);
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
