import type { HubCaller } from '../../model/access/hub-key.ts'
import type { Hub } from '../../engine/hub.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { Patience } from './route-forms.ts'
import { defined } from '../../../base/defined.ts'
import { anything, boolean, either, integer, list, object, optional, parser, string } from '../../../core/data/shape.ts'
import { bundlePart, longestBundle } from '../../model/tasks/task-try.ts'
import { agentOf } from '../../engine/access/hub-roles.ts'
import { unansweredTry } from '../../engine/rules/task-moves.ts'
import { tryOf } from '../../engine/task-reviews.ts'
import { checkTicket, heldTask, HubError, taskIdOf } from '../../engine/rules/task-rules.ts'
import { WorkBundles } from '../../engine/texts/work-bundles.ts'
import { StreamedText } from '../access/hub-router.ts'
import { post, text, wholeNumber } from './route-forms.ts'

const sha = string({ matches: /^[0-9a-f]{64}$/, wants: 'a SHA-256 in 64 digits' })
const part = object({ id: sha, bytes: integer(0, bundlePart) })

/** A bundle as an agent names it. */
const bundle = object({
  id: sha,
  bytes: integer(1),
  parts: list(part, 1, Math.ceil(longestBundle / bundlePart) + 1),
})

/** The place of the work of a try, as its agent reports it. */
export const sentPlace = object({
  machine: optional(text),
  branch: optional(text),
  commit: optional(text),
  base: optional(text),
  worktree: optional(text),
  pushed: optional(text),
  bundle: optional(bundle),
})

/**
 * Refuses texts of an agent that neither has the task, nor has just answered it, nor has lost it before it could answer. An admin speaks
 * for the agent of the task.
 */
export async function checkSender(hub: Hub, ticket: string, { name, role }: HubCaller): Promise<void> {
  const task = await hub.task(taskIdOf(ticket))
  const agent = role === 'admin' ? (task.agent ?? name) : name
  // An agent that has answered itself may still send the output of its checks.
  const answered = task.state === 'IN_REVIEW' && task.agent === agent
  if (answered || unansweredTry(task, agent)) return
  checkTicket(ticket, task)
  heldTask(task, agent)
}

/** The work of tasks that was done on other machines: bundles, and work that came too late. */
export function bundleRoutes(hub: Hub, { get }: Patience): HubRoute[] {
  const bundles = new WorkBundles(hub.texts)
  return [
    // The parts themselves go to /api/tasks/:id/texts.
    post(
      '/api/tasks/:id/bundle',
      'Says which parts of a bundle the hub does not have yet.',
      'report',
      parser({ bundle }),
      async (sent, { id, caller }) => {
        await checkSender(hub, id, caller)
        return { missing: await bundles.missing(sent.bundle) }
      },
    ),
    post(
      '/api/tasks/:id/late',
      'Keeps work that came after its agent had lost the task.',
      'report',
      parser({
        agent: optional(text),
        message: text,
        artifacts: optional(list(anything())),
        diff: optional(either(string(), object({ id: text, cut: optional(boolean()) }))),
        place: optional(sentPlace),
      }),
      async ({ agent, ...work }, { id, caller }) => {
        if (work.place?.bundle) await bundles.check(work.place.bundle)
        return await hub.work.late(taskIdOf(id), agentOf(caller, agent), defined(work))
      },
    ),
    get(
      '/api/tasks/:id/tries/:number/bundle',
      { about: 'The branch of a try as a git bundle.', query: { from: 'The first byte that is wanted (0).' } },
      async ({ id, params, query }) => {
        const task = await hub.task(taskIdOf(id))
        const { number, bundle } = tryOf(task, Number(params.number))
        if (!bundle) throw new HubError('missing', `Try ${number} of task ${task.id} has no bundle.`)
        const from = wholeNumber(query, 'from', 0)
        if (from > bundle.bytes)
          throw new HubError('wrong', `The bundle has ${bundle.bytes} bytes, and none from ${from} on.`)
        return new StreamedText(bundles.read(bundle, from), bundle.bytes - from)
      },
    ),
  ]
}
