import type { Finding, ShellClass, Touch } from './judgement.ts'
import type { Word } from './simple.ts'

/** What a program does with its arguments, as far as can be told before it runs. */
export type Reading = Finding & {
  paths?: readonly { word: Word; how: Touch }[]
  /** Commands that it runs in turn, each judged alone. */
  inner?: readonly Inner[]
}

export type Inner =
  | { words: readonly Word[]; /** Another folder to run it in. */ cwd?: Word }
  | { script: string }
  | { npm: string; folder?: Word }

/** Reads the arguments of one program. */
export type Known = (args: readonly Word[], call: { name: string; fed: boolean }) => Reading

export const reads = (why = 'it only looks'): Reading => ({ class: 'reads', why })

export const is = (kind: ShellClass, why: string): Reading => ({ class: kind, why })

export const unclear = (word: Word): Reading => is('dynamic', `${word.text} is only known when it runs`)
