import type { Script, ScriptWord } from './script-tree.ts'
import type { Word } from './simple-command.ts'

/** The value of a variable of the script: all texts that it can be, a pattern that is expanded to names, or an unknown text. */
export type VariableValue = { values: readonly string[]; glob?: true } | 'unknown'

export type Variables = ReadonlyMap<string, VariableValue>

type WordWorld = {
  home: string
  root: string
  cwds: readonly string[] | undefined
  variables: Variables
  /** Whether the script may have changed files before this word, so that a pattern may match different files by then. */
  changed: boolean
}

const mostValues = 32

/** A value that no shell splits into several words or treats as a pattern. */
const unsplit = /^[\w./:@%+=,-]+$/

/** Finds all texts that a word of a script can stand for. */
export function wordOf({ text, pieces }: ScriptWord, world: WordWorld): Word {
  let texts = ['']
  /** The beginning of a word whose whole text is not known; undefined if it may be several words. */
  let begins: string | undefined
  let unknown = false
  let split = false
  let glob = false
  let quotedPattern = false
  for (const piece of pieces) {
    let found: readonly string[] | undefined
    if (piece.type === 'text') {
      found = [piece.text]
      if (/[*?[\]\\]/.test(piece.text)) {
        if (piece.quoted) quotedPattern = true
        else if (/[*?]|\[.*\]/s.test(piece.text) || (piece.text.includes('[') && pieces.length > 1)) glob = true
        // Inside brackets, a quoted letter does not mean the same as an unquoted one.
        if (!piece.quoted && pieces.length > 1 && piece.text.replace(/\[[^[\]]*\]/g, '').includes('['))
          quotedPattern = true
      }
    } else if (piece.type === 'home') {
      found = [world.home]
      if (/[*?[\]\\]/.test(world.home)) quotedPattern = true
    } else {
      const held = piece.type === 'variable' ? variable(piece.name, world) : output(piece.script, world)
      const whole = pieces.every((one) => one === piece || (one.type === 'text' && one.text === ''))
      if (held !== 'unknown' && held.glob && whole && piece.quoted) return { text, values: held.values, glob: true }
      found = held === 'unknown' || held.glob ? undefined : held.values
      // An exit code is a number, which is never split.
      const number = piece.type === 'variable' && piece.name === '?'
      if (!piece.quoted && found && !found.every((value) => unsplit.test(value))) found = undefined
      if (!piece.quoted && !found && !number) split = true
      if (found?.some((value) => /[*?[\]\\]/.test(value))) quotedPattern = true
    }
    if (!found) {
      if (!unknown) begins = texts.length === 1 ? texts[0] : ''
      unknown = true
    } else if (!unknown) texts = texts.flatMap((before) => found.map((after) => before + after))
    if (texts.length > mostValues) return { text }
  }
  if (unknown) return split || glob ? { text } : { text, begins: begins ?? '' }
  // A quoted star next to a real one cannot be distinguished from it afterwards.
  if (glob && (quotedPattern || world.changed)) return { text }
  return glob ? { text, values: texts, glob } : { text, values: texts }
}

function variable(name: string, { home, cwds, variables }: WordWorld): VariableValue {
  const own = variables.get(name)
  if (own) return own
  if (name === 'HOME') return { values: [home] }
  if (name === 'PWD' && cwds) return { values: cwds }
  return 'unknown'
}

/** The output of `pwd` and of `git rev-parse --show-toplevel` is known. */
function output(script: Script, { cwds, root }: WordWorld): VariableValue {
  const [one] = script
  const [command] = one?.first.commands ?? []
  if (script.length !== 1 || one!.rest.length > 0 || one!.first.commands.length !== 1 || command?.type !== 'simple')
    return 'unknown'
  if (command.text === 'pwd' && cwds) return { values: cwds }
  if (command.text === 'git rev-parse --show-toplevel') return { values: [root] }
  return 'unknown'
}

/** Variables of the environment that may be shown, because none of them contains a key. */
export const isShown = (name: string) =>
  /^(?:\?|HOME|PATH|PWD|OLDPWD|SHELL|USER|LOGNAME|LANG|LC_\w+|TERM|NODE_ENV|CI|EDITOR|TMPDIR|HOSTNAME|COLUMNS|LINES)$/.test(
    name,
  )

/**
 * Names that a script may use for its own variables. A variable of the environment stays there when it is set, so only names count that
 * no program reads.
 */
export const isOwnName = (name: string) =>
  (/^[a-z][a-z0-9_]*$/.test(name) &&
    !/^(?:histchars|auto_resume|path|cdpath|fpath|manpath|prompt|status|.*_proxy|npm_.*|ld_.*)$/.test(name)) ||
  /^(?:[A-HJ-Z]|FILE|FILES|DIR|NAME|SRC|DEST|PATTERN|BASE|OUT)$/.test(name)

/** Variables that may be set for a program, with the values that they may have: they only change how its output looks. */
export function isLook(name: string, value: string): boolean {
  if (/^(?:LANG|LANGUAGE|LC_[A-Z]+)$/.test(name)) return /^[\w.@-]*$/.test(value)
  if (name === 'TZ') return /^[A-Za-z][\w+-]*(?:\/[A-Za-z][\w+-]*)?$/.test(value)
  if (/^(?:NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|CI)$/.test(name)) return /^\w*$/.test(value)
  return /^(?:PAGER|GIT_PAGER)$/.test(name) && value === 'cat'
}
