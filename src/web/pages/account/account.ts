import { notice } from '../../components.ts';
import { definePage } from '../../page.ts';
import { accountPath, accountView } from './view.ts';

const done: ReadonlyMap<string | null, string> = new Map([
  ['password', 'The password was changed, and every other browser was signed out.'],
  ['application', 'The application has no access any more.'],
]);

export const accountPage = definePage({
  path: accountPath,
  access: 'signed-in',
  get(visit, services) {
    const message = done.get(visit.search.get('done'));
    return accountView(visit, services, message === undefined ? undefined : notice(message));
  },
});
