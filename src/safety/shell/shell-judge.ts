import type { ProjectBounds } from '../path-location.ts'
import type { Finding, Inner, Judgement, Part, Reading, ShellClass, Touched } from './shell-judgement.ts'
import type { Simple, Word } from './simple-command.ts'
import type { Step } from './command-walk.ts'
import { readdir, realpath } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { isSecretVariable } from '../secret-patterns.ts'
import { is, isRiskyVariable, judgementOf, unclear, worse } from './shell-judgement.ts'
import { hidesCommand, splitsWord } from './hidden-commands.ts'
import { allKnown } from './programs/shell-programs.ts'
import { parsed, plainWords } from './shell-parser.ts'
import { hasBin, npmScript } from './package-scripts.ts'
import { literal, only, quoted, said } from './simple-command.ts'
import { touching } from './touched-paths.ts'
import { variablesOf } from './shell-words.ts'
import { Walk } from './command-walk.ts'

export type ShellWorld = ProjectBounds & { cwd: string }

const deepest = 5
const longest = 64 * 1024

/** Judges every part of a command before it runs. A part that cannot be read is `dynamic`, which is asked about. */
export async function judge(command: string, world: ShellWorld): Promise<Judgement> {
  const real = (path: string) => realpath(path).catch(() => path)
  const bounds: ProjectBounds = {
    root: await real(world.root),
    home: world.home,
    readable: await Promise.all((world.readable ?? []).map(real)),
  }
  const bench = new Bench(bounds)
  await bench.script(command, [await real(world.cwd)], 0)
  return judgementOf(command, bench.parts)
}

class Bench {
  readonly parts: Part[] = []
  #bounds: ProjectBounds
  /** The words of the outermost command whose package script is being judged. */
  #runner: readonly string[] | undefined

  constructor(bounds: ProjectBounds) {
    this.#bounds = bounds
  }

