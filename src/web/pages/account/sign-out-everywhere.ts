import { definePage } from '../../page.ts';
import { everywherePath } from './view.ts';

export const signOutEverywherePage = definePage({
  path: everywherePath,
  access: 'signed-in',
  async post({ user, closeSession }, _form, { people }) {
    await people.signOutEverywhere(user.id);
    await closeSession();
    return { redirect: '/sign-in' };
  },
});
