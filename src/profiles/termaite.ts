import type { Dialog, Journal, Journalled, ScreenFacts, Profile } from '../core/profile/profile.ts'
import type { Screen } from '../core/screen/terminal.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Question, Shown } from '../core/talk/question.ts'
import type { Loose } from './shared/jsonl.ts'
import type { Menu } from './shared/screen-parts.ts'
import { defined } from '../base/defined.ts'
import { join } from 'node:path'
import { sumOf, loose, numberOf, textOf } from './shared/jsonl.ts'
import { dialogOf, menuOf, trimmedScreen } from './shared/screen-parts.ts'
import { commandLine, option, options } from './shared/command-words.ts'

/**
 * The row below the composer and below every card: " agent · leash ask · native ● 100% · 0 tokens". For an agent that is limited only by
 * its own flags, the row shows "own flags" instead of the leash, or "flags" on a narrow screen.
 */
const status = String.raw`\n .*\b(?:leash (?:read|ask|edit|all)|flags)\b`

/** The last row or the last two rows of a card say how to answer: "1–4 or Enter answers · Esc: No" */
const asking = new RegExp(String.raw`^ .*\bEnter answers · Esc: .*(?:\n .*)?${status}`, 'm')

/** The rule below a page of a card's body: "── lines 1–12 of 40 · PgUp, PgDn turn the page ───" */
const pagePlace = /^── (lines? [\d–]+ of \d+) · .* ─+$/

const titles: readonly [RegExp, Question['about']][] = [
  [/ asks for permission/, 'permission'],
  [/^Do you trust this\?/, 'trust'],
  [/ needs a login/, 'login'],
  [/ cannot go on now/, 'quota'],
  [/ is silent/, 'silence'],
  [/ was refused permission/, 'denied'],
  [/^This would be shared with another vendor/, 'sharing'],
]

function dialog(screen: Screen): Dialog | undefined {
  const { rows } = trimmedScreen(screen)
  if (!asking.test(rows.join('\n'))) return undefined
  // Only rules begin in the first column of a card: the one above it contains its title, and one below a page of its body contains the
  // page number.
  const below = rows.findLastIndex((row) => pagePlace.test(row))
  const top = rows.findLastIndex((row) => /^── .+ ─+$/.test(row) && !pagePlace.test(row))
  const title = /^── (.+?) ─+$/.exec(rows[top] ?? '')?.[1]
  const page = below > top ? pagePlace.exec(rows[below]!)?.[1] : undefined
  // Rows below the options are ignored.
  const plain = rows.map((row) => (row.startsWith('──') || /^ *✎ /.test(row) ? '' : row.replace(/^ /, '')))
  const menu = page === undefined ? menuOf(plain, '›') : shortMenu(plain, (label) => isNo(label, rows))
  if (!menu || title === undefined) return undefined
  const [words = '', ...more] = paragraphs(plain.slice(top + 1, menu.from))
  const part = `Only ${page} are shown here. Read the rest in the agent's own terminal before you allow it.`
  const asked = dialogOf(menu, {
    about: titles.find(([known]) => known.test(title))?.[1] ?? 'choice',
    text: words.replaceAll('\n', ' '),
    shows: [...more.map(shown), ...(page === undefined ? [] : [{ type: 'text' as const, text: part }])],
    numbers: true,
    decline: ['Escape'],
    grants: (label) => label.split(' covers: ')[1],
    meaning: ({ label, grants }) => (isNo(label, rows) ? 'no' : grants === undefined ? 'once' : 'always'),
  })
  const options = asked.question.options.map((one) => ({ ...one, label: one.label.split(' covers: ')[0]! }))
  return { ...asked, question: { ...asked.question, options } }
}

/** Whether an option is its card's "no": it is Escape's answer in the hint below the card, or is worded as a refusal. */
function isNo(label: string, rows: readonly string[]): boolean {
  const escape = rows.findLast((row) => escapeHint.test(row)) ?? ''
  return escapeHint.exec(escape)?.[1] === label.split(' covers: ')[0] || /^(?:No\b|Do not\b)/.test(label)
}

const escapeHint = /\bEnter answers · Esc: (.*\S)/

/** "Yes, always in this project", "Yes, trust them as they are now": every yes except "Yes, once". */
const mayLast = /^Yes(?!, once$)/

/**
 * The options of a card that is read page by page, which are side by side: "› 1 Yes, once 2 Yes, always 3 No". Only the chosen option
 * shows its scope, so a yes that may last can be given only in the terminal.
 */
function shortMenu(rows: readonly string[], refuses: (label: string) => boolean): Menu | undefined {
  const isRow = (row: string | undefined) => row !== undefined && /^(?: |›) \d /.test(row)
  const pointed = rows.findLastIndex((row) => /^(?:.* )?› \d /.test(row) && isRow(row))
  if (pointed < 0) return undefined
  let [from, to] = [pointed, pointed]
  while (isRow(rows[from - 1])) from--
  while (isRow(rows[to + 1])) to++
  const options = rows.slice(from, to + 1).flatMap((row) =>
    row.split(/(?:^| )[› ] (?=\d )/).flatMap((text) => {
      const [, id, label] = /^(\d) (.*?) *$/.exec(text) ?? []
      return id === undefined ? [] : [{ id, label: label! }]
    }),
  )
  const consents = options.some(({ label }) => refuses(label))
  const offered = options.filter(({ label }) => !consents || refuses(label) || !mayLast.test(label))
  return { options: offered, numbered: true, at: 0, from, to }
}

/**
 * Parses "$ touch made.txt", and the folder below it. A line with a dangerous part begins with "! " instead of "$ " or blanks; the folder
 * below distinguishes such a command from other text.
 */
