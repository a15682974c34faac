import type { Agent } from '../core/work/agent.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { App } from '../turn/app.ts'
import { isFolderTrusted } from '../native/native-trust.ts'
import { vendorOf, vendorsTold } from '../turn/rotation/roster-seats.ts'
import { thinkingFor } from '../think/turn/thinking-choice.ts'

/** The agent that a turn will probably have; `aimed`: the person named it. */
type ForeseenAgent = { name: string; aimed: boolean }

/**
 * Starts the agent of a turn that is foreseen, as that turn would start it. Nothing is started that would first ask the person: whether the
 * folder is trusted, or whether the conversation may be shared with the agent's vendor. A coordinator's turn has tools of its own, for which
 * nothing is started yet.
 */
export async function prepareAgent(app: App, { name, aimed }: ForeseenAgent): Promise<void> {
  const { place, leash, conversation, roster, io } = app
  if (!app.warm?.open || app.mode === 'coordinator') return
  const agent = roster.open(name, { cwd: place.cwd, leash })
  const terms = { cwd: place.cwd, leash, clock: io.clock, attended: true }
  let withdraw: (() => void) | undefined
  try {
    if (!agent.prepare || !(await isFolderTrusted(app.native))) return
    const history = await conversation.view()
    if (!(await maySee(app, agent, history))) return
    withdraw = await lendTools(app, aimed)
    await agent.prepare({ ...terms, history })
  } finally {
    withdraw?.()
    await agent.close()
  }
}

/**
 * Copies the project's files, so that the first snapshot of the turn has to read only later changes. That snapshot is taken when the turn
 * begins, so it includes the person's own changes until then.
 */
export async function prepareSnapshot({ ephemeral, snapshots }: App): Promise<void> {
  if (!ephemeral) await snapshots.take()
}

/** Whether the turn would start the agent without asking whether it may be given the conversation. */
async function maySee({ settings, roster, place, leash }: App, agent: Agent, told: readonly Entry[]): Promise<boolean> {
  if (settings.sharing !== 'ask') return true
  const vendors = await vendorsTold(roster, told, { cwd: place.cwd, leash })
  return vendors.size === 0 || vendors.has(vendorOf(agent))
}

/** Lends the agent the tools that its turn will lend it, until the returned function is called. Nobody can call them before the turn. */
async function lendTools(app: App, aimed: boolean): Promise<(() => void) | undefined> {
  if (thinkingFor(app, { aimed, chat: true }) !== 'auto') return undefined
  const { offerAdvice } = await import('../think/turn/turn-advice.ts')
  return offerAdvice(app, () => Promise.reject(new Error('no turn is running')))
}
