import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Machine } from './program.ts'
import { sized } from '../full.ts'

const kills = sized(20, 200)
const lanes = 4

/** Runs one turn that is killed after a number of lines or milliseconds; returns the ids that it printed as kept. */
async function killedTurn(machine: Machine, seed: number): Promise<string[]> {
  const child = machine.start(['-p', `turn ${seed} ${'x'.repeat(seed * 331)}`, '--output-format', 'stream-json'])
  child.stdin!.on('error', () => {}).end()
  child.stderr!.resume()
  let out = ''
  const lines = seed % 9
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
    if (out.split('\n').length > lines) child.kill('SIGKILL')
  })
  // Some die before they say anything.
  const timer = seed % 3 === 0 ? setTimeout(() => child.kill('SIGKILL'), (seed * 37) % 350) : undefined
  await new Promise((resolve) => child.on('close', resolve))
  clearTimeout(timer)
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id?: string }).id)
    .filter((id) => id !== undefined)
}

test(`${kills} kills with -9 at any moment: all that was shown as kept is there, and no torn line hides another`, async (t) => {
  const machine = new Machine(t)
  machine.agents(
    { a: 'head -c 20000; echo; echo done', b: 'cat >/dev/null; echo b; exit 3', c: 'cat' },
    { metaInstruction: false },
  )
  const shown: string[] = []
  const next = Array.from({ length: kills }, (_, i) => i + 1)
  const lane = async () => {
    for (let seed = next.shift(); seed !== undefined; seed = next.shift())
      shown.push(...(await killedTurn(machine, seed)))
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  assert.ok(shown.length > kills, `enough was shown before the kills: ${shown.length}`)

  const { code } = await machine.run(['-p', 'the last one', '-a', 'c'])
  assert.equal(code, 0)
  const entries = machine.history()
  const kept = new Set(entries.map(({ id }) => id))
  assert.deepEqual(
    shown.filter((id) => !kept.has(id)),
    [],
  )
  assert.equal(kept.size, entries.length, 'no entry is there twice')
  const prompts = entries.filter(({ type }) => type === 'prompt').map(({ turn }) => turn)
  const ended = new Set(entries.filter(({ type }) => type === 'end').map(({ turn }) => turn))
  assert.deepEqual(
    prompts.filter((turn) => !ended.has(turn)),
    [],
    'what dead processes left is settled',
  )
})
