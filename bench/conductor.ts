import type { ChildProcess } from 'node:child_process'
import type { BenchMachine } from './measure.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { start } from './measure.ts'

type Message = { id?: number; result?: { structuredContent?: unknown }; error?: unknown }
type Told = { slot: number; state: string; output: string; is_idle: boolean }

/** A client of our MCP server, as thin as can be. */
export class Conductor {
  #child: ChildProcess
  #waits = new Map<number, (message: Message) => void>()
  #last = 0

  constructor({ project, env }: BenchMachine) {
    this.#child = spawn(start[0], [...start.slice(1), 'mcp', 'serve'], {
      cwd: project,
      env: { ...env, SHELL: '/bin/bash', LANG: 'C.UTF-8' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    createInterface(this.#child.stdout!).on('line', (line) => {
      const message = JSON.parse(line) as Message
      if (message.id !== undefined) this.#waits.get(message.id)?.(message)
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  async begin(): Promise<void> {
    const clientInfo = { name: 'bench', version: '1' }
    await this.#ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  }

  async call(name: string, input: Record<string, unknown>): Promise<Told> {
    const { result, error } = await this.#ask('tools/call', { name, arguments: input })
    if (!result?.structuredContent) throw new Error(`${name} failed: ${JSON.stringify(error ?? result)}`)
    return result.structuredContent as Told
  }

  async leave(): Promise<void> {
    if (this.#child.exitCode !== null) return
    this.#child.stdin!.end()
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), 30_000)
    await once(this.#child, 'exit')
    clearTimeout(kill)
  }

  #ask(method: string, params: object): Promise<Message> {
    const id = ++this.#last
    return new Promise((resolve) => {
      this.#waits.set(id, resolve)
      this.#child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  }
}
