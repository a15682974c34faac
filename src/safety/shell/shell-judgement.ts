import type { Word } from './simple-command.ts'

/**
 * The classes of a command's effects, from harmless to worst: reads · changes files of the project · runs the project's own programs ·
 * removes files of the project · and the classes for which every mode that asks at all asks.
 */
export const shellClasses = [
  'reads',
  'edits',
  'runs',
  'removes',
  'network',
  'outside',
  'unknown',
  'secrets',
  'installing',
  'settings',
  'system',
  'destructive',
  'dynamic',
] as const
export type ShellClass = (typeof shellClasses)[number]

export type Touch = 'read' | 'write' | 'remove' | 'run'

/** A file that a command touches: its path as written, and its target. */
export type Touched = { path: string; real: string; how: Touch }

/**
 * One simple command, wrapper, redirection or assignment, judged separately. If every word of it is known, `argv` has them; otherwise
 * `words` has the known words, and the others as they are written. `script` has the words of the command that runs a package script, for
 * the parts of that script. `span` is its place in the judged command, or the place of the command in there which runs it; undefined if
 * the place is not known.
 */
export type Part = {
  text: string
  argv?: string[]
  words?: readonly string[]
  script?: readonly string[]
  class: ShellClass
  why: string
  paths: Touched[]
  span?: Span
}

/** A range of a text, from one character up to before another. */
export type Span = { from: number; to: number }

/** Whether a rule about a package script also covers this part of it: a part that stays in the project. */
export const isCarried = ({ class: kind }: Finding): boolean =>
  kind === 'reads' || kind === 'edits' || kind === 'runs' || kind === 'removes' || kind === 'unknown'

export type Judgement = { command: string; parts: Part[]; worst: Part }

export type Finding = { class: ShellClass; why: string }

export function worse<T extends { class: ShellClass }>(a: T, b: T): T {
  return shellClasses.indexOf(b.class) > shellClasses.indexOf(a.class) ? b : a
}

export function judgementOf(command: string, parts: Part[]): Judgement {
  const nothing: Part = { text: '', class: 'reads', why: 'it does nothing', paths: [] }
  return { command, parts, worst: parts.length === 0 ? nothing : parts.reduce(worse) }
}

/** Variables that decide which program runs, what it loads or where it searches. */
const risky =
  /^(?:PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|CDPATH|GLOBIGNORE|SHELL|HOME|PWD|OLDPWD|TMPDIR|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESS|LESSOPEN|LESSCLOSE|MAKEFLAGS|MAKEFILES|CC|CXX|LD|AR|RUSTC|RUSTC_WRAPPER|RUSTFLAGS|GOFLAGS|CLASSPATH|_JAVA_OPTIONS|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|PERL5LIB|PERL5OPT|PERL5DB|RUBYLIB|RUBYOPT|NODE_OPTIONS|NODE_PATH|RIPGREP_CONFIG_PATH|SUDO_ASKPASS|SSH_ASKPASS|DISPLAY|HTTPS?_PROXY|ALL_PROXY|https?_proxy|all_proxy|(?:LD|DYLD|GIT|PYTHON|npm_config|NPM_CONFIG|YARN|PNPM|PIP|UV|CARGO|BUNDLE|DOCKER|KUBE|AWS|TERMAITE|BASH_FUNC)_\w*|PYTHON\w*)$/

export const isRiskyVariable = (name: string) => risky.test(name.replace(/\[.*$/, ''))

/** The effect of a program with its arguments, as far as it can be known before it runs. */
export type Reading = Finding & {
  paths?: readonly { word: Word; how: Touch }[]
  /** Commands that the program runs, each judged separately. */
  inner?: readonly Inner[]
  /** Whether the program changes files that only the program itself finds, so that a rule about files could not see them. */
  unseen?: true
}

export type Inner =
  | {
      words: readonly Word[]
      /** Another folder in which the command runs. */
      cwd?: Word
      /** Whether the command gets files that only the running program finds. */
      onFound?: true
    }
  | { script: string }
  | { npm: string; folder?: Word }

/** Interprets the arguments of a program. */
export type Known = (args: readonly Word[], call: { name: string }) => Reading

export const reads = (why = 'it only reads'): Reading => ({ class: 'reads', why })

export const is = (kind: ShellClass, why: string): Reading => ({ class: kind, why })

export const unclear = (word: Word): Reading => is('dynamic', `the value of ${word.text} is known only when it runs`)