function shown(text: string): Shown {
  const [, first, rest, cwd] = /^(?:\$ |! (?=[^]*\n +in \/))(.*)([^]*?)(?:\n +in (\/.*))?$/.exec(text) ?? []
  if (first === undefined) return { type: 'text', text }
  return defined({ type: 'command', command: first + rest!.replaceAll(/\n(?:! | {1,2})/g, '\n'), cwd })
}

function paragraphs(rows: readonly string[]): string[] {
  const text = rows.map((row) => row.trimEnd().replace(/^ (?! )/, '')).join('\n')
  return text
    .split(/\n{2,}/)
    .map((part) => part.replaceAll(/^\n+|\n+$/g, ''))
    .filter((part) => part !== '')
}

/** The hint in an empty composer; a narrow screen shortens it. */
const placeholder = /^Ask anything · \/ /

/** The rule above the composer is bare, or says how much of its text or suggestions is hidden. */
const inputRule = /^──(?:─*| (?:[↑↓] \d+ more.*|\d+ of \d+) ─+)\s*$/

function composer({ rows }: Screen): string | undefined {
  if (asking.test(rows.join('\n'))) return undefined
  const last = rows.findLastIndex((row) => row.trim() !== '')
  const top = rows.findLastIndex((row) => inputRule.test(row))
  if (top < 0) return undefined
  const text = rows
    .slice(top + 1, last)
    .map((row) => row.replace(/^ /, '').trimEnd())
    .join('\n')
    .trim()
  return placeholder.test(text) ? '' : text
}

/** Our own log of the project, which contains the turns of several sessions. */
const journal: Journal = {
  folder: ({ home, env }) => join(env.TERMAITE_HOME || join(home, '.termaite'), 'projects'),
  file: /^[^/]+\/history\.jsonl$/,
  prompt: ({ type, text }) => (type === 'prompt' ? textOf(text) : undefined),
  turn(since) {
    const turn = since.filter((entry) => entry.turn === since[0]!.turn)
    const outcome = loose(turn.find(({ type }) => type === 'end')?.outcome)
    const usage = sumOf(
      turn
        .filter(({ type }) => type === 'usage')
        .map(({ input, output, cached, cost }) => ({
          input: numberOf(input),
          output: numberOf(output),
          cached: numberOf(cached),
          cost: typeof cost === 'number' ? cost : undefined,
        })),
    )
    const answer = outcome.ok === true ? textOf(turn.findLast(({ type }) => type === 'reply')?.text) : undefined
    return defined({
      ...(outcome.ok === false ? wrongIn(turn, loose(outcome.failure)) : { answer }),
      usage,
      over: outcome.ok !== undefined,
    })
  },
}

/** The failure of a turn; a turn that was only stopped may be resumed. */
function wrongIn(turn: readonly Loose[], failure: Loose): Pick<Journalled, 'fault' | 'failure'> {
  if (failure.kind !== 'aborted') return { failure: failureOf(failure) }
  const message = textOf(failure.message) ?? ''
  const unwaited = turn.some(({ type, question }) => type === 'question' && loose(question).about === 'quota')
  if (!unwaited) return { fault: message }
  const tried = turn.findLast(({ type }) => type === 'attempt')
  return { failure: tried ? failureOf(loose(tried.failure)) : { kind: 'quota', message } }
}

function failureOf({ kind, message, retryAt }: Loose): Failure {
  const until = typeof retryAt === 'number' ? { retryAt } : {}
  return { kind: kind as Failure['kind'], message: textOf(message) ?? '', ...until }
}

/** Our own chat in a terminal, with one of our agents at work in it; `program` is the command that starts termaite. */
function termaiteScreen(program: string, agent: string): ScreenFacts {
  return {
    // A separate session: a slot's conversation is not the project's.
    command: ({ leash, resume, thread }) => {
      const session = resume ?? thread
      return commandLine(
        // The coordinator does the thinking; this agent only follows instructions.
        program,
        option('--agent', agent),
        `--mode agent --think off --leash ${leash}`,
        option('--session', session),
      )
    },
    leashes: {
      read: 'reads and searches',
      ask: 'asks before it acts',
      edit: 'edits files in the project without asking; asks before anything else',
      all: 'runs everything without asking',
    },
    names: true,
    reader: {
      // " ⠋ native · 2 s · Esc cancels", right above the composer; "waits for your answer" is above a card.
      busy: /^ [\u2800-\u28ff] (?!.*waits for your answer).*\n──/m,
      asking,
      idle: new RegExp(String.raw`^ .*${status}`, 'm'),
    },
    dialog,
    composer,
    clear: ['Ctrl+C'],
    interrupt: ['Escape'],
    journal,
    quit: ['Ctrl+D'],
  }
}

/**
 * The profile of our own chat, which lets our own agent work in a slot that a person can watch. It is in no list of CLIs; `program` is
 * the command that starts termaite, `vendor` the provider of its model.
 */
export function termaite(program: string, agent: string, vendor: string): Profile {
  const screen = termaiteScreen(program, agent)
  return {
    name: 'termaite',
    title: 'termaite',
    vendor,
    words: ['termaite'],
    window: 200_000,
    command: screen.command,
    leashes: screen.leashes,
    speaks: () => false,
    reaches: options('--add-dir='),
    resumes: true,
    failure: () => undefined,
    install: 'npm install -g termaite',
    login: 'termaite setup',
    version: 'termaite --version',
    traces: { files: ['.termaite/settings.json'], env: [] },
    keys: [],
    projectFiles: ['.termaite/settings.json'],
    // termaite itself asks whether the folder is trusted.
    guard: () => ({}),
    screen,
  }
}
