import assert from 'node:assert/strict'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const goldenFolder = join(import.meta.dirname, 'golden')

/** Begins each part of a golden file. */
const heading = '──── '

/**
 * Compares what was rendered, whole, with the part of this name in the golden file of a command, a screen or another subject. Product
 * sentences stand there and in no test, so that a mended sentence changes one file. Text is compared as it is, any other value as
 * JSON. `varying` names the texts that differ from run to run, such as a temporary folder, each with the word that stands for it.
 *
 * `UPDATE_GOLDEN=1 npm test -- <files>` writes the parts anew: look at the difference before it is committed, because it is the proof.
 */
export function golden(subject: string, part: string, value: unknown, varying: Readonly<Record<string, string>> = {}) {
  const text = steady(typeof value === 'string' ? value : JSON.stringify(value, undefined, 2), varying)
  assert.ok(!text.split('\n').some((line) => line.startsWith(heading)), `${part}: a line begins as a heading does`)
  const file = join(goldenFolder, `${subject}.txt`)
  if (process.env.UPDATE_GOLDEN === '1') return keep(file, part, text)
  const parts = existsSync(file) ? partsOf(readFileSync(file, 'utf8')) : new Map<string, string>()
  assert.ok(parts.has(part), `${subject}.txt has no part "${part}": run with UPDATE_GOLDEN=1, and look at it`)
  assert.equal(text, parts.get(part), `${subject}.txt: ${part}`)
}

/** The parts of a golden file by their names. A text without a line end at its end has none in the file either. */
export function partsOf(text: string): Map<string, string> {
  const parts = text.split(new RegExp(`^${heading}`, 'm')).slice(1)
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1, -1)]))
}

function steady(text: string, varying: Readonly<Record<string, string>>): string {
  // A longer text may hold a shorter one.
  const longestFirst = Object.entries(varying).sort(([one], [other]) => other.length - one.length)
  return longestFirst.reduce((rest, [from, to]) => rest.replaceAll(from, to), text)
}

/** Writes one part; test processes that run side by side wait for each other. */
function keep(file: string, part: string, text: string): void {
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
    const parts = existsSync(file) ? partsOf(readFileSync(file, 'utf8')) : new Map<string, string>()
    parts.set(part, text)
    writeFileSync(file, [...parts].map(([name, words]) => `${heading}${name}\n${words}\n`).join(''))
  } finally {
    rmSync(lock)
  }
}
