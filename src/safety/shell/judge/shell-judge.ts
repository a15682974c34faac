import type { ProjectBounds } from '../../path-location.ts'
import type { Judgement, Span } from '../shell-judgement.ts'
import type { AndOr, Command, Pipeline, Redirection, Script, ScriptWord } from '../script-tree.ts'
import type { After, State } from '../script-state.ts'
import type { Word } from '../simple-command.ts'
import { realpath } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { isSecretVariable } from '../../secret-patterns.ts'
import { CommandJudge, deepest } from './command-judge.ts'
import { JudgedParts } from '../judged-parts.ts'
import { is, isRiskyVariable, judgementOf } from '../shell-judgement.ts'
import { commandsIn } from '../rough-commands.ts'
import { only } from '../simple-command.ts'
import { isLook, isOwnName, isShown, wordOf } from '../shell-words.ts'
import { targetOf, touching } from '../touched-paths.ts'
import { readScript } from '../shell-script.ts'
import { variableValue, same, union } from '../script-state.ts'

export type ShellWorld = ProjectBounds & { cwd: string }

/**
 * Judges every part of a command before it runs, as far as possible: to describe it in a question, to apply rules that deny or ask, and
 * to ask more often. No judgement allows a command; only a wall, a rule or a person does.
 */
export async function judge(command: string, world: ShellWorld): Promise<Judgement> {
  const real = (path: string) => realpath(path).catch(() => path)
  const bounds: ProjectBounds = {
    root: await real(world.root),
    home: world.home,
    added: await Promise.all((world.added ?? []).map(real)),
    readable: await Promise.all((world.readable ?? []).map(real)),
    path: world.path,
  }
  const state: State = { cwds: [await real(world.cwd)], variables: new Map() }
  const walk = new ScriptWalk(bounds)
  await walk.overlapping(async () => {
    await walk.text(command, state, 0)
    return walk.hasBackground
  })
  return judgementOf(command, walk.parts.all)
}

/** Walks through a script, and tracks the folder and the variables from command to command. */
class ScriptWalk {
  readonly parts = new JudgedParts()
  /** Whether a command runs at the same time as the commands after it. */
  hasBackground = false
  /** Whether an earlier command may have changed files, so that a pattern may now match other files. */
  #changed = false
  #bounds: ProjectBounds
  #commands: CommandJudge

  constructor(bounds: ProjectBounds) {
    this.#bounds = bounds
    this.#commands = new CommandJudge(bounds, this.parts, (text, state, depth) => this.text(text, state, depth))
  }

  /**
   * Judges commands that may run at the same time or repeatedly: a change by one of them may affect a pattern of another. `work` returns
   * false if they turn out to run one after another.
   */
  async overlapping(work: () => Promise<boolean>): Promise<void> {
    const before = this.#changed
    const from = this.parts.all.length
    if (!(await work()) || this.#changed === before) return
    this.parts.all.length = from
    await work()
  }

  /** Records whether a part that was judged so far may change files. */
  #note(): void {
    this.#changed ||= this.parts.all.some(({ class: kind }) => kind !== 'reads')
  }

  async text(text: string, state: State, depth: number): Promise<void> {
    if (depth > deepest) return this.parts.odd(text, 'it contains too many commands inside commands')
    const read = readScript(text)
    if ('script' in read) {
      await this.#script(read.script, state, depth)
      return
    }
    await this.parts.at(depth, lineAround(text, read.at), async () =>
      this.parts.odd(text, `termaite cannot judge it: ${read.fault}`),
    )
    // The commands of such a script are guessed, for the text of the question and for rules that deny.
    let from = 0
    for (const words of commandsIn(text)) {
      const guess = words.map(({ text: one }) => one).join(' ')
      const found = text.indexOf(guess, from)
      const span = found < 0 ? undefined : { from: found, to: (from = found + guess.length) }
      await this.parts.at(depth, span, () => this.#commands.guessed({ text: guess, words, cwds: state.cwds }, depth))
    }
  }

  async #script(script: Script, state: State, depth: number): Promise<After> {
    let now: After = { well: state, any: state }
    for (const one of script) now = await this.#andOr(one, now.any, depth)
    return now
  }

