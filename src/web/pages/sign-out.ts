import { definePage } from '../page.ts';
import { leadBack, ownPath } from '../paths.ts';

/** With `return_to` where somebody else is to go on. */
export const signOutPage = definePage({
  path: '/sign-out',
  access: 'signed-in',
  async post({ closeSession }, form) {
    await closeSession();
    return { redirect: leadBack('/sign-in', ownPath(form.get('return_to'))) };
  },
});
