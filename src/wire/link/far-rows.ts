import type { TerminalRow } from '../../core/screen/machine-terminals.ts'
import type { Exit, Picture, Screen } from '../../core/screen/terminal.ts'
import type { KeptConversation, KeptProject, PlacedEntry } from '../../core/turns/conversations.ts'
import type { LiveChange, TurnChange } from '../../core/turns/machine-turns.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Shape } from '../../core/data/shape.ts'
import { defined } from '../../base/defined.ts'
import { isEntry } from '../../core/talk/entry.ts'
import { questionSubjects } from '../../core/talk/question.ts'
import { boolean, integer, list, number, object, oneOf, optional, parser, recognised } from '../../core/data/shape.ts'
import { shownWords } from '../frames/frames.ts'

/**
 * Parses data from another machine, which may be hostile: every field has a type and a maximum length, unknown fields are dropped, and no
 * control character reaches a page or a terminal.
 */

/** A text, cut to `longest` characters. */
const words = (longest: number): Shape<string> =>
  recognised('a text', (value) => (typeof value === 'string' ? shownWords(value, longest) : undefined))

const id = recognised('an id', (value) =>
  typeof value === 'string' && /^[\w.:@-]{1,200}$/.test(value) ? value : undefined,
)

const name = words(200)
const line = words(1_000)
const long = words(200_000)
const moment = number(0)

const shown: Shape<NonNullable<Question['shows']>[number]> = recognised('something shown', (value) => {
  const { type } = (value ?? {}) as { type?: unknown }
  const shape =
    type === 'command' ? shownCommand : type === 'diff' ? shownDiff : type === 'text' ? shownText : undefined
  return shape?.parse(value)
})
const shownCommand = parser(
  {
    type: oneOf('command'),
    command: long,
    cwd: optional(line),
    marks: optional(list(object({ from: integer(0), to: integer(0), why: line }, 'ignored'), 0, 100)),
  },
  { strays: 'ignored' },
)
const shownDiff = parser(
  { type: oneOf('diff'), path: line, before: optional(long), after: long, danger: optional(line) },
  { strays: 'ignored' },
)
const shownText = parser({ type: oneOf('text'), text: long }, { strays: 'ignored' })

const truth: Shape<true> = recognised('true', (value) => (value === true ? value : undefined))

const question: Shape<Question> = object(
  {
    about: oneOf(...questionSubjects),
    text: words(20_000),
    from: list(name, 0, 20),
    agent: optional(name),
    multiple: optional(boolean()),
    marked: optional(list(name, 0, 100)),
    ordered: optional(truth),
    free: optional(boolean()),
    secret: optional(boolean()),
    shows: optional(list(shown, 0, 20)),
    options: list(
      object(
        {
          id: name,
          label: line,
          grants: optional(line),
          means: optional(oneOf('once', 'always', 'no')),
          key: optional(integer(0)),
        },
        'ignored',
      ),
      0,
      100,
    ),
    enter: optional(name),
    escape: optional(name),
    unanswered: optional(line),
    cancels: optional(truth),
    otherwise: optional(object({ pick: name, at: moment }, 'ignored')),
  },
  'ignored',
)

const turnRow = parser(
  {
    turn: id,
    session: id,
    prompt: words(20_000),
    since: moment,
    project: optional(line),
    by: optional(name),
    words: optional(line),
    asks: list(object({ ask: id, question, at: moment }, 'ignored'), 0, 100),
  },
  { strays: 'ignored' },
)

const turnOver = parser({ type: oneOf('turn-over'), turn: id }, { strays: 'ignored' })

/** A change of a turn without its machine; undefined if the value is not such a change. */
export function readTurnChange(value: unknown): TurnChange | undefined {
  return attempt(() => {
    const { type, row } = value as { type: unknown; row: unknown }
    if (type === 'turn') return { type, row: { ...turnRow.parse(row), machine: '' } }
    return turnOver.parse(value)
  })
}

const growth = { from: integer(0), text: long }

