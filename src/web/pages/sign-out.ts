import { definePage } from '../page.ts';

export const signOutPage = definePage({
  path: '/sign-out',
  access: 'signed-in',
  async post({ closeSession }) {
    await closeSession();
    return { redirect: '/sign-in' };
  },
});
