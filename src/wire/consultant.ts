import type { Entry } from '../core/talk/entry.ts'
import type { Agent } from '../core/work/agent.ts'
import type { App } from './app.ts'
import { openRotation, rosterParts } from './app.ts'
import { openRoster } from './roster.ts'

/** A rotation whose answer is no part of the conversation: nobody is told how to close it, and who cannot be held to reading is out of it alone. */
export function consultant(app: App, told: readonly Entry[]): Agent {
  const roster = openRoster({ ...app.settings, metaInstruction: undefined }, rosterParts(app))
  return openRotation(app, { consulted: true, roster, told, out: new Map(app.out) })
}
