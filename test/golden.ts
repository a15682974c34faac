import assert from 'node:assert/strict'
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { homedir, hostname, networkInterfaces } from 'node:os'
import { inspect } from 'node:util'

export const goldenFolder = join(import.meta.dirname, 'golden')

/** Begins each part of a golden file. */
const heading = '──── '

/** The texts that differ from run to run, such as a temporary folder, each with the word that stands for it. */
export type Varying = Readonly<Record<string, string>>

/** The test that compares, by its name and the names of the tests that it is in. */
type Test = { readonly fullName: string }

export type Golden = {
  /** Compares a text as it is, and any other value as Node shows it. */
  (test: Test, value: unknown, varying?: Varying): void
  /** Compares the error that an act ends with: its class, its message and its fields. */
  rejects(test: Test, act: Promise<unknown> | (() => Promise<unknown>), varying?: Varying): Promise<void>
  throws(test: Test, act: () => unknown, varying?: Varying): void
}

/**
 * Compares what was rendered, whole, with the golden file of a file of tests. Product sentences stand there and in no test, so that a
 * mended sentence changes one file. Each test has its own part, named as the test is; a later comparison of the same test has its
 * number behind the name.
 *
 * `UPDATE_GOLDEN=1 npm test -- <files>` writes the parts anew: look at the difference before it is committed, because it is the proof.
 */
export function goldenOf(file: string): Golden {
  const subject = subjectOf(file)
  const compared = new WeakMap<Test, number>()
  const golden = (test: Test, value: unknown, varying: Varying = {}) => {
    const count = (compared.get(test) ?? 0) + 1
    compared.set(test, count)
    compare(subject, test.fullName, count, rendered(value, varying))
  }
  golden.rejects = async (test: Test, act: Promise<unknown> | (() => Promise<unknown>), varying?: Varying) => {
    let problem: unknown
    const promise = typeof act === 'function' ? act() : act
    await assert.rejects(promise, (error) => {
      problem = error
      return true
    })
    golden(test, parts(problem), varying)
  }
  golden.throws = (test: Test, act: () => unknown, varying?: Varying) => {
    let problem: unknown
    assert.throws(act, (error) => {
      problem = error
      return true
    })
    golden(test, parts(problem), varying)
  }
  return golden
}

/** `test/cli/rotation.test.ts` is compared with `test/golden/cli/rotation.txt`. */
const subjectOf = (file: string) =>
  relative(import.meta.dirname, file)
    .replace(/(?:\.test)?\.ts$/, '')
    .replaceAll(sep, '/')

/** A text as it is, and any other value as Node shows it; its lines are broken where the words that stand for others have their place. */
function rendered(value: unknown, varying: Varying): string {
  const shown = Object.keys(varying).length > 0 ? steady(value, varying) : value
  if (typeof shown === 'string') return shown
  return inspect(shown, { depth: null, breakLength: 120, maxArrayLength: null, maxStringLength: null })
}

/** An error without its stack, which names lines of code. */
function parts(error: unknown): unknown {
  return error instanceof Error ? { name: error.constructor.name, ...(error as object), message: error.message } : error
}

/** Puts the words that stand for varying texts into a value, however deep these are in it. */
function steady(value: unknown, varying: Varying): unknown {
  if (typeof value === 'string') return steadyText(value, varying)
  if (Array.isArray(value)) return value.map((item) => steady(item, varying))
  if (value instanceof Map) return new Map(Array.from(value, (entry) => steady(entry, varying) as [unknown, unknown]))
  if (value instanceof Set) return new Set(Array.from(value, (item) => steady(item, varying)))
  if (Object.prototype.toString.call(value) !== '[object Object]') return value
  const fields = Object.entries(value as object).map(([key, field]) => [
    steadyText(key, varying),
    steady(field, varying),
  ])
  return Object.assign(Object.create(Object.getPrototypeOf(value)), Object.fromEntries(fields))
}

function steadyText(text: string, varying: Varying): string {
  // A longer text may hold a shorter one.
  const longestFirst = Object.entries(varying).sort(([one], [other]) => other.length - one.length)
  return longestFirst.reduce((rest, [from, to]) => {
    assert.ok(from, 'an empty text cannot be replaced')
    return rest.replaceAll(from, to)
  }, text)
}

function compare(subject: string, name: string, count: number, text: string): void {
  const part = partOf(name, count)
  assert.ok(!text.split('\n').some((line) => line.startsWith(heading)), `${part}: a line begins as a heading does`)
  const file = join(goldenFolder, `${subject}.txt`)
  if (process.env.UPDATE_GOLDEN === '1') {
    assert.deepEqual(namesOfMachine(text), [], `${part}: names of this machine, so that no other passes: let them vary`)
    return keep(file, part, text, count === 1)
  }
  const kept = readParts(file)
  assert.ok(kept.has(part), `golden/${subject}.txt has no part "${part}": run with UPDATE_GOLDEN=1, and look at it`)
  assert.equal(text, kept.get(part), `golden/${subject}.txt: ${part}`)
  // A run of everything asks at its end whether there are parts that no test compares any more.
  if (process.env.TERMAITE_GOLDEN_SEEN) appendFileSync(process.env.TERMAITE_GOLDEN_SEEN, `${subject}.txt: ${part}\n`)
}

/** The names and paths of the machine that runs the tests, as far as a text holds them. */
function namesOfMachine(text: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all!.filter(({ internal }) => !internal))
  const names = [hostname(), homedir(), join(import.meta.dirname, '..'), ...addresses.map(({ address }) => address)]
  return names.filter(
    (name) => name.length > 1 && new RegExp(`(?<![\\w.-])${name.replaceAll(/\W/g, '\\$&')}(?![\\w-])`).test(text),
  )
}

/** The parts of a golden file by their names. A text without a line end at its end has none in the file either. */
export function partsOf(text: string): Map<string, string> {
  const parts = text.split(new RegExp(`^${heading}`, 'm')).slice(1)
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1, -1)]))
}

/** The name of a part has one line. */
function partOf(test: string, count: number): string {
  const name = test.replaceAll('\n', '⏎')
  return count === 1 ? name : `${name} (${count})`
}

/** The name of the test that a part belongs to. */
export const testOf = (part: string) => part.replace(/ \(\d+\)$/, '')

const readParts = (file: string) => (existsSync(file) ? partsOf(readFileSync(file, 'utf8')) : new Map<string, string>())

const byName = new Intl.Collator('en', { numeric: true })

/**
 * Writes one part; with the first one of a test, its older ones go. Parts are in the order of their names, so that it does not
 * matter which tests ran. Test processes that run side by side wait for each other.
 */
function keep(file: string, part: string, text: string, isFirst: boolean): void {
  mkdirSync(dirname(file), { recursive: true })
  const lock = `${file}.lock`
  for (;;) {
    try {
      closeSync(openSync(lock, 'wx'))
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  try {
    const kept = [...readParts(file)].filter(([name]) => name !== part && !(isFirst && testOf(name) === part))
    const all = [...kept, [part, text] as const].sort(([one], [other]) => byName.compare(one, other))
    writeFileSync(file, all.map(([name, words]) => `${heading}${name}\n${words}\n`).join(''))
  } finally {
    rmSync(lock)
  }
}
