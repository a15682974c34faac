import type { Entry } from '../core/talk/entry.ts'
import type { Agent } from '../core/work/agent.ts'
import type { App } from './app.ts'
import { openRotation, rosterParts } from './app.ts'
import { openRoster } from './roster.ts'

/** Who may be asked, and who first. */
export type Among = { names: readonly string[]; first: string }

/** A rotation whose answer is no part of the conversation: nobody is told how to close it, and who cannot be held to reading is out of it alone. */
export function consultant(app: App, told: readonly Entry[], among?: Among): Agent {
  const all = openRoster({ ...app.settings, metaInstruction: undefined }, rosterParts(app))
  const roster = among ? { ...all, names: () => [...among.names] } : all
  const first = among ? { first: among.first } : {}
  return openRotation(app, { consulted: true, roster, told, out: new Map(app.out), ...first })
}
