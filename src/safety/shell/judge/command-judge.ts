import type { ProjectBounds } from '../../path-location.ts'
import type { Finding, Inner, Reading, Touched } from '../shell-judgement.ts'
import type { Arguments, JudgedParts } from '../judged-parts.ts'
import type { State } from '../script-state.ts'
import type { Simple, Word } from '../simple-command.ts'
import { basename, isAbsolute, join } from 'node:path'
import { shellWord } from '../../../base/text/shell-word.ts'
import { is, isCarried, unclear, worse } from '../shell-judgement.ts'
import { allKnown } from '../programs/shell-programs.ts'
import { hasBin, npmScript } from '../package-scripts.ts'
import { literal, only, wordText } from '../simple-command.ts'
import { matchesOf, touching } from '../touched-paths.ts'

/** How often a command may be wrapped in another one. */
export const deepest = 5

/** Judges a script inside a command. */
type JudgeScript = (text: string, state: State, depth: number) => Promise<void>

/** Judges single commands by what they likely do. */
export class CommandJudge {
  #bounds: ProjectBounds
  #parts: JudgedParts
  #script: JudgeScript

  constructor(bounds: ProjectBounds, parts: JudgedParts, script: JudgeScript) {
    this.#bounds = bounds
    this.#parts = parts
    this.#script = script
  }

  async run(simple: Simple, depth: number): Promise<void> {
    const { text, cwds } = simple
    // If a pattern cannot be interpreted, it may expand to any words.
    const words = simple.words.map((word) => (word.glob && !isUnderstood(word, cwds) ? { text: word.text } : word))
    const first = words[0]!
    const argv = argumentsOf(words)
    if (!first.values || first.glob)
      return this.#parts.add(text, argv, is('dynamic', `${first.text} names the program only when it runs`))
    const readings = alternatives(words)
    if (!readings) return this.#parts.odd(text, 'it can mean too many things')
    for (const reading of readings) await this.#likely({ ...simple, words: reading }, argv, depth)
  }

