import type { Sign } from '../../src/profiles/signs.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { profiles } from '../../src/profiles/all.ts'
import { profileContract } from '../contract/profile.ts'
import { recorded } from './replay.ts'

for (const profile of profiles) {
  const { signs } = (await import(`../../src/profiles/${profile.name}.ts`)) as { signs: readonly Sign[] }
  profileContract(profile, { signs, runs: profile.dialect ? recorded(profile.name) : {} })
}

test('no two profiles share a name or a program', () => {
  const names = profiles.flatMap(({ name, words }) => [...new Set([name, ...words])])
  assert.deepEqual(names, [...new Set(names)])
})
