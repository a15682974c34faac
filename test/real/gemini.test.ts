import { test } from 'node:test'
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { outcomeOf, talk } from './talk.ts'
import { realTurns, skipped } from './turns.ts'

realTurns('gemini', {
  act: { tool: 'write_file', input: { file_path: 'new.txt', content: 'new\n' } },
  denials: { ask: ['write_file: new.txt'], read: ['write_file: new.txt'] },
  usage: { input: 1200, output: 34, cached: 1000, source: 'reported' },
  busy: { kind: 'busy', message: 'Resource has been exhausted (e.g. check quota).' },
  auth: { kind: 'auth', message: 'API key not valid. Please pass a valid API key.' },
  spent: {
    trouble: 'quota',
    failure: { kind: 'quota', message: 'You have exhausted your daily quota on this model.' },
  },
})

test(
  'gemini as it comes would try for minutes: it is ended at its second refusal',
  { skip: skipped('gemini') },
  async () => {
    await using it = await talk('gemini', () => ({ error: 'rate' }))
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }
    await writeFile(join(it.place().root, 'home', '.gemini', 'settings.json'), JSON.stringify(settings))
    assert.deepEqual(outcomeOf(await it.say('Hello.')), {
      ok: false,
      failure: { kind: 'busy', message: 'Resource has been exhausted (e.g. check quota).' },
    })
    assert.deepEqual([it.server.turns().length, await it.left()], [2, []])
  },
)