  async script(text: string, cwds: readonly string[] | undefined, depth: number): Promise<void> {
    if (depth > deepest) return this.#odd(text, 'it is wrapped too often to be read')
    if (text.length > longest) return this.#odd(text, 'it is too long to be read')
    // Other control characters may mean something to a terminal or shell that the parser does not see.
    if (/[\0-\x08\x0b-\x1f\x7f\u2028\u2029\u00a0\u3000\ufeff]/.test(text))
      return this.#odd(text, 'it has invisible characters')
    // A shell removes a backslash with its line end before it reads on: `$\⏎(` is `$(` to it, but not to the parser.
    if (/\S\\\n/.test(text)) return this.#odd(text, 'a word of it goes on in the next line')
    const words = plainWords(text)
    if (words) return this.#simple({ text: text.trim(), words: words.map(literal), cwds, fed: false }, depth)
    const read = await parsed(text, async (root) => {
      if (root.hasError) return this.#odd(text, 'it could not be parsed')
      if (splitsWord(root)) return this.#odd(text, 'where its words end is not clear')
      if (hidesCommand(root)) return this.#odd(text, 'it may hide a command where none can be read')
      const step = (one: Step) => this.#step(one, depth)
      const walk = new Walk({ ...this.#bounds, sources: variablesOf(root), step })
      await walk.all(
        root.namedChildren.filter((node) => node !== null),
        cwds,
      )
      return true
    })
    if (read === undefined && this.parts.length === 0) this.#odd(text, 'it could not be parsed')
  }

  async #step(step: Step, depth: number): Promise<void> {
    switch (step.type) {
      case 'simple':
        return this.#simple(step.simple, depth)
      case 'redirect': {
        const { redirect, cwds } = step
        const { finding, paths } = await touching(redirect.target, redirect.how, { ...this.#bounds, cwds })
        return this.#add(
          redirect.text,
          undefined,
          finding.why === '' ? is('reads', 'it keeps nothing') : finding,
          paths,
        )
      }
      case 'sets': {
        const risky = step.names.find(isRiskyVariable)
        return this.#add(
          step.text,
          undefined,
          risky ? is('dynamic', `${risky} decides what programs do`) : is('reads', 'it sets a variable'),
        )
      }
      case 'prints':
        return this.#add(step.text, undefined, is('secrets', 'it shows variables, keys too'))
      case 'odd':
        return this.#odd(step.text, step.why)
    }
  }

  async #simple(simple: Simple, depth: number): Promise<void> {
    const { words, text, cwds } = simple
    const first = words[0]!
    const argv = words.every((word) => only(word) !== undefined) ? words.map((word) => only(word)!) : undefined
    const hidden = words.map((word) => secretVariable(word.text)).find((name) => name !== undefined)
    if (hidden) this.#add(text, undefined, is('secrets', `$${hidden} holds a secret`))
    if (!first.values || first.glob)
      return this.#add(text, argv, is('dynamic', `${first.text} names the program only when it runs`))
    if (setters.test(said(first)) && words.some((word) => isRiskyVariable(said(word).replace(/=.*/s, ''))))
      return this.#add(text, argv, is('dynamic', 'it sets a variable that decides what programs do'))
    if (await this.#meetsFlags(words, cwds))
      return this.#add(text, argv, is('dynamic', 'a file here is named like a flag, and a pattern would meet it'))
    const readings = alternatives(words)
    if (!readings) return this.#odd(text, 'it can mean too many things')
    for (const reading of readings)
      await this.#program(only(reading[0])!, { ...simple, words: reading }, argv, cwds, depth)
  }

  /** A file named `--checkpoint-action=…` becomes a flag of a program whose argument is `*`. */
  async #meetsFlags(words: readonly Word[], cwds: readonly string[] | undefined): Promise<boolean> {
    if (!words.some((word) => word.glob && word.values?.some((value) => /^[*?[]/.test(value)))) return false
    const names = await Promise.all((cwds ?? []).map((cwd) => readdir(cwd).catch(() => [])))
    return names.flat().some((name) => name.startsWith('-'))
  }

  async #program(
    name: string,
    simple: Simple,
    argv: string[] | undefined,
    cwds: readonly string[] | undefined,
    depth: number,
  ): Promise<void> {
    const args = simple.words.slice(1)
    const world = { ...this.#bounds, cwds }
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
      ? known(args, { name: basename(name), fed: simple.fed })
      : await this.#installed(name, args, cwds)
    const { finding, paths } = await this.#paths(reading, world)
    this.#add(simple.text, argv, finding, paths)
    for (const inner of reading.inner ?? []) await this.#inner(inner, simple, depth)
  }

  async #inner(inner: Inner, simple: Simple, depth: number): Promise<void> {
    if (depth >= deepest) return this.#odd(simple.text, 'it is wrapped too often to be read')
    if ('script' in inner) return this.script(inner.script, simple.cwds, depth + 1)
    if ('words' in inner) {
      if (inner.words.length === 0) return
      const text = inner.words.map((word) => (only(word) === undefined ? word.text : quoted(only(word)!))).join(' ')
      return this.#simple({ ...simple, words: inner.words, text }, depth + 1)
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
      for (const script of scripts ?? []) await this.script(script, [cwd], depth + 1)
      this.#runner = outer
    }
  }

  /** Judges an unknown program: it is the project's own if it is installed there. */
  async #installed(name: string, args: readonly Word[], cwds: readonly string[] | undefined): Promise<Reading> {
    const dark = args.find((word) => !word.values)
    if (dark) return unclear(dark)
    for (const cwd of cwds ?? [])
      if (await hasBin(name, cwd, this.#bounds.root))
        return { ...is('runs', 'it runs a program of the project'), paths: leadingOut(args) }
    return is('unknown', `${name} is not known`)
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
    this.parts.push(defined({ text, argv, script, class: kind satisfies ShellClass, why, paths }))
  }

  #odd(text: string, why: string): void {
    this.#add(text, undefined, is('dynamic', why))
  }
}

/** Shell commands that set variables. */
const setters = /^(?:read|printf|mapfile|readarray|getopts|let)$/

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

const standardBin = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$/

/** Arguments that name something outside, as far as it shows. */
const leadingOut = (args: readonly Word[]) =>
  args
    .filter((word) => word.values?.some((value) => /^(?:\/|~|\.\.(?:\/|$))|\/\.\.(?:\/|$)/.test(value)))
    .map((word) => ({ word, how: 'write' as const }))

function secretVariable(text: string): string | undefined {
  for (const [, name] of text.matchAll(/\$\{?!?#?(\w+)/g)) if (isSecretVariable(name!)) return name
  return undefined
}
