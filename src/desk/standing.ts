import type { Entry } from '../core/talk/entry.ts'
import type { Health } from '../mind/rotation/health.ts'
import type { AgentStanding, Standing } from '../faces/chat/chat-desk.ts'
import type { App } from '../app/app.ts'
import { basename } from 'node:path'
import { viewTokens } from '../core/talk/tokens.ts'
import { away } from '../mind/rotation/health.ts'
import { nextAgent } from '../mind/rotation/agent-order.ts'
import { enabledAgents, windowOf } from '../settings/enabled-agents.ts'
import { usualHow } from '../app/thinking/thinking-choice.ts'
import { Spent } from './spent.ts'

export type Known = {
  view: readonly Entry[]
  spent: Spent
  health: Health
  aimed?: string
  waiting?: Standing['waiting']
}

/** How things stand, from what is known now. */
export function standingOf(app: App, known: Known): Standing {
  const { settings, session, place, io } = app
  const now = io.clock.now()
  const said = viewTokens(known.view)
  const agents = enabledAgents(settings).map((agent): AgentStanding => {
    const gone = app.out.get(agent.name)
    const absent = away(known.health, agent.name, now)
    const left = Math.max(0, 1 - said / windowOf(agent))
    if (gone) return { name: agent.name, state: 'out', why: gone.message, left }
    if (!absent) return { name: agent.name, state: 'ready', left }
    const { as: state, until, why } = absent
    return { name: agent.name, state, until, left, ...(why === undefined ? {} : { why }) }
  })
  const names = agents.map(({ name }) => name)
  const thinking = usualHow(app, { aimed: known.aimed !== undefined, chat: true })
  const next = nextAgent(names, settings.rotationStrategy, known.health, now, known.aimed, app.out)
  return {
    project: basename(place.root) || place.root,
    ...(session.name === undefined ? {} : { session: session.name }),
    mode: app.mode,
    leash: settings.leash,
    strategy: settings.rotationStrategy,
    thinking,
    agents,
    ...(next === undefined ? {} : { next }),
    tokens: known.spent.standing(),
    ...(known.waiting ? { waiting: known.waiting } : {}),
  }
}
