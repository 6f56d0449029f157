import type { AnyPage } from '../page.ts';
import { signOutPage } from './sign-out.ts';

export const allPages: readonly AnyPage[] = [signOutPage];
