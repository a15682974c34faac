import type { Env } from '../base/env.ts'
import { keptSecrets, mask, secretVariables, valueMask } from './redaction.ts'

/**
 * The secrets that are masked on the way to each destination. `own`: only termaite's own keys, because the receiver edits the text, and
 * could not edit a masked line. `all`: everything that looks like a secret, because the text leaves the work.
 */
export const destinations = {
  /** Tool results for the working agent, which its vendor may see. The history keeps the same bytes. */
  work: 'own',
  /** An agent of another vendor: the conversation so far, a failed attempt, a request for advice, a summary. */
  vendor: 'all',
  /** The agents of a crew, and the agent or program that leads them. */
  crew: 'all',
  /** The hub, where agents of all vendors and every member read. */
  hub: 'all',
  log: 'all',
  export: 'all',
  audit: 'all',
  trace: 'all',
  notice: 'all',
  /** A failure that is shown or stored. */
  error: 'all',
} as const satisfies Record<string, 'own' | 'all'>

export type Destination = keyof typeof destinations

type Mask = (text: string) => string

/** The only place that decides which secrets a text keeps on its way to a destination. */
export type Border = {
  to(destination: Destination, text: string): string
  /** The mask for one destination, for code that sends text nowhere else. */
  toward(destination: Destination): Mask
  /** From now on, treats this key as termaite's own. */
  learn(name: string, key: string): void
  /** The first placeholder of one of termaite's own keys in a text: if it were written to a file, it would replace the key there. */
  markIn(text: string): string | undefined
}

type BorderParts = {
  env: Env
  /** Names of the variables with termaite's own keys: those of model providers, and the hub's. */
  ownVariables?: readonly string[]
  /** The stored keys of termaite by name; they are read with the first text. */
  kept?(): Readonly<Record<string, string>>
}

export function openBorder({ env, ownVariables = [], kept = () => ({}) }: BorderParts): Border {
  const learned: [string, string][] = []
  let stored: [string, string][] | undefined
  let masks: Record<'own' | 'all', Mask> | undefined
  const ownKeys = () => {
    stored ??= [
      ...Object.entries(kept()).flatMap((one) => keptSecrets(...one)),
      ...secretVariables(Object.fromEntries(ownVariables.map((name) => [name, env[name]]))),
    ]
    return [...stored, ...learned]
  }
  const made = () => {
    const own = ownKeys()
    const known = valueMask([...secretVariables(env), ...own])
    return { own: valueMask(own), all: (text: string) => mask(known(text)) }
  }
  const to = (destination: Destination, text: string) => (masks ??= made())[destinations[destination]](text)
  return {
    to,
    toward: (destination) => (text) => to(destination, text),
    learn(name, key) {
      const fresh = keptSecrets(name, key).filter(([value]) => !learned.some(([known]) => known === value))
      if (fresh.length === 0) return
      learned.push(...fresh)
      masks = undefined
    },
    markIn: (text) =>
      ownKeys()
        .map(([, name]) => `[masked ${name}]`)
        .find((mark) => text.includes(mark)),
  }
}
