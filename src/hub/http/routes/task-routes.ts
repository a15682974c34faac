import type { Hub } from '../../engine/hub.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { Patience } from './route-forms.ts'
import { defined } from '../../../base/defined.ts'
import {
  anything,
  boolean,
  either,
  integer,
  list,
  number,
  numberAbove,
  object,
  oneOf,
  optional,
  parser,
  string,
} from '../../../core/data/shape.ts'
import { mostChecks } from '../../model/tasks/task-try.ts'
import { agentOf, checkRole } from '../../engine/access/hub-roles.ts'
import { tryOf } from '../../engine/task-reviews.ts'
import { WorkBundles } from '../../engine/texts/work-bundles.ts'
import { HubError, taskIdOf } from '../../engine/rules/task-rules.ts'
import { checkSender, sentPlace } from './bundle-routes.ts'
import { PagedList, StreamedText } from '../access/hub-router.ts'
import { anyBody, longestSeconds, post, text, wholeNumber } from './route-forms.ts'
import { cursorText, taskQueryIn, taskQueryWords } from './task-lists.ts'

/** A check as it is sent: its whole output, or the id of a text that was sent before. */
const sentCheck = object({
  command: text,
  exit: optional(integer(-1_000_000)),
  why: optional(text),
  ms: optional(number(0)),
  output: optional(string()),
  whole: optional(text),
})

/** The most notes of one page. */
const mostNotes = 500

