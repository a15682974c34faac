import type { Entry, WorkStatus } from './entry.ts'
import type { Ask } from './question.ts'
import type { ThemeName } from './themes.ts'

/** A stored record of an agent that worked inside an earlier turn. */
export type EarlierWork = {
  turn: string
  role: string
  by: string
  status: WorkStatus
  since: number
  ms?: number
  tokens?: number
  /** The result of the agent's work, as text. */
  text: string
  /** Reads the entries of the agent's work. */
  entries(): Promise<readonly Entry[]>
}

/**
 * How something is shown that a command says: a note of termaite, Markdown, an error, or an answer beside the work, whose first line is its
 * title.
 */
export type SaidHow = 'note' | 'text' | 'error' | 'aside'

/** The surroundings of a slash command. Text that it says is shown and not stored. */
export type CommandWorld = {
  say(text: string, how?: SaidHow): void
  ask: Ask
  /** Shows the current step of the command, replacing the previous one; a screen of plain lines does not show it. */
  progress?(words: string): void
  signal: AbortSignal
  screen: CommandScreen
}

/** The actions of a command on the screen on which the person typed it. A screen of plain lines only supports some of them. */
export type CommandScreen = {
  /** Gives the terminal to another program while `work` runs. */
  suspend<T>(work: () => Promise<T>): Promise<T>
  /** Copies text to the clipboard. Returns a sentence that says how, or why it failed. */
  copy(text: string): Promise<string>
  /** Clears the screen; the conversation is not affected. */
  clear(): void
  /** Puts text into the input, for the person to change or send. */
  fill(text: string): void
  /** Opens the searchable list of commands. */
  palette(query?: string): void
  /** Shows every key and what it does. */
  keys(): void
  /**
   * Shows the agents that work inside the turn, below those of earlier turns; false if there is no agent to show. A screen without
   * a board has no such function.
   */
  board?(earlier: readonly EarlierWork[]): boolean
  /** Shows a list with keys until the person leaves it. A screen without lists has no such function. */
  list?(view: ListView): Promise<void>
  /** Lets the person choose a theme, and shows each one at once. A screen without colours has no such function. */
  theme?(now: ThemeName, cancelled: AbortSignal): Promise<ThemeName | undefined>
  exit(): void
}

/** A slash command. */
export interface Command {
  name: string
  /** The arguments as shown in the help: `[agent]`. */
  words?: string
  help: string
  /** Whether `/help` shows the command among the first dozen. */
  matters?: boolean
  /** Whether the command only works on termaite's own screen: it changes that screen, needs its terminal, or shows another session. */
  screen?: true
  /** Whether the command works beside the conversation: a prompt that is typed after it does not wait for its end. */
  beside?: true
  /** Returns completions for the text typed so far. */
  complete?(typed: string): readonly string[] | Promise<readonly string[]>
  run(args: string, world: CommandWorld): Promise<void>
}

/** The slash commands of a desk. Commands from files and skills change: `refresh` searches for them again. */
export type CommandList = readonly Command[] & { refresh?(): Promise<void> }

/** The names, arguments and help of commands in one text, to see whether a list has changed. */
export const listedCommands = (commands: readonly Command[]): string =>
  JSON.stringify(commands.map(({ name, words, help }) => [name, words, help]))

/** Whether a line of the input is a note for AGENTS.md: it begins with one #. A heading of several lines is a prompt. */
export const isNote = (text: string): boolean => /^#(?![#!])[^\n]*[^\s#][^\n]*$/.test(text)
/** One row of a list: its title, further cells, and a line below it. */
export type ListRow = { id: string; title: string; cells?: readonly string[]; note?: string }

/** The ways in which a list asks the person, in its own place, while an action runs. */
export type ListTalk = {
  /** Asks for one line of text; undefined if the person goes back. */
  line(label: string, text?: string): Promise<string | undefined>
  /** Asks for a yes to something that cannot be undone. */
  sure(words: string): Promise<boolean>
  /** Lets the person choose one of other rows; undefined if they go back. */
  pick(title: string, rows: readonly ListRow[]): Promise<string | undefined>
  /** Closes the list. */
  close(): void
}

/** The lists of the chat; each has keys of its own. */
export type ListName = 'sessions' | 'agents'

/** A list with keys that act on its rows, as a command shows it on a screen. */
export type ListView = {
  name: ListName
  title: string
  /** Whether letters that are typed search the rows. */
  searches: boolean
  /** The sentence of a list without rows. */
  empty(typed: string): string
  /** The actions of this list's keys, each with the word for the line below the list. */
  actions: Readonly<Record<string, string>>
  rows(typed: string): Promise<readonly ListRow[]>
  /** Runs an action on the chosen row; returns the words that the list shows then. The rows are read again afterwards. */
  act(action: string, row: ListRow | undefined, talk: ListTalk): Promise<string | undefined>
}
