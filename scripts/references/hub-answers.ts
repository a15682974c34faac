import type {
  AwayAgent,
  FoundWords,
  KeptConversation,
  KeptProject,
  UsedAmounts,
} from '../../src/core/turns/conversations.ts'
import type { KeptAct } from '../../src/hub/model/access/hub-audit.ts'
import type { ListedInvite } from '../../src/hub/model/access/hub-invite.ts'
import type { ListedLink, ListedSignIn } from '../../src/hub/model/access/sign-in.ts'
import type { Shape } from '../../src/core/data/shape.ts'
import { callerRoles } from '../../src/hub/model/access/hub-key.ts'
import { taskStates } from '../../src/hub/model/tasks/task.ts'
import {
  about,
  anything,
  boolean,
  either,
  integer,
  list,
  number,
  object,
  oneOf,
  optional,
  string,
} from '../../src/core/data/shape.ts'
import {
  agent,
  described,
  day,
  given,
  keptText,
  key,
  maybe,
  merge,
  newKey,
  note,
  pipeline,
  pipelineFields,
  registered,
  rules,
  schedule,
  state,
  task,
  taskFields,
  text,
  time,
} from './hub-shapes.ts'

const invite = described<ListedInvite>()(
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
const link = described<ListedLink>()('Link', object({ ...linkFields, once: boolean(), ends: time }))
const signIn = described<ListedSignIn>()(
  'SignIn',
  object({ ...linkFields, link: text, browser: text, ends: optional(time), used: optional(time) }),
)
const act = described<KeptAct>()(
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
const session = described<KeptConversation>()(
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
const project = described<KeptProject>()(
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
const found = described<FoundWords>()(
  'Found',
  object({ session: text, entry: text, title: text, by: text, at: time, snippet: text }),
)
const entryPage = object({
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
})
const used = described<UsedAmounts>()(
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
const away = described<AwayAgent>()(
  'Away',
  object({ agent: text, as: oneOf('parked', 'busy', 'cooling down'), until: time, why: maybe }),
)
const nothing = object({})
/** A text or bytes, and not JSON. */
export const plainText: Shape<unknown> = { ...string(), wants: 'plain text' }
/** Answers in the form in which the dashboard of the same version holds its state: they change with it, and programs use /api/state. */
export const ofDashboard: Shape<unknown> = { ...anything(), wants: 'anything that the dashboard needs' }

const inboxRow = object({ id: text, kind: text, at: time, read: boolean(), needsMe: boolean() }, 'ignored')

/** The answer of every route with status 200. */
export const routeAnswers: Record<string, Shape<unknown>> = {
  'GET /api/agents': list(agent),
  'GET /api/agents/:id': agent,
  'POST /api/agents': registered,
  'POST /api/agents/:id/wait': given,
  'POST /api/agents/:id/evict': nothing,
  'POST /api/agents/:id/stop': task,
  'POST /api/agents/:id/message': registered,
  'POST /api/agents/:id/status': nothing,
  'POST /api/agents/:id/spent': nothing,
  'POST /api/agents/:id/ask': registered,
  'POST /api/agents/:id/withdraw': registered,
  'POST /api/agents/:id/answer': registered,
  'POST /api/agents/:id/pause': registered,
  'POST /api/agents/:id/resume': registered,
  'POST /api/broadcast': object({ told: about('How many agents get the message.', integer(0)) }),
  'GET /api/tasks': list(task),
  'POST /api/tasks': task,
  'GET /api/tasks/:id': task,
  'GET /api/tasks/:id/wait': task,
  'POST /api/tasks/:id/ack': task,
  'POST /api/tasks/:id/progress': task,
  'POST /api/tasks/:id/block': task,
  'POST /api/tasks/:id/release': task,
  'POST /api/tasks/:id/respond': task,
  'POST /api/tasks/:id/texts': keptText,
  'POST /api/tasks/:id/checks': task,
  'GET /api/tasks/:id/tries/:number/diff': plainText,
  'GET /api/tasks/:id/tries/:number/checks/:check/output': plainText,
  'GET /api/tasks/:id/notes': object({ notes: list(note), count: integer(0) }),
  'GET /api/tasks/:id/comments': list(note),
  'POST /api/tasks/:id/answer': task,
  'POST /api/tasks/:id/reject': task,
  'POST /api/tasks/:id/comment': task,
  'POST /api/tasks/:id/comments/:number/resolve': task,
  'POST /api/tasks/:id/looked': nothing,
  'POST /api/tasks/:id/cancel': task,
  'POST /api/tasks/:id/redirect': task,
  'POST /api/tasks/:id/retry': task,
  'POST /api/tasks/:id/approve': object({ ...taskFields, merged: optional(merge) }),
  'POST /api/tasks/:id/bundle': object({ missing: list(text) }),
  'POST /api/tasks/:id/late': task,
  'GET /api/tasks/:id/tries/:number/bundle': plainText,
  'GET /api/tasks/:id/attachments/:number': plainText,
  'POST /api/attachments': keptText,
  'GET /api/pipelines': list(pipeline),
  'GET /api/pipelines/:id': pipeline,
  'POST /api/pipelines': either(object({ pipeline: object(pipelineFields) }), object({ schedule })),
  'POST /api/pipelines/:id/cancel': pipeline,
  'POST /api/pipelines/:id/retry': pipeline,
  'POST /api/pipelines/:id/pause': pipeline,
  'POST /api/pipelines/:id/resume': pipeline,
  'POST /api/pipelines/:id/answer': pipeline,
  'GET /api/schedules': list(schedule),
  'POST /api/schedules/:id/pause': schedule,
  'POST /api/schedules/:id/resume': schedule,
  'POST /api/schedules/:id/remove': schedule,
  'GET /api/people': list(text),
  'GET /api/inbox': list(inboxRow),
  'POST /api/inbox/mark': nothing,
  'POST /api/days/answer': day,
  'GET /api/me': object({
    id: text,
    name: text,
    role: oneOf(...callerRoles),
    session: maybe,
    ends: optional(time),
    sso: optional(boolean()),
  }),
  'POST /api/me/end': key,
  'GET /api/version': object({ version: maybe, protocol: integer(1) }),
  'POST /api/lent-keys': newKey,
  'GET /api/links': list(link),
  'POST /api/links': object({ link, secret: text, page: maybe }),
  'GET /api/sign-ins': list(signIn),
  'POST /api/sign-ins/:id/end': nothing,
  'GET /api/keys': list(key),
  'POST /api/keys': newKey,
  'POST /api/keys/:id/rotate': either(newKey, object({ file: about('Where the new own key is.', text) })),
  'POST /api/keys/:id/revoke': key,
  'GET /api/invites': list(invite),
  'POST /api/invites': object({ invite, code: about('Shown here once and kept nowhere.', text), page: maybe }),
  'GET /api/audit': object({
    acts: list(act),
    after: optional(about('The number of the last act, if more may follow.', integer(1))),
  }),
  'GET /api/rules': list(rules),
  'GET /api/machines': list(object({ name: text }, 'ignored')),
  'POST /api/machines/:id/forget': nothing,
  'POST /api/machines/:id/rules': rules,
  'POST /api/machines/:id/pause': rules,
  'POST /api/machines/:id/resume': rules,
  'POST /api/hub/pause': rules,
  'POST /api/hub/resume': rules,
  'POST /api/hub/copy': object({ path: text }),
  'GET /api/state': state,
  'GET /api/retention': object({
    tasks: list(object({ state: oneOf(...taskStates), count: integer(0) })),
    pipelines: integer(0),
    notes: integer(0),
    texts: integer(0),
    bytes: integer(0),
  }),
  'POST /api/retention/prune': object({ tasks: integer(0), pipelines: integer(0), more: boolean() }),
  'GET /api/page': ofDashboard,
  'GET /api/page/tasks': ofDashboard,
  'GET /api/page/tasks/:id': ofDashboard,
  'POST /api/turns/:id/answer': nothing,
  'POST /api/turns/:id/steer': nothing,
  'POST /api/turns/:id/cancel': nothing,
  'GET /api/sessions': list(session),
  'GET /api/sessions/:id/entries': entryPage,
  'GET /api/projects': list(project),
  'GET /api/prompts': object({ allowed: boolean(), agents: list(text) }),
  'POST /api/prompts': object({ session: text }),
  'GET /api/search': list(found),
  'GET /api/usage': object({ rows: list(used), away: list(away) }),
}
