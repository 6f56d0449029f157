import { z } from 'zod';
import { inOrganization, type RunningGateway } from './gateway.ts';
import { Person } from './person.ts';

export const password = 'correct horse battery staple';

export interface NewPerson {
  readonly email: string;
  readonly organization: string;
  readonly role: 'admin' | 'member';
}

/** A person with an account and the password above, as an operator makes one: command line, link, form. */
export async function createPerson(gateway: RunningGateway, person: NewPerson): Promise<Person> {
  const { email, organization, role } = person;
  const { password_url: link } = await inOrganization(
    gateway.dataDirectory,
    organization,
    ['user', 'create', '--email', email, '--role', role],
    z.object({ password_url: z.string() }),
  );
  const browser = new Person(gateway.url);
  await browser.press(await browser.open(link), 'Set password', { password });
  return browser;
}
