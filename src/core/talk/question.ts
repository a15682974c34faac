/** Something that is shown beside a question, so that the person sees what they agree to. */
export type Shown =
  | { type: 'command'; command: string; cwd?: string; /** The dangerous parts. */ marks?: readonly Mark[] }
  | {
      type: 'diff'
      path: string
      before?: string
      after: string
      starts?: DiffStarts
      /** Why a change of this file is dangerous. */ danger?: string
    }
  | { type: 'text'; text: string }

/**
 * The numbers of the first lines of a diff's two texts in the file before and after the change; without them nobody knows the numbers.
 * Texts with several parts have a pair for each; the line of `partMark` is between two parts.
 */
export type DiffStarts = readonly (readonly [before: number, after: number])[]

/** The line in place of the lines of a file that are left out on both sides of a diff. */
export const partMark = '⋮'

/** The starts of a diff whose texts are whole files. */
export const wholeFile: DiffStarts = [[1, 1]]

/** A part of a command that made the question necessary, from one character up to before another, and the reason. */
export type Mark = { from: number; to: number; why: string }

/** The meaning of an option on a card that asks for a yes: yes for this once, yes from now on, or no. */
export type Meaning = 'once' | 'always' | 'no'

/**
 * `grants`: the permission that picking the option gives from then on, as text. `means` decides its key, unless another program shows
 * the option with a number of its own: that number is then its `key`.
 */
export type Option = { id: string; label: string; grants?: string; means?: Meaning; key?: number }

/** The subjects of questions. */
export const questionSubjects = [
  'permission',
  'choice',
  'login',
  'trust',
  'quota',
  'silence',
  'denied',
  'sharing',
] as const

/** A question that must be answered before an agent continues. `from` names the roles it came through, outermost first. */
export type Question = {
  about: (typeof questionSubjects)[number]
  text: string
  from: string[]
  /** The agent that asks, or that is the subject of the question. */
  agent?: string
  multiple?: boolean
  /** The options that are marked at first, if several may be picked: termaite's suggestion. */
  marked?: readonly string[]
  /** Whether the order of the picks matters, so that the person can change it. */
  ordered?: true
  /** Whether the person may answer with their own text, which is then the pick. */
  free?: boolean
  /** Whether that text is a secret, which is not even shown while it is typed. */
  secret?: boolean
  shows?: Shown[]
  options: Option[]
  /** The option that Enter picks at first; by default the first one. A question of trust begins at its no. */
  enter?: string
  /** Whether termaite suggests an answer: the marked options, otherwise the option of Enter. In a shell, an empty line accepts it. */
  suggests?: true
  /** The option that Escape picks, if it is not the no. */
  escape?: string
  /** The effect of leaving the question without an answer, as text; Escape then picks no option. */
  unanswered?: string
  /** Whether leaving the question without an answer cancels the turn, because continuing would cost something. */
  cancels?: true
  /** The option that is picked if nobody has answered by that time. */
  otherwise?: { pick: string; at: number }
}

/**
 * Asks a person. Returns the ids they picked, or undefined, which means no: nobody was there, or the question was withdrawn.
 * The `ask` of a turn never rejects. `ask` is the question's id in the log, once it is kept.
 */
export type Ask = (question: Question, withdrawn: AbortSignal, ask?: string) => Promise<string[] | undefined>

/** An `ask` that records its answers; `notes` say which could not be recorded, and `settle` completes the record of a turn. */
export type RecordedAnswers = { ask: Ask; notes: string[]; settle(): Promise<void> }

/** The `ask` of a run that no person watches. */
export const nobody: Ask = async () => undefined