  async #andOr({ first, rest, background }: AndOr, state: State, depth: number): Promise<After> {
    let now = await this.#pipeline(first, state, depth)
    for (const { sign, pipeline } of rest) {
      const next = await this.#pipeline(pipeline, sign === '&&' ? now.well : now.any, depth)
      now =
        sign === '&&'
          ? { well: next.well, any: union(now.any, next.any) }
          : { well: union(now.well, next.well), any: union(now.any, next.any) }
    }
    this.hasBackground ||= background
    return background ? { well: state, any: state } : now
  }

  async #pipeline({ commands, negated }: Pipeline, state: State, depth: number): Promise<After> {
    if (commands.length === 1) {
      const after = await this.#command(commands[0]!, state, depth)
      return negated ? { well: after.any, any: after.any } : after
    }
    // Each command of a pipe runs in a separate shell.
    await this.overlapping(async () => {
      for (const command of commands) await this.#command(command, state, depth)
      return true
    })
    return { well: state, any: state }
  }

  async #command(command: Command, state: State, depth: number): Promise<After> {
    for (const redirection of command.redirections)
      await this.parts.at(depth, spanOf(redirection), () => this.#redirection(redirection, state, depth))
    // The files of a group are opened before it runs, those of a simple command after its patterns were expanded.
    if (command.type !== 'simple') this.#note()
    const after = await this.#body(command, state, depth)
    this.#note()
    return after
  }

  async #body(command: Command, state: State, depth: number): Promise<After> {
    switch (command.type) {
      case 'simple':
        return this.parts.at(depth, spanOf(command), () => this.#simple(command, state, depth))
      case 'group': {
        const after = await this.#script(command.body, state, depth)
        return command.subshell ? { well: state, any: state } : after
      }
      case 'if': {
        let any = state
        for (const branch of command.branches) any = union(any, (await this.#script(branch, any, depth)).any)
        return { well: any, any }
      }
      case 'for': {
        const written = command.words.flatMap((word) => (word.braces ? [word, ...word.braces] : [word]))
        const words = await this.#words(written, state, depth)
        if (!isOwnName(command.name)) this.parts.odd(command.name, `${command.name} may decide what programs do`)
        const variables = new Map(state.variables).set(command.name, variableValue(words))
        const inside = { ...state, variables }
        let any: State = inside
        await this.overlapping(async () => {
          any = (await this.#script(command.body, inside, depth)).any
          return true
        })
        // A later round would begin with the state in which the first one ended.
        if (!same(any, inside)) this.parts.odd(command.name, 'each round of its loop begins in another place')
        return { well: { ...state, variables: any.variables }, any: { ...state, variables: any.variables } }
      }
    }
  }

  async #redirection({ text, sign, target }: Redirection, state: State, depth: number): Promise<void> {
    if (target.braces) return this.parts.odd(text, 'its file has braces that only bash expands')
    const [word] = await this.#words([target], state, depth)
    if (sign === '<<' || sign === '<<<') return
    if (word!.glob || !word!.values)
      return this.parts.odd(text, `the value of ${word!.text} is known only when it runs`)
    const world = { ...this.#bounds, cwds: state.cwds }
    const { finding, paths } = await touching(word!, sign === '<' ? 'read' : 'write', world)
    this.parts.add(text, undefined, finding.why === '' ? is('reads', 'its output is discarded') : finding, paths)
  }

  /** Judges the scripts and variables inside words, and determines the texts of the words. */
  async #words(words: readonly ScriptWord[], state: State, depth: number): Promise<Word[]> {
    for (const { text, pieces } of words)
      for (const piece of pieces) {
        if (piece.type === 'output') {
          if (piece.script.length === 0) this.parts.odd(text, 'it has an empty substitution')
          await this.#script(piece.script, state, depth)
        } else if (piece.type === 'variable' && !state.variables.has(piece.name) && !isShown(piece.name)) {
          if (isSecretVariable(piece.name))
            this.parts.add(text, undefined, is('secrets', `$${piece.name} holds a secret`))
          else this.parts.odd(text, `the value of ${text} is known only when it runs`)
        }
      }
    return words.map((word) => wordOf(word, { ...this.#bounds, ...state, changed: this.#changed }))
  }

  async #simple(command: Command & { type: 'simple' }, state: State, depth: number): Promise<After> {
    const words = await this.#words(command.words, state, depth)
    const values = await this.#words(
      command.sets.map(({ value }) => value),
      state,
      depth,
    )
    const sets = command.sets.map(({ name }, i) => ({ name, value: values[i]! }))
    if (words.length === 0) {
      const variables = new Map(state.variables)
      for (const { name, value } of sets) {
        // A pattern in an assignment is not expanded.
        if (isOwnName(name)) variables.set(name, variableValue([{ ...value, glob: false }]))
        else {
          variables.set(name, 'unknown')
          this.#sets(command.text, name, value)
        }
      }
      if (sets.length > 0) this.parts.add(command.text, undefined, is('reads', 'it sets a variable'))
      return { well: { ...state, variables }, any: { ...state, variables } }
    }
    for (const { name, value } of sets) this.#sets(command.text, name, value)
    const readings = [words]
    if (command.words.some(({ braces }) => braces)) {
      const expanded = command.words.flatMap((word) => word.braces ?? [word])
      readings.push(await this.#words(expanded, state, depth))
    }
    this.#note()
    for (const one of readings) await this.#commands.run({ text: command.text, words: one, cwds: state.cwds }, depth)
    return this.#moved(words, state)
  }

  #sets(text: string, name: string, value: Word): void {
    const known = only(value)
    if (known !== undefined && isLook(name, known)) return
    this.parts.add(
      text,
      undefined,
      isRiskyVariable(name)
        ? is('dynamic', `${name} decides what programs do`)
        : is('runs', `it sets ${name} for a program`),
    )
  }

  /** Follows `cd`; an unknown target means any folder. */
  #moved(words: readonly Word[], state: State): After {
    const name = only(words[0])
    // The names for a pattern in a variable were found in the previous folder.
    const variables = new Map(
      [...state.variables].map(([one, held]) => [one, held !== 'unknown' && held.glob ? 'unknown' : held] as const),
    )
    const lost = { cwds: undefined, variables }
    if (name === 'pushd' || name === 'popd' || name === 'chdir') return { well: lost, any: lost }
    if (name !== 'cd') return { well: state, any: state }
    const operands = words.slice(1).filter((word) => only(word) !== '--')
    const target = only(operands[0])
    if (operands.length !== 1 || target === undefined || target.startsWith('-') || !state.cwds)
      return { well: lost, any: lost }
    const folders: string[] = []
    for (const cwd of state.cwds) {
      const written = isAbsolute(target) ? join(target) : join(cwd, target)
      // A shell removes `..` from the path that it remembers; the system applies it to the target of a link.
      if (targetOf(written) !== written.replace(/(.)\/$/, '$1')) return { well: lost, any: lost }
      folders.push(written.replace(/(.)\/$/, '$1'))
    }
    const well = { cwds: folders, variables }
    return { well, any: union(state, well) }
  }
}

const spanOf = ({ text, at }: { text: string; at: number }): Span => ({ from: at, to: at + text.length })

/** The line around a character, without the blanks at its ends. */
function lineAround(text: string, at: number): Span {
  // A parser stops after text that it does not understand, which may be the end of the script.
  const before = Math.max(0, Math.min(at, text.trimEnd().length - 1))
  const from = text.lastIndexOf('\n', before - 1) + 1
  const end = text.indexOf('\n', before)
  const line = text.slice(from, end < 0 ? undefined : end)
  return { from: from + line.length - line.trimStart().length, to: from + line.trimEnd().length }
}
