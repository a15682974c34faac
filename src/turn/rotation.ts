import type { Entry } from '../core/talk/entry.ts'
import type { Agent, Roster, Turn } from '../core/work/agent.ts'
import type { Doc } from '../core/talk/store.ts'
import type { Health } from './rotation/health.ts'
import type { Rotation } from './rotation/rotate.ts'
import type { App } from './app.ts'
import { healthDoc } from './rotation/health.ts'
import { rotate } from './rotation/rotate.ts'
import { rosterParts } from './app.ts'
import { allowsAgent, answerRecord, turnAnswers } from '../native/recorded-answers.ts'
import { openRoster } from './roster.ts'

type RotationOptions = {
  /** The agent that is tried first. */
  first?: string
  /** Whether only `first` may take the turn. */
  only?: boolean
  /** Whether the rotation's answer stays outside the conversation. */
  consulted?: boolean
  /** A roster other than the app's own. */
  roster?: Roster
  /** Agents to leave out, instead of the ones that the app leaves out. */
  out?: App['out']
  told?: readonly Entry[]
  /** The record of the agents' health, if it differs from the one that all turns share. */
  health?: Doc<Health>
  measured?: Rotation['measured']
  changes?(): Promise<string[]>
  compact?(turn: Turn, say: (words: string) => void): Promise<readonly Entry[] | undefined>
}

/** Opens the rotation over the agents of the settings. */
export function openRotation(app: App, { roster = app.roster, ...options }: RotationOptions): Agent {
  const record = answerRecord(app.native)
  return rotate(roster, {
    strategy: app.settings.rotationStrategy,
    health: healthDoc(app.store),
    cooldown: app.settings.cooldown,
    random: Math.random,
    mask: app.border.toward('vendor'),
    out: app.out,
    sharing: app.settings.sharing,
    recorded: (turn) => turnAnswers(turn, 'rotation', record, allowsAgent),
    ...options,
  })
}

/** The agents that may be consulted, and the one to ask first; without it the rotation chooses. */
type Consultants = { names: readonly string[]; first?: string }

/**
 * Opens a rotation whose answer does not become part of the conversation. Its agents get no meta-instruction, and an agent that cannot be
 * restricted to reading is left out of this rotation only. Its prompt may quote another vendor's agent, so secrets in it are masked.
 */
export function openConsultant(app: App, told: readonly Entry[], among?: Consultants): Agent {
  const all = openRoster({ ...app.settings, metaInstruction: undefined }, { ...rosterParts(app), advises: true })
  const roster = among ? { ...all, names: () => [...among.names] } : all
  const consultant = openRotation(app, { consulted: true, roster, told, out: new Map(app.out), first: among?.first })
  const mask = app.border.toward('vendor')
  return {
    name: consultant.name,
    get traits() {
      return consultant.traits
    },
    turn: (turn) => consultant.turn({ ...turn, prompt: mask(turn.prompt) }),
    close: () => consultant.close(),
  }
}