/** Tasks: people add, review and direct them, and agents report on them. */
export function taskRoutes(hub: Hub, { get, until }: Patience): HubRoute[] {
  const bundles = new WorkBundles(hub.texts)
  return [
    get('/api/tasks', { about: 'Lists tasks, the newest first.', query: taskQueryWords }, async ({ query }) => {
      const { most, ...wanted } = taskQueryIn(query)
      const found = await hub.tasks({ ...wanted, most: most + 1 })
      const rows = found.slice(0, most)
      return new PagedList(rows, found.length > most ? cursorText(rows.at(-1)!) : undefined)
    }),
    post(
      '/api/tasks',
      'Adds a task.',
      'add',
      parser({
        id: optional(text),
        prompt: text,
        workspace: text,
        origin: optional(
          object({ machine: text, path: text, remote: optional(text), branch: optional(text), commit: optional(text) }),
        ),
        wish: optional(text),
        capabilities: optional(list(text)),
        priority: optional(integer(-100, 100)),
        needs: optional(list(text)),
        attachments: optional(list(object({ id: text, name: text }))),
        cap: optional(object({ tokens: optional(integer(1)), cost: optional(numberAbove(0)) })),
      }),
      async (fields, { caller, key }) => hub.add({ ...fields, by: caller.name }, key),
    ),
    get('/api/tasks/:id', 'One task.', async ({ id }) => hub.task(taskIdOf(id))),
    get(
      '/api/tasks/:id/wait',
      { about: 'Waits until a task is finished, blocked or in review.', query: { timeout: 'Seconds to wait (290).' } },
      async ({ id, query, signal }) => {
        const seconds = Number(query.get('timeout') ?? longestSeconds)
        return hub.settled(taskIdOf(id), until(Number.isFinite(seconds) ? seconds : undefined), signal)
      },
    ),
    post(
      '/api/tasks/:id/ack',
      'Acknowledges a task before its agent begins.',
      'take',
      parser({ agent: optional(text) }),
      async ({ agent }, { id, caller }) => hub.work.ack(id, agentOf(caller, agent)),
    ),
    post(
      '/api/tasks/:id/progress',
      'Tells the progress of a task.',
      'report',
      parser({ agent: optional(text), message: text, percentage: optional(integer(0, 100)) }),
      async ({ agent, message, percentage }, { id, caller, key }) =>
        hub.work.progress(id, agentOf(caller, agent), message, percentage, key),
    ),
    post(
      '/api/tasks/:id/block',
      'Asks a question about a task, which waits for the answer.',
      'ask',
      parser({ agent: optional(text), reason: text, question: text }),
      async ({ agent, reason, question }, { id, caller, key }) =>
        hub.work.block(id, agentOf(caller, agent), reason, question, key),
    ),
    post(
      '/api/tasks/:id/release',
      'Gives a task back to the queue, because its agent can work on none.',
      'report',
      parser({ agent: optional(text), reason: text }),
      async ({ agent, reason }, { id, caller, key }) => hub.work.release(id, agentOf(caller, agent), reason, key),
    ),
    post(
      '/api/tasks/:id/respond',
      'Ends a try of a task with its result.',
      'report',
      parser({
        agent: optional(text),
        status: oneOf('COMPLETED', 'FAILED', 'BLOCKED', 'IN_REVIEW'),
        message: text,
        artifacts: optional(list(anything())),
        diff: optional(either(string(), object({ id: text, cut: optional(boolean()) }))),
        evidence: optional(list(sentCheck, 0, mostChecks)),
        place: optional(sentPlace),
      }),
      async ({ agent, ...result }, { id, caller, key }) => {
        if (result.place?.bundle) await bundles.check(result.place.bundle)
        return hub.work.respond(id, agentOf(caller, agent), result, key)
      },
    ),
    {
      method: 'POST',
      path: '/api/tasks/:id/texts',
      about: 'Keeps a long text of a task, such as a diff, and returns its id.',
      operation: 'report',
      takesPieces: true,
      async answer({ id, caller, pieces }) {
        await checkSender(hub, id, caller)
        return hub.texts.receive(pieces ?? none())
      },
    },
    post(
      '/api/tasks/:id/checks',
      'Tells the checks that termaite ran on the work.',
      'vouch',
      parser({ checks: list(sentCheck, 1, mostChecks) }),
      async ({ checks }, { id, key }) => hub.work.checked(id, checks, key),
    ),
    get('/api/tasks/:id/tries/:number/diff', 'The diff of a try.', async ({ id, params }) => {
      const { number, diff } = tryOf(await hub.task(taskIdOf(id)), Number(params.number))
      if (!diff) throw new HubError('missing', `Try ${number} of task ${taskIdOf(id)} has no diff.`)
      return new StreamedText(hub.texts.read(diff), diff.bytes)
    }),
    get(
      '/api/tasks/:id/tries/:number/checks/:check/output',
      'The whole output of a check; checks are numbered from 1.',
      async ({ id, params }) => {
        const check = tryOf(await hub.task(taskIdOf(id)), Number(params.number)).checks?.[Number(params.check) - 1]
        if (!check)
          throw new HubError('missing', `Try ${params.number} of task ${taskIdOf(id)} has no check ${params.check}.`)
        const output = Buffer.from(check.output)
        return check.whole
          ? new StreamedText(hub.texts.read(check.whole), check.whole.bytes)
          : new StreamedText(once(output), output.length)
      },
    ),
    get(
      '/api/tasks/:id/notes',
      {
        about: 'Notes on a task, the newest last.',
        query: {
          before: 'Notes before the one with this number.',
          most: 'The most notes of one answer (100, at most 500).',
        },
      },
      async ({ id, query }) => {
        const before = query.has('before') ? wholeNumber(query, 'before', 0) : undefined
        const most = Math.min(wholeNumber(query, 'most', 100), mostNotes)
        return hub.reviews.notes(taskIdOf(id), defined({ before, most }))
      },
    ),
    get('/api/tasks/:id/comments', 'The comments at lines of diffs.', async ({ id }) =>
      hub.reviews.lineComments(taskIdOf(id)),
    ),
    post(
      '/api/tasks/:id/answer',
      'Answers the question of a blocked task.',
      'answer',
      parser({ text }),
      async (said, { id, caller, key }) => hub.questions.answer(id, said.text, caller.name, key),
    ),
    post(
      '/api/tasks/:id/reject',
      'Rejects a try; the task goes back to the queue with the words.',
      'review',
      parser({ text: optional(text), try: optional(integer(1)) }),
      async (said, { id, caller, key }) => hub.reviews.reject(id, caller.name, said, key),
    ),
    post(
      '/api/tasks/:id/comment',
      'Comments on a task, or on a line of its diff.',
      'comment',
      parser({
        text,
        at: optional(object({ try: integer(1), path: text, line: integer(1), side: oneOf('old', 'new') })),
      }),
      async (said, { id, caller, key }) => hub.reviews.comment(id, caller.name, said.text, said.at, key),
    ),
    post(
      '/api/tasks/:id/comments/:number/resolve',
      'Resolves a comment, or opens it again.',
      'comment',
      parser({ resolved: optional(boolean()) }),
      async ({ resolved = true }, { id, params, caller }) =>
        hub.reviews.resolve(id, Number(params.number), caller.name, resolved),
    ),
    post(
      '/api/tasks/:id/looked',
      'Notes the newest try that the caller has seen.',
      'inbox',
      parser({ try: integer(1) }),
      async (seen, { id, caller }) => {
        await hub.reviews.look(id, caller.name, seen.try)
        return {}
      },
    ),
    post(
      '/api/tasks/:id/cancel',
      'Cancels a task.',
      'direct',
      parser({ why: optional(text) }),
      async ({ why }, { id, caller, key }) => hub.cancel(id, caller.name, why, key),
    ),
    post(
      '/api/tasks/:id/redirect',
      'Changes the priority of a task, or the agent that should do it.',
      'direct',
      parser({ priority: optional(integer(-100, 100)), wish: optional(string()) }),
      async (change, { id, caller, key }) => hub.redirect(id, caller.name, defined(change), key),
    ),
    post(
      '/api/tasks/:id/retry',
      'Puts a finished task back into the queue.',
      'direct',
      anyBody,
      async (_, { id, caller, key }) => hub.retry(id, caller.name, key),
    ),
    post(
      '/api/tasks/:id/approve',
      'Approves a try, and has it merged where that is wanted.',
      'review',
      parser({
        try: optional(integer(1)),
        merge: optional(boolean()),
        merged: optional(object({ machine: text, branch: text, into: text, commit: text })),
      }),
      async (approval, { id, caller, key }) => {
        if (approval.merge) checkRole(caller, 'merge')
        const done = await hub.reviews.approve(id, caller.name, approval, key)
        const merged = done.tries?.at(-1)?.reviews?.findLast((review) => review.merged)?.merged
        return defined({ ...done, merged: approval.merge ? merged : undefined })
      },
    ),
  ]
}

async function* none(): AsyncGenerator<Uint8Array> {}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
