import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const folder = join(import.meta.dirname, 'golden')

/**
 * Compares a frame with the one that was looked at. `UPDATE_GOLDEN=1` writes it anew: then look at it before it is committed.
 * What differs from run to run (times, ids) is masked without moving what stands after it.
 */
export function golden(name: string, frame: string): void {
  const file = join(folder, `${name}.txt`)
  const masked = mask(frame)
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, masked)
    return
  }
  assert.ok(existsSync(file), `there is no golden frame ${name}; run with UPDATE_GOLDEN=1, and look at it`)
  assert.equal(masked, readFileSync(file, 'utf8'))
}

/** Digits of times and dates become #, one for one: the frame keeps its columns. */
function mask(frame: string): string {
  return frame
    .replaceAll(/\d+(?:\.\d+)?(?= ?(?:ms|s|min|m)\b)/g, (time) => time.replaceAll(/\d/g, '#'))
    .replaceAll(/\d{4}-\d\d-\d\d(?: \d\d:\d\d)?/g, (date) => date.replaceAll(/\d/g, '#'))
    .replaceAll(/\b\d\d:\d\d\b/g, '##:##')
}
