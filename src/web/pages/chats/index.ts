import { cancelPage } from './cancel.ts';
import { chatPage } from './chat.ts';
import { chatsPage } from './list.ts';
import { newChatPage } from './new.ts';

/** `new` stands before the pattern that it would match. */
export const chatPages = [chatsPage, newChatPage, chatPage, cancelPage] as const;
