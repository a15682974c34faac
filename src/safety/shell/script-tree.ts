/** The tree of a parsed script; `shell-script.ts` parses it, and the judges walk it. */

/** A piece of a word: literal text, a variable, or the output of a script. Quoted pieces are never split or expanded. */
export type Piece =
  | { type: 'text'; text: string; quoted: boolean }
  | { type: 'variable'; name: string; quoted: boolean }
  | { type: 'output'; script: Script; quoted: boolean }
  | { type: 'home' }

/** A word; `braces` are the words to which bash expands its braces, which stay as they are in dash. */
export type ScriptWord = { text: string; pieces: readonly Piece[]; braces?: readonly ScriptWord[] }

export type Redirection = { text: string; at: number; sign: '<' | '>' | '>>' | '<<' | '<<<'; target: ScriptWord }

export type Command =
  | {
      type: 'simple'
      text: string
      /** The position in the script at which the command begins. */
      at: number
      sets: readonly { name: string; value: ScriptWord }[]
      words: readonly ScriptWord[]
      redirections: readonly Redirection[]
    }
  | { type: 'group'; subshell: boolean; body: Script; redirections: readonly Redirection[] }
  | { type: 'for'; name: string; words: readonly ScriptWord[]; body: Script; redirections: readonly Redirection[] }
  | { type: 'if'; branches: readonly Script[]; redirections: readonly Redirection[] }

/** Commands joined by pipes. */
export type Pipeline = { commands: readonly Command[]; negated: boolean }

/** Pipelines joined by `&&` and `||`. */
export type AndOr = { first: Pipeline; rest: readonly { sign: '&&' | '||'; pipeline: Pipeline }[]; background: boolean }

export type Script = readonly AndOr[]
