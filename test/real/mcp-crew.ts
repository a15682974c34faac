import type { TestContext } from 'node:test'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readFileSync } from 'node:fs'
import { Machine, start } from '../cli/program.ts'
import { clients } from './rig.ts'

const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')

const servers = {
  crew: { args: ['mcp', 'serve', '--http', '0'], file: 'mcp.key', path: '' },
  hub: { args: ['serve', '--port', '0'], file: 'hub.key', path: '/mcp' },
}

/** A machine with two fake CLIs for agents: one audits and finds two faults, one sums up. */
export class ConductedMachine extends Machine {
  constructor(context: TestContext) {
    super(context)
    const agent = (...modes: string[]) => ({
      command: [process.execPath, fake, join(this.folder, 'gate'), 'scroll', ...modes].join(' '),
      idle_pattern: '^> ?$',
      response_fence: true,
    })
    const agents = { auditor: agent('say:two%20faults'), writer: agent('say:in%20short:%20two') }
    this.settings({ terminals: { host: 'pty' }, leash: 'edit', agents })
  }

  /** One of our servers until the test is over; the address is the only thing that it prints. */
  async serving(context: TestContext, server: 'crew' | 'hub' = 'crew'): Promise<{ url: string; key: string }> {
    const { args, file, path } = servers[server]
    const child = this.start(args)
    const exited = new Promise((resolve) => child.once('exit', resolve))
    context.after(async () => {
      child.kill('SIGTERM')
      await exited
    })
    const { value: url } = await createInterface({ input: child.stdout! })[Symbol.asyncIterator]().next()
    return { url: `${url as string}${path}`, key: readFileSync(join(this.home, file), 'utf8').trim() }
  }

  /** The official inspector's command line, as one would type it; what it says, parsed. */
  inspect(target: readonly string[], method: string, ...more: string[]): Promise<Inspected> {
    const args = ['--cli', '--method', method, ...more, '--format', 'json', '-q', ...target]
    return this.#said(join(clients, 'mcp-inspector'), args)
  }

  /** How the inspector starts us over stdio. */
  readonly stdio = [...start, 'mcp', 'serve']

  #said(file: string, args: readonly string[]): Promise<Inspected> {
    const env = {
      PATH: process.env.PATH!,
      HOME: join(this.folder, 'home'),
      TERMAITE_HOME: this.home,
      TERMAITE_KEYCHAIN: 'off',
    }
    const child = spawn(process.execPath, [file, ...args], {
      cwd: this.project,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (err += chunk))
    return new Promise((resolve) => {
      child.on('close', (code) => resolve({ code, err, result: code === 0 ? JSON.parse(out).result : undefined }))
    })
  }
}

export type Inspected = { code: number | null; err: string; result: any }
