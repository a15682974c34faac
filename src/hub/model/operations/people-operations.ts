import type { KeptAct } from '../access/hub-audit.ts'
import type { HubCaller } from '../access/hub-key.ts'
import type { InboxRow } from '../tasks/inbox.ts'
import type { Operation } from './operation.ts'
import {
  about,
  boolean,
  either,
  integer,
  list,
  number,
  object,
  oneOf,
  optional,
  string,
} from '../../../core/data/shape.ts'
import { callerRoles, hubRoles } from '../access/hub-key.ts'
import { linkRoles } from '../access/sign-in.ts'
import { partOf, shapeOf } from './described.ts'
import { day, key, maybe, newKey, text as anyText, time } from './hub-shapes.ts'
import { nothing, text, wholeNumber, picks } from './input-shapes.ts'
import { act, invite, link, signIn } from './people-shapes.ts'

/** People: their inbox, their keys, and the browsers that are signed in. */
export const peopleOperations = {
  'GET /api/people': { about: 'Lists the names of the people at the hub.', right: 'inbox', output: list(anyText) },
  'GET /api/inbox': {
    about: 'Lists what waits for the caller.',
    right: 'inbox',
    output: list(partOf<InboxRow>()({ id: anyText, kind: anyText, at: time, read: boolean(), needsMe: boolean() })),
  },
  'POST /api/inbox/mark': {
    about: 'Marks an item of the inbox as read, done, snoozed or assigned.',
    right: 'inbox',
    input: {
      item: text,
      read: optional(boolean()),
      done: optional(boolean()),
      until: optional(integer(0)),
      owner: optional(string()),
    },
    output: nothing,
    audit: 'none',
  },
  'POST /api/days/answer': {
    about: 'Answers whether a workspace goes on after the cap of a day.',
    right: 'answer',
    input: { workspace: text, picks },
    output: day,
  },
  'GET /api/me': {
    about: 'The name, the role and the expiry of the caller’s key.',
    right: 'self',
    output: shapeOf<HubCaller>()(
      object({
        id: anyText,
        name: anyText,
        role: oneOf(...callerRoles),
        session: maybe,
        ends: optional(time),
        sso: optional(boolean()),
      }),
    ),
  },
  'GET /api/version': {
    about: 'The version of termaite and of its protocol.',
    right: 'self',
    output: object({ version: maybe, protocol: integer(1) }),
  },
  'POST /api/me/end': { about: 'Revokes the caller’s own key.', right: 'self', output: key },
  'POST /api/lent-keys': {
    about: 'Lends a key to an agent for one run.',
    right: 'lend',
    input: { name: text },
    output: newKey,
  },
  'GET /api/links': { about: 'Lists the links that the caller made.', right: 'link', output: list(link) },
  'POST /api/links': {
    about: 'Makes a link that signs a browser in.',
    right: 'link',
    input: { role: oneOf(...linkRoles), session: optional(text), hours: optional(number(0)) },
    output: object({ link, secret: anyText, page: maybe }),
  },
  'GET /api/sign-ins': { about: 'Lists the browsers that are signed in.', right: 'link', output: list(signIn) },
  'POST /api/sign-ins/:id/end': { about: 'Signs a browser out.', right: 'self', output: nothing },
  'GET /api/keys': { about: 'Lists the keys, without their secrets.', right: 'keys', output: list(key) },
  'POST /api/keys': {
    about: 'Makes a key; its secret is in this answer alone.',
    right: 'keys',
    input: { name: text, role: oneOf(...hubRoles), lifeMs: optional(number(0)) },
    output: newKey,
  },
  'POST /api/keys/:id/rotate': {
    about: 'Gives a key a new secret; the old one works a while longer.',
    right: 'keys',
    input: { graceMs: optional(number(0)), lifeMs: optional(number(0)) },
    output: either(newKey, object({ file: about('Where the new own key is.', anyText) })),
  },
  'POST /api/keys/:id/revoke': { about: 'Revokes a key, and closes its connections.', right: 'keys', output: key },
  'GET /api/invites': { about: 'Lists the invitations for agent machines.', right: 'keys', output: list(invite) },
  'POST /api/invites': {
    about: 'Makes a code that the machine of an agent exchanges once, at `/api/join`, for a key of its own.',
    right: 'keys',
    input: { name: text, validMs: optional(number(0)), lifeMs: optional(number(0)) },
    output: object({ invite, code: about('Shown here once and kept nowhere.', anyText), page: maybe }),
  },
  'GET /api/audit': {
    about: 'Who did what at the hub, the oldest first.',
    right: 'audit',
    input: {
      since: optional(about('From this time, in ms since 1970 (0).', wholeNumber)),
      after: optional(about('The number of the last act of an earlier answer.', wholeNumber)),
      limit: optional(about('The most acts of one answer (1000).', wholeNumber)),
      by: optional(about('Only the acts of this client.', string())),
    },
    output: shapeOf<{ acts: KeptAct[]; after?: number }>()(
      object({
        acts: list(act),
        after: optional(about('The number of the last act, if more may follow.', integer(1))),
      }),
    ),
  },
} as const satisfies Record<string, Operation>
