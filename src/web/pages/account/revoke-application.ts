import { z } from 'zod';
import { isId, SightlineError } from '../../../contract/core/index.ts';
import { requireForm } from '../../forms.ts';
import { definePage } from '../../page.ts';
import { accountPath, revokeApplicationPath } from './view.ts';

const fields = z.object({ grant: z.string().max(64) });

/** One of the person's own. */
export const revokeOwnApplicationPage = definePage({
  path: revokeApplicationPath,
  access: 'member',
  async post({ organization, user, actor }, form, { people }) {
    const { grant } = requireForm(fields, form);
    if (!isId('gra', grant)) throw new SightlineError('not_found', 'There is no such application.');
    await people.revokeApplication(organization.id, grant, actor, user.id);
    return { redirect: `${accountPath}?done=application` };
  },
});