const liveTurn = parser(
  {
    type: oneOf('live'),
    turn: id,
    by: optional(name),
    speech: list(
      object(
        { ...growth, part: integer(0), type: oneOf('text', 'thought'), by: optional(name), after: optional(id) },
        'ignored',
      ),
      0,
      1_000,
    ),
    progress: list(object({ ...growth, call: id }, 'ignored'), 0, 1_000),
    plan: optional(
      list(object({ task: line, status: oneOf('pending', 'in_progress', 'completed') }, 'ignored'), 0, 200),
    ),
    waiting: optional(line),
    phase: optional(line),
    inside: list(object({ role: name, by: optional(name), words: words(20_000) }, 'ignored'), 0, 100),
  },
  { strays: 'ignored' },
)
const liveOver = parser({ type: oneOf('live-over'), turn: id }, { strays: 'ignored' })

export function readLiveChange(value: unknown): LiveChange | undefined {
  return attempt(() => ((value as { type: unknown }).type === 'live' ? liveTurn.parse(value) : liveOver.parse(value)))
}

const terminalRow = object(
  {
    id,
    name,
    agent: name,
    hubAgent: optional(name),
    project: line,
    crew: optional(name),
    kind: oneOf('crew', 'worker', 'supervised'),
    state: name,
    since: moment,
    task: optional(line),
    keys: boolean(),
  },
  'ignored',
)

const terminalRows = parser({ rows: list(terminalRow, 0, 500) })

/** The terminals of a machine without its name; undefined if the value is not a list of terminals. */
export const readTerminalRows = (value: unknown): TerminalRow[] | undefined =>
  attempt(() => terminalRows.parse({ rows: value }).rows.map((row) => defined({ ...row, machine: '' })))

const side = integer(1, 1_000)
/** The code that draws a picture filters its bytes. */
const drawing = recognised('a text', (value) => (typeof value === 'string' ? value : undefined))
const picture = parser(
  { at: integer(0), text: drawing, cols: side, rows: side, unsure: optional(truth) },
  { strays: 'ignored' },
)
const screen = parser(
  {
    rows: list(words(4_000), 0, 1_000),
    cols: side,
    cursor: object({ row: integer(0, 1_000), col: integer(0, 1_000) }, 'ignored'),
    title: optional(name),
  },
  { strays: 'ignored' },
)
const exit = parser({ code: optional(integer(-256, 1_000)), signal: optional(integer(0, 256)) }, { strays: 'ignored' })
const rows = parser({ rows: list(words(4_000), 0, 5_000) })

export const readPicture = (value: unknown): Picture | undefined => attempt(() => defined(picture.parse(value)))
export const readScreen = (value: unknown): Screen | undefined => attempt(() => defined(screen.parse(value)))
export const readExit = (value: unknown): Exit | undefined => attempt(() => defined(exit.parse(value)))
export const readRows = (value: unknown): string[] | undefined => attempt(() => rows.parse({ rows: value }).rows)

const began = parser({ session: id }, { strays: 'ignored' })

export const readBegun = (value: unknown) => attempt(() => began.parse(value))

const kept = object({ id, project: line, title: line, started: moment, last: moment, turns: integer(0) }, 'ignored')
const project = object(
  {
    id,
    project: line,
    agents: list(name, 0, 100),
    bytes: integer(0),
    last: moment,
    words: optional(object({ by: name, text: line }, 'ignored')),
  },
  'ignored',
)
const keptList = parser({ rows: list(kept, 0, 500) })
const projectList = parser({ rows: list(project, 0, 500) })
const page = parser(
  {
    title: line,
    project: line,
    entries: list(recognised('an entry', placedEntryIn), 0, 1_000),
    older: boolean(),
    newer: boolean(),
  },
  { strays: 'ignored' },
)

export const readConversations = (value: unknown): KeptConversation[] | undefined =>
  attempt(() => keptList.parse({ rows: value }).rows)
export const readProjects = (value: unknown): KeptProject[] | undefined =>
  attempt(() => projectList.parse({ rows: value }).rows)
export const readPage = (value: unknown) => attempt(() => page.parse(value))

/** An entry of a kept conversation at its position. */
export function placedEntryIn(value: unknown): PlacedEntry | undefined {
  const { at, entry } = (value ?? {}) as { at?: unknown; entry?: unknown }
  return Number.isSafeInteger(at) && Number(at) >= 0 && isEntry(entry) ? { at: Number(at), entry: entry } : undefined
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
