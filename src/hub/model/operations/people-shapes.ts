import type {
  AwayAgent,
  EntryPage,
  FoundWords,
  KeptConversation,
  KeptProject,
  UsedAmounts,
} from '../../../core/turns/conversations.ts'
import type { KeptAct } from '../access/hub-audit.ts'
import type { ListedInvite } from '../access/hub-invite.ts'
import type { ListedLink, ListedSignIn } from '../access/sign-in.ts'
import { about, anything, boolean, integer, list, number, object, oneOf, optional } from '../../../core/data/shape.ts'
import { callerRoles } from '../access/hub-key.ts'
import { describeType, shapeOf } from './described.ts'
import { maybe, text, time } from './hub-shapes.ts'

export const invite = describeType<ListedInvite>()(
  'Invite',
  object({
    id: text,
    name: text,
    by: text,
    made: time,
    ends: time,
    lifeMs: optional(integer(0)),
    usedAt: optional(time),
  }),
)
const linkFields = { id: text, name: text, role: oneOf(...callerRoles), session: maybe, made: time }
export const link = describeType<ListedLink>()('Link', object({ ...linkFields, once: boolean(), ends: time }))
export const signIn = describeType<ListedSignIn>()(
  'SignIn',
  object({ ...linkFields, link: text, browser: text, ends: optional(time), used: optional(time) }),
)
export const act = describeType<KeptAct>()(
  'Act',
  object({
    number: integer(1),
    at: about('By the clock of the ledger.', time),
    by: text,
    key: text,
    role: oneOf(...callerRoles),
    address: maybe,
    act: text,
    on: maybe,
    outcome: oneOf('done', 'refused', 'failed'),
    status: integer(100),
  }),
)
export const session = describeType<KeptConversation>()(
  'Session',
  object({
    id: text,
    project: about('The folder, if it is known.', text),
    title: about('The name of the session, or its first prompt.', text),
    started: time,
    last: about('When it was last used.', time),
    turns: integer(0),
  }),
)
export const project = describeType<KeptProject>()(
  'Project',
  object({
    id: text,
    project: about('The folder, if it is known.', text),
    agents: list(text),
    bytes: about('The size of its log.', integer(0)),
    last: about('When it was last used.', time),
    words: optional(object({ by: text, text })),
  }),
)
export const found = describeType<FoundWords>()(
  'Found',
  object({ session: text, entry: text, title: text, by: text, at: time, snippet: text }),
)
export const entryPage = shapeOf<EntryPage>()(
  object({
    title: text,
    project: text,
    entries: list(
      object({
        at: about('The position in the log, for `before` and `after`.', integer(0)),
        entry: about('One kept fact of the conversation; its fields depend on its `type`.', anything()),
      }),
    ),
    older: about('Whether entries come before the page.', boolean()),
    newer: about('Whether entries come after the page.', boolean()),
  }),
)
export const used = describeType<UsedAmounts>()(
  'Used',
  object({
    key: about('The agent, the day or the project.', text),
    input: integer(0),
    output: integer(0),
    cost: optional(about('In US dollars, as far as prices are known.', number(0))),
    turns: about('Turns that were answered.', integer(0)),
    failures: about('Attempts of agents that failed.', integer(0)),
    parkedMs: about('How long agents were out of quota.', integer(0)),
  }),
)
export const away = describeType<AwayAgent>()(
  'Away',
  object({ agent: text, as: oneOf('parked', 'busy', 'cooling down'), until: time, why: maybe }),
)
