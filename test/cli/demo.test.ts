import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('the demo needs nothing: its own agent reads, edits and asks, and nothing is left behind', async (t) => {
  const machine = new Machine(t)
  const tmp = join(machine.folder, 'tmp')
  mkdirSync(tmp)
  const { code, out, err } = await machine.run(['demo'], { env: { TMPDIR: tmp } })
  assert.equal(code, 0, err)
  assert.match(out, /real tools and a scripted model\. fir and gum run in$/m)
  assert.match(
    err,
    /^chosen by juniper: a short plan \(it needs nothing\); not a drawn plan \(there is no plotter here\)$/m,
  )
  assert.match(err, /^— cedar · [\d.]+ s · consensus · 6 calls · /m)
  const own = out.slice(
    out.indexOf('termaite’s own agent reads'),
    out.indexOf('\nTwo agents side by side in terminals'),
  )
  golden(t, own.replace(/^index .*$/m, 'index …'))
  const crew = out.slice(out.indexOf('Two agents side by side in terminals'), out.indexOf('\nEverything that was said'))
  assert.match(crew, /^slot 2: gum, waiting for slot 1$/m)
  assert.match(crew, /crew artifact 2\nIn short: greets nobody in French\n/)
  assert.match(crew, /^The crew is closed\. 2 agents were stopped\.$/m)
  assert.deepEqual(
    readdirSync(tmp).filter((name) => name.startsWith('termaite')),
    [],
  )
})
