import type { Ask } from './question.ts'

/** What a slash command is run with: `say` is shown and not kept. */
export type CommandWorld = {
  say(text: string, how?: 'note' | 'text' | 'error'): void
  ask: Ask
  signal: AbortSignal
  screen: CommandScreen
}

/** What a command may do with the screen it was typed on; a screen of lines does what it can of it. */
export type CommandScreen = {
  /** Hands the terminal to another program while `work` runs. */
  suspend<T>(work: () => Promise<T>): Promise<T>
  /** Puts text on the clipboard; the words say how, or why it could not. */
  copy(text: string): Promise<string>
  /** The screen only: nothing kept is touched. */
  clear(): void
  /** Puts text into the input, for the person to send or change. */
  fill(text: string): void
  /** The searchable list of commands. */
  palette(query?: string): void
  exit(): void
}

/** A word that a person types after a slash. */
export interface Command {
  name: string
  /** What may follow it, in words: `[agent]`. */
  words?: string
  help: string
  /** Among the dozen that `/help` shows first. */
  matters?: boolean
  /** Only for a screen of our own: it turns that, needs its terminal, or shows another session on it. */
  screen?: true
  /** What may follow what was typed so far. */
  complete?(typed: string): readonly string[] | Promise<readonly string[]>
  run(args: string, world: CommandWorld): Promise<void>
}
