import type { Sign } from '../../src/profiles/shared/failure-signs.ts'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { profiles } from '../../src/profiles/all.ts'
import { profileContract } from '../contract/profile.ts'
import { meanings, recorded } from './replay.ts'

// Some CLIs print times of the machine they run on.
process.env.TZ = 'UTC'

for (const profile of profiles) {
  const { signs } = (await import(fileOf(profile.name))) as { signs: readonly Sign[] }
  const spoken = profile.dialect
    ? { runs: recorded(profile.name), meanings: meanings(profile.name) }
    : { runs: {}, meanings: {} }
  profileContract(profile, { signs, ...spoken })
}

/** A CLI with several files has a folder of its own. */
function fileOf(name: string): string {
  const folder = new URL(`../../src/profiles/${name}/`, import.meta.url)
  return existsSync(folder)
    ? `${folder.href}${name}.ts`
    : new URL(`../../src/profiles/${name}.ts`, import.meta.url).href
}

test('no two profiles share a name or a program', () => {
  const names = profiles.flatMap(({ name, words }) => [...new Set([name, ...words])])
  assert.deepEqual(names, [...new Set(names)])
})
