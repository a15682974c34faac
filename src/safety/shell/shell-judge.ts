import type { ProjectBounds } from '../path-location.ts'
import type { Finding, Inner, Judgement, Part, Reading, Span, Touched } from './shell-judgement.ts'
import type { AndOr, Command, Pipeline, Redirection, Script, ScriptWord } from './shell-script.ts'
import type { Understood } from './reading/program-table.ts'
import type { After, State } from './script-state.ts'
import type { Simple, Word } from './simple-command.ts'
import { realpath } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { isSecretVariable } from '../secret-patterns.ts'
import { is, isRiskyVariable, judgementOf, unclear, worse } from './shell-judgement.ts'
import { allKnown } from './programs/shell-programs.ts'
import { commandsIn } from './rough-commands.ts'
import { hasBin, npmScript } from './package-scripts.ts'
import { literal, only, quoted } from './simple-command.ts'
import { isLook, isOwnName, isShown, wordOf } from './shell-words.ts'
import { readingTree, targetOf, touching } from './touched-paths.ts'
import { readScript } from './shell-script.ts'
import { heldBy, same, union } from './script-state.ts'
import { standardBin, understoodCommand } from './understood-command.ts'

export type ShellWorld = ProjectBounds & { cwd: string }

const deepest = 5

/**
 * Judges every part of a command before it runs. `reads` is certain: every word is understood by a table, and the whole
 * script is of a kind that bash and dash read alike. The other classes say what is likely, as words for a question.
 */
export async function judge(command: string, world: ShellWorld): Promise<Judgement> {
  const real = (path: string) => realpath(path).catch(() => path)
  const bounds: ProjectBounds = {
    root: await real(world.root),
    home: world.home,
    readable: await Promise.all((world.readable ?? []).map(real)),
    path: world.path,
  }
  const bench = new Bench(bounds)
  await bench.text(command, { cwds: [await real(world.cwd)], variables: new Map() }, 0)
  return judgementOf(command, bench.parts)
}

class Bench {
  readonly parts: Part[] = []
  #bounds: ProjectBounds
  /** The words of the outermost command whose package script is being judged. */
  #runner: readonly string[] | undefined
  /** The place of the outermost command that is being judged. */
  #span: Span | undefined

  constructor(bounds: ProjectBounds) {
    this.#bounds = bounds
  }

  async text(text: string, state: State, depth: number): Promise<void> {
    if (depth > deepest) return this.#odd(text, 'it is wrapped too often to be read')
    const read = readScript(text)
    if ('script' in read) {
      await this.#script(read.script, state, depth)
      return
    }
    await this.#at(depth, lineAround(text, read.at), async () => this.#odd(text, `it is not understood: ${read.fault}`))
    // The commands of such a script are guessed, for the words of the question and for rules that deny.
    let from = 0
    for (const words of commandsIn(text)) {
      const guess = words.map(({ text: one }) => one).join(' ')
      const found = text.indexOf(guess, from)
      const span = found < 0 ? undefined : { from: found, to: (from = found + guess.length) }
      await this.#at(depth, span, () => this.#guessed({ text: guess, words, cwds: state.cwds }, depth))
    }
  }

