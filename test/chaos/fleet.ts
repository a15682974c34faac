import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import type { Unreliability } from './unreliable-proxy.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Machine } from '../cli/program.ts'
import { UnreliableProxy } from './unreliable-proxy.ts'

type RunningHub = { machine: Machine; child: ChildProcess; url: string; restarted?: Promise<void> }

/** Hubs in processes of their own, each on a machine of its own, behind a proxy. */
export class Fleet {
  readonly key: string
  readonly proxy: UnreliableProxy
  #hubs: RunningHub[]
  #more: readonly string[]

  private constructor(hubs: RunningHub[], key: string, more: readonly string[], proxy: UnreliableProxy) {
    this.#hubs = hubs
    this.key = key
    this.#more = more
    this.proxy = proxy
  }

  /** `ledger` is the address of the ledger that all hubs share; without it there is one hub, on SQLite. */
  static async start(
    t: TestContext,
    { hubs, ledger, network, seed }: { hubs: number; ledger?: string; network: Unreliability; seed: number },
  ): Promise<Fleet> {
    const more = ledger === undefined ? [] : ['--ledger', ledger]
    const started: RunningHub[] = []
    let key: string | undefined
    for (let hub = 0; hub < hubs; hub++) {
      const machine = new Machine(t)
      if (key !== undefined) {
        // Every hub of a fleet has the same key of the person who runs it.
        mkdirSync(machine.home, { recursive: true })
        writeFileSync(join(machine.home, 'hub.key'), `${key}\n`, { mode: 0o600 })
      }
      started.push({ machine, ...(await startHub(machine, '0', more)) })
      key ??= readFileSync(join(machine.home, 'hub.key'), 'utf8').trim()
    }
    const proxy = await UnreliableProxy.start(
      started.map(({ url }) => Number(new URL(url).port)),
      network,
      seed,
    )
    t.after(() => proxy.close())
    return new Fleet(started, key!, more, proxy)
  }

  /** The address of one hub, without the proxy. */
  get desk(): string {
    return this.#hubs[0]!.url
  }

  /** Ends a hub without a word, and starts it again at the same address; one after the other, where that is wished twice at once. */
  restart(number: number): Promise<void> {
    const hub = this.#hubs[number % this.#hubs.length]!
    return (hub.restarted = (hub.restarted ?? Promise.resolve()).then(async () => {
      hub.child.kill('SIGKILL')
      await once(hub.child, 'exit')
      hub.child = (await startHub(hub.machine, new URL(hub.url).port, this.#more)).child
    }))
  }
}

async function startHub(machine: Machine, port: string, more: readonly string[]) {
  const child = machine.start(['serve', '--port', port, ...more])
  let said = ''
  child.stderr!.on('data', (chunk: Buffer) => (said = `${said}${chunk}`.slice(-2000)))
  const ended = once(child, 'exit').then(() => ({ value: undefined }))
  const { value: url } = await Promise.race([createInterface(child.stdout!)[Symbol.asyncIterator]().next(), ended])
  assert.ok(url, `the hub did not start: ${said}`)
  return { child, url }
}
