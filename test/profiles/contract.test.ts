import type { Sign } from '../../src/profiles/shared/failure-signs.ts'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { allProfiles } from '../../src/profiles/all.ts'
import { profileContract } from '../contract/profile.ts'
import { meanings, recorded } from './replay.ts'

// Some CLIs print times of the machine they run on.
process.env.TZ = 'UTC'

for (const profile of allProfiles()) {
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
  const names = allProfiles().flatMap(({ name, words }) => [...new Set([name, ...words])])
  assert.deepEqual(names, [...new Set(names)])
})

test('each CLI with an option for how hard to think is told in its own words; the others have none', () => {
  const words = allProfiles().map(({ name, effort }) => [name, effort?.words('high'), effort?.levels.join(' ')])
  const most = 'none minimal low medium high xhigh'
  assert.deepEqual(Object.fromEntries(words.map(([name, ...rest]) => [name, rest])), {
    claude: ['--effort high', 'low medium high xhigh max'],
    codex: ['-c model_reasoning_effort=high', most],
    copilot: ['--reasoning-effort high', `${most} max`],
    opencode: ['--variant high', 'minimal low medium high xhigh max'],
    pi: ['--thinking high', most],
    cline: ['--thinking high', 'none low medium high xhigh'],
    aider: ['--reasoning-effort high', 'low medium high'],
    gemini: [undefined, undefined],
    qwen: [undefined, undefined],
    amp: [undefined, undefined],
    crush: [undefined, undefined],
  })
  assert.equal(
    allProfiles()
      .find(({ name }) => name === 'pi')!
      .effort!.words('none'),
    '--thinking off',
  )
})