  /** Judges a command on files that only the running program finds: no rule about files could see which of them it changes. */
  async #onFound(text: string, run: () => Promise<void>): Promise<void> {
    const from = this.#parts.all.length
    await run()
    const changes = this.#parts.all
      .slice(from)
      .some(
        ({ class: kind, paths }) => kind === 'edits' || paths.some(({ how }) => how === 'write' || how === 'remove'),
      )
    if (changes) this.#parts.odd(text, 'which files it changes is known only when it runs')
  }

  /** Judges a command by what it likely does. */
  async #likely(simple: Simple, argv: Arguments, depth: number): Promise<void> {
    const name = only(simple.words[0]) ?? ''
    const args = simple.words.slice(1)
    const world = { ...this.#bounds, cwds: simple.cwds }
    if (name.includes('/') && !standardBin.test(name)) {
      const { finding, paths } = await touching(literal(name), 'run', world)
      const more = await this.#paths({ ...finding, paths: leadingOut(args) }, world)
      const dark = args.find((word) => !word.values)
      return this.#parts.add(simple.text, argv, dark ? unclear(dark) : worse(finding, more.finding), [
        ...paths,
        ...more.paths,
      ])
    }
    const known = allKnown.get(basename(name))
    const reading = known ? known(args, { name: basename(name) }) : await this.#installed(name, args, simple.cwds)
    const { finding, paths } = await this.#paths(reading, world)
    const unseen = reading.unseen && isCarried(finding)
    this.#parts.add(simple.text, argv, unseen ? is('dynamic', finding.why) : finding, paths)
    for (const inner of reading.inner ?? []) await this.#inner(inner, simple, depth)
  }

  async #inner(inner: Inner, simple: Simple, depth: number): Promise<void> {
    if (depth >= deepest) return this.#parts.odd(simple.text, 'it contains too many commands inside commands')
    if ('script' in inner) return this.#script(inner.script, { cwds: simple.cwds, variables: new Map() }, depth + 1)
    if ('words' in inner) {
      if (inner.words.length === 0) return
      const run = () => this.run({ ...simple, words: inner.words, text: commandText(inner.words) }, depth + 1)
      return inner.onFound ? this.#onFound(simple.text, run) : run()
    }
    return this.#npm(inner.npm, inner.folder, simple, depth)
  }

  /** A script of package.json is judged by its text; a program of npx is judged only if it is installed. */
  async #npm(name: string, folder: Word | undefined, simple: Simple, depth: number): Promise<void> {
    const cwds = folder
      ? simple.cwds?.flatMap(
          (cwd) => folder.values?.map((value) => (isAbsolute(value) ? value : join(cwd, value))) ?? [],
        )
      : simple.cwds
    if (!cwds || cwds.length === 0)
      return this.#parts.odd(simple.text, 'the folder it runs in is known only when it runs')
    for (const cwd of cwds) {
      if (name.startsWith('npx ')) {
        const program = name.slice(4)
        if (!(await hasBin(program, cwd, this.#bounds.root)))
          this.#parts.add(
            simple.text,
            undefined,
            is('installing', `${program} is not installed here: it would be downloaded first`),
          )
        continue
      }
      const scripts = await npmScript(name, cwd, this.#bounds.root)
      if (!scripts) this.#parts.add(simple.text, undefined, is('unknown', `there is no script ${name} here to look at`))
      await this.#parts.runBy(argvOf(simple.words), async () => {
        for (const script of scripts ?? []) await this.#script(script, { cwds: [cwd], variables: new Map() }, depth + 1)
      })
    }
  }

  /** Judges an unknown program: it counts as the project's own if it is installed there. */
  async #installed(name: string, args: readonly Word[], cwds: readonly string[] | undefined): Promise<Reading> {
    const dark = args.find((word) => !word.values)
    if (dark) return unclear(dark)
    for (const cwd of cwds ?? [])
      if (await hasBin(name, cwd, this.#bounds.root))
        return { ...is('runs', 'it runs a program of the project'), paths: leadingOut(args) }
    return is('unknown', `termaite does not know the program ${name}`)
  }

  /** Guesses the effect of a command in a script that is not understood as a whole. */
  async guessed(simple: Simple, depth: number): Promise<void> {
    const argv = argumentsOf(simple.words)
    if (only(simple.words[0]) === undefined) return
    await this.#likely(simple, argv, depth)
  }

  async #paths(
    reading: Reading,
    world: ProjectBounds & { cwds: readonly string[] | undefined },
  ): Promise<{ finding: Finding; paths: Touched[] }> {
    let finding: Finding = { class: reading.class, why: reading.why }
    const paths: Touched[] = []
    for (const { word, how } of reading.paths ?? []) {
      const one = await touching(word, how, world)
      // The name of the first file says more than the program's own arguments.
      const names = one.finding.class === finding.class && finding.why === reading.why && finding.class !== 'reads'
      finding = names ? one.finding : worse(finding, one.finding)
      paths.push(...one.paths)
    }
    return { finding, paths }
  }
}

const isUnderstood = ({ values = [] }: Word, cwds: readonly string[] | undefined) =>
  cwds !== undefined && values.every((value) => cwds.every((cwd) => matchesOf(value, cwd) !== undefined))

const argvOf = (words: readonly Word[]) =>
  words.every((word) => only(word) !== undefined) ? words.map((word) => only(word)!) : undefined

const argumentsOf = (words: readonly Word[]): Arguments => {
  const argv = argvOf(words)
  return argv ? { argv } : { words: words.map(wordText) }
}

const commandText = (words: readonly Word[]) =>
  words.map((word) => (only(word) === undefined ? word.text : shellWord(only(word)!))).join(' ')

const mostReadings = 32

/** All readings of a command whose words stand for one of several texts. */
function alternatives(words: readonly Word[]): Word[][] | undefined {
  let readings: Word[][] = [[]]
  for (const word of words) {
    const choices = word.values ? word.values.map((value) => ({ ...word, values: [value] })) : [word]
    readings = readings.flatMap((before) => choices.map((one) => [...before, one]))
    if (readings.length > mostReadings) return undefined
  }
  return readings
}

/** The arguments whose text shows that they lead out of the working folder. */
const leadingOut = (args: readonly Word[]) =>
  args
    .filter((word) => word.values?.some((value) => /^(?:\/|~|\.\.(?:\/|$))|\/\.\.(?:\/|$)/.test(value)))
    .map((word) => ({ word, how: 'write' as const }))

/** A program of the system, given by its whole path. */
const standardBin = /^\/(?:usr\/)?s?bin\/[^/]+$/
