import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { SlotLedger } from '../../src/crew/slot-ledger.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { sweepTerminals } from '../../src/crew/machine/crew-terminals.ts'

test('leftovers of terminals are looked at once, except for those that are fresh or that an agent has', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const folder = join(home, 'terminals')
  const [stray, fresh, taken] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
  for (const name of [stray, fresh, taken, 'prompts']) mkdirSync(join(folder, name), { recursive: true })
  const long = new Date(Date.now() - 2 * 3_600_000)
  for (const name of [stray, taken, 'prompts']) utimesSync(join(folder, name), long, long)
  await new SlotLedger(fileStore(home, { clock: realClock }), 'work', realClock).change(() => ({
    next: 2,
    slots: {
      1: {
        id: 1,
        agent: 'claude',
        task: '',
        cwd: '/',
        leash: 'ask',
        needs: [],
        patience: 0,
        state: 'idle',
        since: 0,
        session: '',
        queue: [],
        terminal: { id: taken },
      },
    },
  }))
  const looked: string[] = []
  const host = {
    find: async (id: string) => {
      looked.push(id)
      throw new Error('its server does not answer')
    },
  }
  await sweepTerminals({ home, folder }, host, realClock, new AbortController().signal)
  assert.deepEqual(looked, [stray])
})
