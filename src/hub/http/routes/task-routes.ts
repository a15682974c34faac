import type { taskOperations } from '../../model/operations/task-operations.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { Hub } from '../../engine/hub.ts'
import type { Handlers } from '../access/hub-router.ts'
import { defined } from '../../../base/defined.ts'
import { agentOf, checkRole } from '../../engine/access/hub-roles.ts'
import { unansweredTry } from '../../engine/rules/task-moves.ts'
import { tryOf } from '../../engine/task-reviews.ts'
import { WorkBundles } from '../../engine/texts/work-bundles.ts'
import { checkTicket, heldTask, HubError, taskIdOf } from '../../engine/rules/task-rules.ts'
import { PagedList, StreamedText } from '../access/hub-router.ts'
import { cursorText, taskQueryIn } from './task-lists.ts'

/** The most notes of one page. */
const mostNotes = 500

/** Tasks: people add, review and direct them, and agents report on them. `until` returns the end of a wait. */
export function taskRoutes(hub: Hub, until: (seconds?: number) => number): Handlers<keyof typeof taskOperations> {
  const bundles = new WorkBundles(hub.texts)
  return {
    'GET /api/tasks': async (fields) => {
      const { most, ...wanted } = taskQueryIn(fields)
      const found = await hub.tasks({ ...wanted, most: most + 1 })
      const rows = found.slice(0, most)
      return new PagedList(rows, found.length > most ? cursorText(rows.at(-1)!) : undefined)
    },
    'POST /api/tasks': async (fields, { caller, key }) => hub.add({ ...fields, by: caller.name }, key),
    'GET /api/tasks/:id': async (_, { id }) => hub.task(taskIdOf(id)),
    'GET /api/tasks/:id/wait': async ({ timeout }, { id, signal }) => {
      const seconds = Number(timeout)
      return hub.settled(taskIdOf(id), until(Number.isFinite(seconds) ? seconds : undefined), signal)
    },
    'POST /api/tasks/:id/ack': async ({ agent }, { id, caller }) => hub.work.ack(id, agentOf(caller, agent)),
    'POST /api/tasks/:id/progress': async ({ agent, message, percentage }, { id, caller, key }) =>
      hub.work.progress(id, agentOf(caller, agent), message, percentage, key),
    'POST /api/tasks/:id/block': async ({ agent, reason, question }, { id, caller, key }) =>
      hub.work.block(id, agentOf(caller, agent), reason, question, key),
    'POST /api/tasks/:id/release': async ({ agent, reason }, { id, caller, key }) =>
      hub.work.release(id, agentOf(caller, agent), reason, key),
    'POST /api/tasks/:id/respond': async ({ agent, ...result }, { id, caller, key }) => {
      if (result.place?.bundle) await bundles.check(result.place.bundle)
      return hub.work.respond(id, agentOf(caller, agent), result, key)
    },
    'POST /api/tasks/:id/texts': async (_, { id, caller, pieces = none() }) => {
      await checkSender(hub, id, caller)
      return hub.texts.receive(pieces)
    },
    'POST /api/tasks/:id/checks': async ({ checks }, { id, key }) => hub.work.checked(id, checks, key),
    'GET /api/tasks/:id/tries/:number/diff': async (_, { id, number: wanted }) => {
      const { number, diff } = tryOf(await hub.task(taskIdOf(id)), Number(wanted))
      if (!diff) throw new HubError('missing', `Try ${number} of task ${taskIdOf(id)} has no diff.`)
      return new StreamedText(hub.texts.read(diff), diff.bytes)
    },
    'GET /api/tasks/:id/tries/:number/checks/:check/output': async (_, { id, number, check }) => {
      const found = tryOf(await hub.task(taskIdOf(id)), Number(number)).checks?.[Number(check) - 1]
      if (!found) throw new HubError('missing', `Try ${number} of task ${taskIdOf(id)} has no check ${check}.`)
      const output = Buffer.from(found.output)
      return found.whole
        ? new StreamedText(hub.texts.read(found.whole), found.whole.bytes)
        : new StreamedText(once(output), output.length)
    },
    'GET /api/tasks/:id/notes': async ({ before, most = 100 }, { id }) =>
      hub.reviews.notes(taskIdOf(id), defined({ before, most: Math.min(most, mostNotes) })),
    'GET /api/tasks/:id/comments': async (_, { id }) => hub.reviews.lineComments(taskIdOf(id)),
    'POST /api/tasks/:id/answer': async (said, { id, caller, key }) =>
      hub.questions.answer(id, said.picks, caller.name, key),
    'POST /api/tasks/:id/reject': async (said, { id, caller, key }) => hub.reviews.reject(id, caller.name, said, key),
    'POST /api/tasks/:id/comment': async (said, { id, caller, key }) =>
      hub.reviews.comment(id, caller.name, said.text, said.at, key),
    'POST /api/tasks/:id/comments/:number/resolve': async ({ resolved = true }, { id, number, caller }) =>
      hub.reviews.resolve(id, Number(number), caller.name, resolved),
    'POST /api/tasks/:id/looked': async (seen, { id, caller }) => {
      await hub.reviews.look(id, caller.name, seen.try)
      return {}
    },
    'POST /api/tasks/:id/cancel': async ({ why }, { id, caller, key }) => hub.cancel(id, caller.name, why, key),
    'POST /api/tasks/:id/redirect': async (change, { id, caller, key }) =>
      hub.redirect(id, caller.name, defined(change), key),
    'POST /api/tasks/:id/retry': async (_, { id, caller, key }) => hub.retry(id, caller.name, key),
    'POST /api/tasks/:id/approve': async (approval, { id, caller, key }) => {
      if (approval.merge) checkRole(caller, 'merge')
      const done = await hub.reviews.approve(id, caller.name, approval, key)
      const merged = done.tries?.at(-1)?.reviews?.findLast((review) => review.merged)?.merged
      return defined({ ...done, merged: approval.merge ? merged : undefined })
    },
    'POST /api/tasks/:id/bundle': async ({ bundle }, { id, caller }) => {
      await checkSender(hub, id, caller)
      return { missing: await bundles.missing(bundle) }
    },
    'POST /api/tasks/:id/late': async ({ agent, ...work }, { id, caller }) => {
      if (work.place?.bundle) await bundles.check(work.place.bundle)
      return hub.work.late(taskIdOf(id), agentOf(caller, agent), defined(work))
    },
    'GET /api/tasks/:id/tries/:number/bundle': async ({ from = 0 }, { id, number: wanted }) => {
      const task = await hub.task(taskIdOf(id))
      const { number, bundle } = tryOf(task, Number(wanted))
      if (!bundle) throw new HubError('missing', `Try ${number} of task ${task.id} has no bundle.`)
      if (from > bundle.bytes)
        throw new HubError('wrong', `The bundle has ${bundle.bytes} bytes, and no byte at ${from}.`)
      return new StreamedText(bundles.read(bundle, from), bundle.bytes - from)
    },
  }
}

/**
 * Refuses texts from an agent, unless the agent has the task, has just answered it, or lost it before it could answer. An admin acts for
 * the agent of the task.
 */
async function checkSender(hub: Hub, ticket: string, { name, role }: HubCaller): Promise<void> {
  const task = await hub.task(taskIdOf(ticket))
  const agent = role === 'admin' ? (task.agent ?? name) : name
  // An agent that answered the task itself may still send the output of its checks.
  const answered = task.state === 'IN_REVIEW' && task.agent === agent
  if (answered || unansweredTry(task, agent)) return
  checkTicket(ticket, task)
  heldTask(task, agent)
}

async function* none(): AsyncGenerator<Uint8Array> {}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
