import type { Asked } from '../../test/real/model-server.ts'
import type { Peer } from './peer.ts'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { modelServer } from '../../test/real/model-server.ts'
import { rig } from '../../test/real/rig.ts'

/** One run of a peer over a number of tool rounds. */
export type Run = {
  firstRequestMs: number
  wallMs: number
  /** From one request to the next, on average: how long a call of a tool and its way to the model take. */
  roundMs: number
  requests: number
  bytes: number
  firstBytes: number
  /** The least part of a request that was the beginning of the next, in prompt order. */
  prefix: number
  peakMB: number
}

const lines = 40

/** A home, a temporary folder and a project of a peer, beside a model that answers at once. */
export type Home = {
  /** Gives the peer a task of that many rounds, another file each. */
  run(rounds: number): Promise<Run>
  [Symbol.asyncDispose](): Promise<void>
}

/** Makes a home in which the peer has never run. */
export async function newHome(peer: Peer): Promise<Home> {
  let began = 0
  let first = 0
  let last = 0
  let files: string[] = []
  const isTurn = (asked: Asked) => !asked.side && !peer.isSideRequest?.(asked)
  let turns = 0
  const model = await modelServer((asked) => {
    if (!isTurn(asked)) return { text: 'Files' }
    last = performance.now() - began
    first ||= last
    const file = files[turns++]
    return file === undefined ? { text: 'All of them are read.' } : { call: peer.read(file, asked) }
  })
  const place = await rig(peer.rig, model.url)
  for (const [path, text] of Object.entries(peer.files?.(model.url) ?? {})) {
    mkdirSync(dirname(join(place.env.HOME!, path)), { recursive: true })
    writeFileSync(join(place.env.HOME!, path), text)
  }
  return {
    async run(rounds) {
      files = Array.from({ length: rounds }, (_, round) => join(place.cwd, `file${round}.txt`))
      for (const [round, file] of files.entries())
        writeFileSync(file, Array.from({ length: lines }, (_, line) => `line ${line} of file ${round}\n`).join(''))
      model.asked.length = turns = first = 0
      began = performance.now()
      const peakMB = await ran(peer, place.cwd, { ...place.env, ...peer.env })
      const wallMs = performance.now() - began
      const asked = model.turns().filter(isTurn)
      if (asked.length < rounds + 1) throw new Error(`${peer.name} made ${asked.length} requests of ${rounds + 1}`)
      return {
        firstRequestMs: first,
        wallMs,
        roundMs: (last - first) / Math.max(1, rounds),
        requests: model.asked.length,
        bytes: model.asked.reduce((sum, { raw }) => sum + raw.length, 0),
        firstBytes: asked[0]!.raw.length,
        prefix: leastPrefix(asked),
        peakMB,
      }
    },
    async [Symbol.asyncDispose]() {
      await model.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

function ran(peer: Peer, cwd: string, env: Record<string, string | undefined>): Promise<number> {
  return new Promise((resolve, reject) => {
    const [command, ...args] = peer.argv('Read the files, one after another.')
    const child = spawn(command!, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let err = ''
    let peak = 0
    const look = setInterval(() => (peak = Math.max(peak, treeMB(child.pid!))), 50)
    child.stdout.resume()
    child.stderr.on('data', (chunk: Buffer) => (err = `${err}${chunk}`.slice(-2000)))
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(look)
      if (code === 0) resolve(peak)
      else reject(new Error(`${peer.name} ended with ${code}: ${err}`))
    })
  })
}

/** The memory of a process and all below it; pages they share count for each. */
function treeMB(pid: number): number {
  const parents = new Map<number, number>()
  const sizes = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      parents.set(Number(name), Number(/PPid:\s+(\d+)/.exec(status)?.[1]))
      sizes.set(Number(name), Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
    } catch {
      // The process ended while we looked.
    }
  }
  const within = (one: number): boolean => one === pid || (parents.has(one) && within(parents.get(one)!))
  return [...sizes].reduce((sum, [one, size]) => (within(one) ? sum + size : sum), 0)
}

function leastPrefix(asked: readonly Asked[]): number {
  const prompts = asked.map(({ body }) => promptOrder(body))
  const parts = prompts.slice(1).map((next, index) => common(prompts[index]!, next) / prompts[index]!.length)
  return parts.length === 0 ? 1 : Math.min(...parts)
}

/** A request as a model reads it: tools, then the system text, then the messages. */
function promptOrder(body: Record<string, unknown>): string {
  const { tools, system, instructions, systemInstruction, messages, input, contents } = body
  const order = [tools, system ?? instructions ?? systemInstruction, messages ?? input ?? contents]
  const text = JSON.stringify(order, (key, value) => (key === 'cache_control' ? undefined : folded(value))) ?? ''
  // The closing brackets of one request are no part of the next.
  return text.replace(/[\]}"\s]+$/, '')
}

/** One block of text is the same to a model as the text alone. */
function folded(value: unknown): unknown {
  if (!Array.isArray(value) || value.length !== 1) return value
  const [block] = value as [{ type?: string; text?: string } | undefined]
  return block?.type === 'text' ? block.text : value
}

function common(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}
