import type { Conversations } from '../../../core/turns/conversations.ts'
import type { MachinePrompts } from '../../../core/turns/machine-prompts.ts'
import type { MachineTurns } from '../../../core/turns/machine-turns.ts'
import type { MachineStanding } from '../../model/machine-standing.ts'
import type { machineOperations, operatorOperations } from '../../model/operations/machine-operations.ts'
import type { Hub } from '../../engine/hub.ts'
import type { Handlers } from '../access/hub-router.ts'
import { defined } from '../../../base/defined.ts'
import { wholeHub } from '../../model/tasks/machine-rules.ts'
import { machineNamed } from '../../engine/operator-orders.ts'
import { HubError } from '../../engine/rules/task-rules.ts'

/** The machines that the hub knows. */
export type KnownMachines = {
  standings(): readonly MachineStanding[]
  /** Calls `see` after each change, until the returned function is called. */
  listen(see: () => void): () => void
  /** Frees the name of a machine that is offline; false if there is no such machine. */
  forget(machine: string): Promise<boolean>
}

/** The turns and the conversations of all machines. */
export type MachineParts = {
  turns?: MachineTurns
  conversations?: Conversations
  prompts?: MachinePrompts
  machines?: KnownMachines
}

/** The machines: their turns, their conversations and their usage. `forgotten` is called when the name of a machine becomes free. */
export function machineRoutes(
  { turns, conversations, prompts, machines }: MachineParts,
  forgotten: (machine: string) => Promise<void>,
): Handlers<keyof typeof machineOperations> {
  return {
    'GET /api/machines': async () => [...(machines?.standings() ?? [])],
    'POST /api/machines/:id/forget': async (_, { id }) => {
      if (!(await machines?.forget(id)))
        throw new HubError('conflict', `No machine ${id} is offline at this hub. A linked machine keeps its name.`)
      await forgotten(id)
      return {}
    },
    'POST /api/turns/:id/answer': async ({ ask, picks }, { id, caller }) =>
      checkTaken(id, await turns?.answer(id, ask, picks, caller)),
    'POST /api/turns/:id/steer': async (said, { id, caller }) =>
      checkTaken(id, await turns?.steer(id, said.text, caller)),
    'POST /api/turns/:id/cancel': async (_, { id, caller }) => checkTaken(id, await turns?.cancel(id, caller)),
    'GET /api/sessions': async () => conversations?.list() ?? [],
    'GET /api/prompts': async () => prompts?.rules() ?? { allowed: false, agents: [] },
    'POST /api/prompts': async (wish, { caller }) => {
      if (!prompts) throw new HubError('forbidden', 'This hub takes no prompts.')
      return prompts.send(defined(wish), caller)
    },
    'GET /api/projects': async () => conversations?.projects() ?? [],
    'GET /api/sessions/:id/entries': async (wish, { id, caller }) => {
      if (caller.session !== undefined && caller.session !== id)
        throw new HubError('forbidden', 'This link is for another session.')
      const page = await conversations?.page(id, wish)
      if (!page) throw new HubError('missing', `There is no session ${id}.`)
      // A guest sees the conversation, but not the project's folder on this machine.
      return caller.role === 'guest' ? { ...page, project: '' } : page
    },
    'GET /api/search': async ({ q = '' }) => conversations?.search(q) ?? [],
    'GET /api/usage': async ({ by = 'agent', since = 0, zone }) => {
      checkZone(zone)
      const rows = (await conversations?.usage(defined({ by, since, zone }))) ?? []
      return { rows, away: (await conversations?.away()) ?? [] }
    },
  }
}

/** The orders of operators: pauses of agents, machines and the hub, and the labels and limits of machines. */
export function operatorRoutes({ operators }: Hub): Handlers<keyof typeof operatorOperations> {
  return {
    'GET /api/rules': async () => operators.rules(),
    'POST /api/agents/:id/pause': async ({ why, drain }, { id, caller }) =>
      operators.pauseAgent(id, { by: caller.name, why, drains: drain }),
    'POST /api/agents/:id/resume': async (_, { id }) => operators.resumeAgent(id),
    'POST /api/machines/:id/pause': async ({ why, drain }, { id, caller }) =>
      operators.pause(machineNamed(id), { by: caller.name, why, drains: drain }),
    'POST /api/machines/:id/resume': async (_, { id }) => operators.resume(machineNamed(id)),
    'POST /api/machines/:id/rules': async (wish, { id }) => {
      if (wish.labels === undefined && wish.limit === undefined)
        throw new HubError('wrong', 'Name labels, a limit, or both.')
      return operators.set(machineNamed(id), wish)
    },
    'POST /api/hub/pause': async ({ why, drain }, { caller }) =>
      operators.pause(wholeHub, { by: caller.name, why, drains: drain }),
    'POST /api/hub/copy': async (_, { caller }) => ({ path: await operators.copyLedger(caller) }),
    'POST /api/hub/resume': async () => operators.resume(wholeHub),
  }
}

/** Throws if a query names no time zone. */
function checkZone(zone: string | undefined): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw new HubError('wrong', `zone: found "${zone}", allowed: the name of a time zone, as in Europe/Berlin.`)
  }
}

/** Throws if a turn did not accept a person's input. */
function checkTaken(turn: string, taken: boolean | undefined): object {
  if (!taken)
    throw new HubError('conflict', `Turn ${turn} is over, or somebody else has answered it already. Nothing was sent.`)
  return {}
}
