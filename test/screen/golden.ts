import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Frame } from './frame.ts'

const folder = join(import.meta.dirname, 'golden')

/**
 * Compares a frame with the one that was looked at: its words are the same in every look, its styles are the look's own.
 * A frame without styles is compared by its words alone. `UPDATE_GOLDEN=1` writes it anew: then look at it before it is committed.
 */
export function golden(name: string, look: string, { rows, styles }: Frame): void {
  same(`${name}.txt`, mask(rows.join('\n')))
  if (styles.length > 0) same(`${name}.${look}.txt`, styles.join('\n'))
}

function same(name: string, text: string): void {
  const file = join(folder, name)
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${text}\n`)
    return
  }
  assert.ok(existsSync(file), `there is no golden frame ${name}; run with UPDATE_GOLDEN=1, and look at it`)
  assert.equal(`${text}\n`, readFileSync(file, 'utf8'), name)
}

/** How long something took may have one digit or several before its unit; nothing is behind it. */
const took = /\d+(?:\.\d+)?(?= s · ~)/g

/** Hides everything that differs from run to run: digits of times and dates become #, and a spinner stands still. */
function mask(frame: string): string {
  return frame
    .replaceAll(took, '#.#')
    .replaceAll(/\d+(?:\.\d+)?(?= ?(?:ms|s|min|m)\b)/g, (time) => time.replaceAll(/\d/g, '#'))
    .replaceAll(/\d{4}-\d\d-\d\d(?: \d\d:\d\d)?/g, (date) => date.replaceAll(/\d/g, '#'))
    .replaceAll(/\b\d\d:\d\d\b/g, '##:##')
    .replaceAll(/[⠋⠙⠸⠴⠦⠇]/g, '⠿')
}