  /** Judges a part of the command itself at its place; parts of scripts inside it have the place of their command. */
  async #at<T>(depth: number, span: Span | undefined, work: () => Promise<T>): Promise<T> {
    const outer = this.#span
    if (depth === 0 && (outer === undefined || span !== undefined)) this.#span = span
    try {
      return await work()
    } finally {
      this.#span = outer
    }
  }

  async #script(script: Script, state: State, depth: number, fed = false): Promise<After> {
    let now: After = { well: state, any: state }
    for (const one of script) now = await this.#andOr(one, now.any, depth, fed)
    return now
  }

  async #andOr({ first, rest, background }: AndOr, state: State, depth: number, fed: boolean): Promise<After> {
    let now = await this.#pipeline(first, state, depth, fed)
    for (const { sign, pipeline } of rest) {
      const next = await this.#pipeline(pipeline, sign === '&&' ? now.well : now.any, depth, fed)
      now =
        sign === '&&'
          ? { well: next.well, any: union(now.any, next.any) }
          : { well: union(now.well, next.well), any: union(now.any, next.any) }
    }
    return background ? { well: state, any: state } : now
  }

  async #pipeline({ commands, negated }: Pipeline, state: State, depth: number, fed: boolean): Promise<After> {
    if (commands.length === 1) {
      const after = await this.#command(commands[0]!, state, depth, fed)
      return negated ? { well: after.any, any: after.any } : after
    }
    // Each command of a pipe runs in a shell of its own.
    for (const [i, command] of commands.entries()) await this.#command(command, state, depth, fed || i > 0)
    return { well: state, any: state }
  }

  async #command(command: Command, state: State, depth: number, fed: boolean): Promise<After> {
    // A search looks through the folder where its input is a device, so only a pipe counts.
    const own = fed && !command.redirections.some(({ sign }) => sign.startsWith('<'))
    for (const redirection of command.redirections)
      await this.#at(depth, spanOf(redirection), () => this.#redirection(redirection, state, depth))
    switch (command.type) {
      case 'simple':
        return this.#at(depth, spanOf(command), () => this.#simple(command, state, depth, own))
      case 'group': {
        const after = await this.#script(command.body, state, depth, own)
        return command.subshell ? { well: state, any: state } : after
      }
      case 'if': {
        let any = state
        for (const branch of command.branches) any = union(any, (await this.#script(branch, any, depth, own)).any)
        return { well: any, any }
      }
      case 'for': {
        const written = command.words.flatMap((word) => (word.braces ? [word, ...word.braces] : [word]))
        const words = await this.#words(written, state, depth)
        if (!isOwnName(command.name)) this.#odd(command.name, `${command.name} may decide what programs do`)
        const variables = new Map(state.variables).set(command.name, heldBy(words))
        const inside = { ...state, variables }
        const { any } = await this.#script(command.body, inside, depth, own)
        // A later round would begin where the first one ended.
        if (!same(any, inside)) this.#odd(command.name, 'each round of its loop begins in another place')
        return { well: { ...state, variables: any.variables }, any: { ...state, variables: any.variables } }
      }
    }
  }

  async #redirection({ text, sign, target }: Redirection, state: State, depth: number): Promise<void> {
    if (target.braces) return this.#odd(text, 'its file has braces that only bash expands')
    const [word] = await this.#words([target], state, depth)
    if (sign === '<<' || sign === '<<<') return
    if (word!.glob || !word!.values) return this.#odd(text, `${word!.text} is only known when it runs`)
    const world = { ...this.#bounds, cwds: state.cwds }
    const { finding, paths } = await touching(word!, sign === '<' ? 'read' : 'write', world)
    this.#add(text, undefined, finding.why === '' ? is('reads', 'it keeps nothing') : finding, paths)
  }

  /** Judges the scripts and variables inside words, and finds the texts of the words. */
  async #words(words: readonly ScriptWord[], state: State, depth: number): Promise<Word[]> {
    for (const { text, pieces } of words)
      for (const piece of pieces) {
        if (piece.type === 'output') {
          if (piece.script.length === 0) this.#odd(text, 'it has an empty substitution')
          await this.#script(piece.script, state, depth)
        } else if (piece.type === 'variable' && !state.variables.has(piece.name) && !isShown(piece.name)) {
          if (isSecretVariable(piece.name)) this.#add(text, undefined, is('secrets', `$${piece.name} holds a secret`))
          else this.#odd(text, `${text} is only known when it runs`)
        }
      }
    return words.map((word) => wordOf(word, { ...this.#bounds, ...state }))
  }

  async #simple(command: Command & { type: 'simple' }, state: State, depth: number, fed: boolean): Promise<After> {
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
        if (isOwnName(name)) variables.set(name, heldBy([value]))
        else {
          variables.set(name, 'unknown')
          this.#sets(command.text, name, value)
        }
      }
      if (sets.length > 0) this.#add(command.text, undefined, is('reads', 'it sets a variable'))
      return { well: { ...state, variables }, any: { ...state, variables } }
    }
    for (const { name, value } of sets) this.#sets(command.text, name, value)
    await this.#run({ text: command.text, words, cwds: state.cwds }, depth, fed)
    if (command.words.some(({ braces }) => braces)) {
      const expanded = command.words.flatMap((word) => word.braces ?? [word])
      const more = await this.#words(expanded, state, depth)
      await this.#run({ text: command.text, words: more, cwds: state.cwds }, depth, fed)
    }
    return this.#moved(words, state)
  }

  #sets(text: string, name: string, value: Word): void {
    const known = only(value)
    if (known !== undefined && isLook(name, known)) return
    this.#add(
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
    const lost = { ...state, cwds: undefined }
    if (name === 'pushd' || name === 'popd' || name === 'chdir') return { well: lost, any: lost }
    if (name !== 'cd') return { well: state, any: state }
    const operands = words.slice(1).filter((word) => only(word) !== '--')
    const target = only(operands[0])
    if (operands.length !== 1 || target === undefined || target.startsWith('-') || !state.cwds)
      return { well: lost, any: lost }
    const folders: string[] = []
    for (const cwd of state.cwds) {
      const written = isAbsolute(target) ? join(target) : join(cwd, target)
      // A shell takes `..` away from the path that it remembers, the system from where a link led.
      if (targetOf(written) !== written.replace(/(.)\/$/, '$1')) return { well: lost, any: lost }
      folders.push(written.replace(/(.)\/$/, '$1'))
    }
    const well = { ...state, cwds: folders }
    return { well, any: union(state, well) }
  }

  async #run(simple: Simple, depth: number, fed: boolean): Promise<void> {
    const { words, text } = simple
    const first = words[0]!
    const argv = argvOf(words)
    if (!first.values || first.glob)
      return this.#add(text, argv, is('dynamic', `${first.text} names the program only when it runs`))
    const readings = alternatives(words)
    if (!readings) return this.#odd(text, 'it can mean too many things')
    for (const reading of readings) {
      const understood = understoodCommand(reading, simple.cwds, fed, this.#bounds)
      if (typeof understood === 'string') await this.#likely({ ...simple, words: reading }, argv, understood, depth)
      else await this.#reads({ ...simple, words: reading }, argv, understood, depth, fed)
    }
  }

  async #reads(
    simple: Simple,
    argv: string[] | undefined,
    read: Understood,
    depth: number,
    fed: boolean,
  ): Promise<void> {
    const world = { ...this.#bounds, cwds: simple.cwds }
    let finding: Finding = is('reads', 'it only looks')
    const paths: Touched[] = []
    const note = (one: { finding: Finding; paths: Touched[] }) => {
      finding = worse(finding, one.finding)
      paths.push(...one.paths)
    }
    for (const word of read.files) note(await touching(word, 'read', world))
    for (const word of read.named ?? []) note(await touching(word, 'look', world))
    for (const word of read.writes ?? []) note(await touching(word, 'write', world))
    for (const word of read.removes ?? []) note(await touching(word, 'remove', world))
    for (const word of read.trees) note(await readingTree(word, world))
    this.#add(simple.text, argv, finding, paths)
    if (depth >= deepest && (read.inner || read.script !== undefined))
      return this.#odd(simple.text, 'it is wrapped too often to be read')
    if (read.script !== undefined) await this.text(read.script, { cwds: simple.cwds, variables: new Map() }, depth + 1)
    if (read.inner) await this.#run({ ...simple, words: read.inner, text: textOf(read.inner) }, depth + 1, fed)
  }

  /** A command that no table understands: what it likely does, and never that it reads. */
  async #likely(simple: Simple, argv: string[] | undefined, why: string, depth: number): Promise<void> {
    const name = only(simple.words[0]) ?? ''
    const args = simple.words.slice(1)
    const world = { ...this.#bounds, cwds: simple.cwds }
    if (name.includes('/') && !standardBin.test(name)) {
      const { finding, paths } = await touching(literal(name), 'run', world)
      const more = await this.#paths({ ...finding, paths: leadingOut(args) }, world)
      const dark = args.find((word) => !word.values)
      return this.#add(simple.text, argv, dark ? unclear(dark) : worse(finding, more.finding), [
        ...paths,
        ...more.paths,
      ])
    }
    const known = allKnown.get(basename(name))
    const reading = known
      ? known(args, { name: basename(name), fed: false })
      : await this.#installed(name, args, why, simple.cwds)
    const { finding, paths } = await this.#paths(reading, world)
    this.#add(simple.text, argv, uncertain(finding, why), paths)
    for (const inner of reading.inner ?? []) await this.#inner(inner, simple, depth)
  }

  async #inner(inner: Inner, simple: Simple, depth: number): Promise<void> {
    if (depth >= deepest) return this.#odd(simple.text, 'it is wrapped too often to be read')
    if ('script' in inner) return this.text(inner.script, { cwds: simple.cwds, variables: new Map() }, depth + 1)
    if ('words' in inner) {
      if (inner.words.length === 0) return
      return this.#run({ ...simple, words: inner.words, text: textOf(inner.words) }, depth + 1, true)
    }
    return this.#npm(inner.npm, inner.folder, simple, depth)
  }

  /** A script of package.json is judged by its text; a program of npx only if it is installed. */
  async #npm(name: string, folder: Word | undefined, simple: Simple, depth: number): Promise<void> {
    const cwds = folder
      ? simple.cwds?.flatMap(
          (cwd) => folder.values?.map((value) => (isAbsolute(value) ? value : join(cwd, value))) ?? [],
        )
      : simple.cwds
    if (!cwds || cwds.length === 0) return this.#odd(simple.text, 'where it runs is only known then')
    for (const cwd of cwds) {
      if (name.startsWith('npx ')) {
        const program = name.slice(4)
        if (!(await hasBin(program, cwd, this.#bounds.root)))
          this.#add(simple.text, undefined, is('installing', `${program} is not installed here: it would be fetched`))
        continue
      }
      const scripts = await npmScript(name, cwd, this.#bounds.root)
      if (!scripts) this.#add(simple.text, undefined, is('unknown', `there is no script ${name} here to look at`))
      const outer = this.#runner
      if (simple.words.every((word) => only(word) !== undefined))
        this.#runner ??= simple.words.map((word) => only(word)!)
      for (const script of scripts ?? []) await this.text(script, { cwds: [cwd], variables: new Map() }, depth + 1)
      this.#runner = outer
    }
  }

  /** Judges an unknown program: it is the project's own if it is installed there. */
  async #installed(
    name: string,
    args: readonly Word[],
    why: string,
    cwds: readonly string[] | undefined,
  ): Promise<Reading> {
    const dark = args.find((word) => !word.values)
    if (dark) return unclear(dark)
    for (const cwd of cwds ?? [])
      if (await hasBin(name, cwd, this.#bounds.root))
        return { ...is('runs', 'it runs a program of the project'), paths: leadingOut(args) }
    return is('unknown', why)
  }

  /** A command in a script that is not understood as a whole: guessed, and never a read. */
  async #guessed(simple: Simple, depth: number): Promise<void> {
    const argv = argvOf(simple.words)
    if (only(simple.words[0]) === undefined) return
    await this.#likely(simple, argv, 'it stands in a script that is not understood', depth)
  }

  async #paths(
    reading: Reading,
    world: ProjectBounds & { cwds: readonly string[] | undefined },
  ): Promise<{ finding: Finding; paths: Touched[] }> {
    let finding: Finding = { class: reading.class, why: reading.why }
    const paths: Touched[] = []
    for (const { word, how } of reading.paths ?? []) {
      const one = await touching(word, how, world)
      finding = worse(finding, one.finding)
      paths.push(...one.paths)
    }
    return { finding, paths }
  }

  #add(text: string, argv: string[] | undefined, { class: kind, why }: Finding, paths: Touched[] = []): void {
    const script = this.#runner
    this.parts.push(defined({ text, argv, script, class: kind, why, paths, span: this.#span }))
  }

  #odd(text: string, why: string): void {
    this.#add(text, undefined, is('dynamic', why))
  }
}

const spanOf = ({ text, at }: { text: string; at: number }): Span => ({ from: at, to: at + text.length })

/** The line around a character, without the blanks at its ends. */
function lineAround(text: string, at: number): Span {
  // A reader stops behind what it does not understand, which may be the end of the text.
  const before = Math.max(0, Math.min(at, text.trimEnd().length - 1))
  const from = text.lastIndexOf('\n', before - 1) + 1
  const end = text.indexOf('\n', before)
  const line = text.slice(from, end < 0 ? undefined : end)
  return { from: from + line.length - line.trimStart().length, to: from + line.trimEnd().length }
}

const argvOf = (words: readonly Word[]) =>
  words.every((word) => only(word) !== undefined) ? words.map((word) => only(word)!) : undefined

const textOf = (words: readonly Word[]) =>
  words.map((word) => (only(word) === undefined ? word.text : quoted(only(word)!))).join(' ')

/** A command that no table understands is at best a program that is run, because it may do more than it seems to. */
function uncertain(finding: Finding, why: string): Finding {
  if (finding.class === 'reads') return is('unknown', why)
  if (finding.class === 'removes') return is('unknown', `${finding.why}: ${why}`)
  return finding.class === 'edits' ? is('runs', finding.why) : finding
}

const mostReadings = 32

/** Every way to read a command whose words stand for one of several texts. */
function alternatives(words: readonly Word[]): Word[][] | undefined {
  let readings: Word[][] = [[]]
  for (const word of words) {
    const choices = word.values ? word.values.map((value) => ({ ...word, values: [value] })) : [word]
    readings = readings.flatMap((before) => choices.map((one) => [...before, one]))
    if (readings.length > mostReadings) return undefined
  }
  return readings
}

/** Arguments that name something outside, as far as it shows. */
const leadingOut = (args: readonly Word[]) =>
  args
    .filter((word) => word.values?.some((value) => /^(?:\/|~|\.\.(?:\/|$))|\/\.\.(?:\/|$)/.test(value)))
    .map((word) => ({ word, how: 'write' as const }))
