import type { AuditEntry } from '../../src/safety/audit-entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, watch } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { Machine } from './program.ts'
import { sized } from '../full.ts'

const kills = sized(8, 200)
const lanes = 4

/** How long after the model's answer a process is killed: the command runs somewhere in this time. */
const mostMs = 400

/** A third of the processes die for certain inside their command. */
const diesInside = (number: number) => number % 3 === 0
const commandOf = (number: number) => `echo left > ${number}.txt${diesInside(number) ? '; sleep 60' : ''}`

test(`${kills} kills around commands that leave a file: each file has its entry, and the audit is right`, async (t) => {
  const answered = new Map<number, () => void>()
  const server = await modelServer(({ text }) => {
    const number = Number(/leave (\d+)\./.exec(text)![1])
    if (text.includes('tool_result')) return { text: 'done' }
    answered.get(number)?.()
    return { call: { tool: 'bash', input: { command: commandOf(number) } } }
  })
  t.after(() => server.close())
  const machine = new Machine(t)
  const model = { model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1`, contextWindowTokens: 200_000 }
  machine.settings({ metaInstruction: false, agents: [{ name: 'native', kind: 'native', ...model }] })
  const env = { ANTHROPIC_API_KEY: 'made-up-key' }

  const killed = async (number: number) => {
    const args = ['-p', `leave ${number}.`, '--leash', 'all', '--session', `s${number}`]
    const child = machine.start(args, { env })
    child.stdout!.resume()
    child.stderr!.resume()
    child.stdin!.on('error', () => {}).end()
    const kill = () => child.kill('SIGKILL')
    // Some processes die once their file is there, the others at any moment around it.
    const watcher = diesInside(number)
      ? watch(machine.project, (_, name) => name === `${number}.txt` && kill())
      : undefined
    let timer: NodeJS.Timeout | undefined
    if (!watcher) answered.set(number, () => (timer = setTimeout(kill, (number * 37) % mostMs)))
    await new Promise((resolve) => child.on('close', resolve))
    clearTimeout(timer)
    watcher?.close()
  }
  const left = Array.from({ length: kills }, (_, index) => index + 1)
  const lane = async () => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) await killed(number)
  }
  await Promise.all(Array.from({ length: lanes }, lane))

  const lines = (await machine.run(['audit', 'export'])).out.trim().split('\n')
  const entries = lines.map((line) => JSON.parse(line) as AuditEntry)
  const begun = entries.filter(({ type }) => type === 'begin')
  const closed = new Set(entries.flatMap((entry) => (entry.type === 'execution' ? [entry.begin] : [])))
  const numbers = Array.from({ length: kills }, (_, index) => index + 1)
  const done = numbers.filter((number) => existsSync(join(machine.project, `${number}.txt`)))
  assert.deepEqual(
    numbers.filter((number) => diesInside(number) && !done.includes(number)),
    [],
  )
  const noted = new Set(begun.map(({ what }) => what))
  assert.deepEqual(
    done.filter((number) => !noted.has(JSON.stringify({ command: commandOf(number) }))),
    [],
  )
  const { code, out } = await machine.run(['audit', 'verify', '--json'])
  const unclosed = begun.filter(({ seq }) => !closed.has(seq))
  const mended = entries.filter(({ type }) => type === 'mend').length
  const inside = numbers.filter(diesInside).length
  assert.ok(unclosed.length >= inside, `${unclosed.length} of at least ${inside} acts have no end`)
  assert.deepEqual(
    [code, JSON.parse(out)],
    [0, { state: 'whole', entries: entries.length, faults: [], unclosed, mended }],
  )
  t.diagnostic(`${done.length} files, ${begun.length} acts, ${unclosed.length} of them without an end`)
})
