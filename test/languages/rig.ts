import type { TestContext } from 'node:test'
import { pathOf } from '../system-path.ts'
import type { Report } from '../../src/languages/diagnostics-report.ts'
import type { Behaviour } from './scripted-server.ts'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { languages } from '../../src/languages/language.ts'
import { until } from '../until.ts'
import { LanguageServers, patienceMs } from '../../src/languages/language-servers.ts'

/** A clock whose bounds are turned by hand, so that no test depends on the speed of the machine; short pauses pass by themselves. */
export class BoundClock extends HandClock {
  /** All long sleeps that were begun. */
  readonly begun: number[] = []

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms >= 1_000) this.begun.push(ms)
    return ms < 1_000 ? realClock.sleep(ms, signal) : super.sleep(ms, signal)
  }
}

/** Puts a scripted server into a folder of programs; its behaviour and its journal lie beside it. */
export function putServer(folder: string, behaviour: Behaviour, name = 'gopls'): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'behaviour.json'), JSON.stringify(behaviour))
  const script = join(import.meta.dirname, 'scripted-server.ts')
  const cached = join(import.meta.dirname, '..', 'fixtures', 'cached.cjs')
  const node = `'${process.execPath}' --disable-warning=ExperimentalWarning --require '${cached}'`
  writeFileSync(join(folder, name), `#!/bin/sh\nexec ${node} '${script}' '${join(folder, 'behaviour.json')}'\n`)
  chmodSync(join(folder, name), 0o755)
}

/** A project with a scripted server on the PATH, and its language servers. */
export class LanguageRig {
  readonly folder: string
  readonly root: string
  readonly bin: string
  readonly servers: LanguageServers
  readonly clock = new BoundClock()
  readonly unused: string[] = []
  agreed = false
  #env: Record<string, string>

  constructor(t: TestContext, behaviour: Behaviour) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-languages-')))
    this.root = join(this.folder, 'project')
    this.bin = join(this.folder, 'bin')
    mkdirSync(this.root)
    putServer(this.bin, behaviour)
    this.#env = { PATH: pathOf(this.bin), HOME: this.folder }
    this.servers = new LanguageServers(this.root, {
      clock: this.clock,
      version: '1',
      shown: (path) => path.slice(this.root.length + 1),
      enclose: async ({ program, server }) => ({
        argv: [program, ...server.args],
        env: this.#env,
        settle: async () => {},
      }),
    })
    t.after(async () => {
      await this.servers.close()
      rmSync(this.folder, { recursive: true, force: true })
    })
  }

  write(path: string, lines: readonly string[] | undefined): void {
    const at = join(this.root, path)
    mkdirSync(dirname(at), { recursive: true })
    if (lines === undefined) rmSync(at)
    else writeFileSync(at, lines.map((line) => `${line}\n`).join(''))
  }

  /** Edits files as a tool does, and returns the report. */
  async edit(changes: Record<string, readonly string[] | undefined>): Promise<Report | undefined> {
    const before = await this.servers.before(Object.keys(changes).map((path) => join(this.root, path)))
    for (const [path, lines] of Object.entries(changes)) this.write(path, lines)
    const place = { root: this.root, env: this.#env, agreed: this.agreed, languages }
    const note = (name: string, program: string) => this.unused.push(`${name} ${program.slice(this.folder.length)}`)
    return this.servers.after(before, place, new AbortController().signal, note)
  }

  async said(changes: Record<string, readonly string[] | undefined>): Promise<string[] | undefined> {
    return (await this.edit(changes))?.text.split('\n')
  }

  /** Edits a file while the server does not answer: turns the clock on until the edit stops waiting. */
  async editInVain(
    changes: Record<string, readonly string[]>,
  ): Promise<{ report: Report | undefined; waited: number }> {
    const began = this.clock.elapsed()
    const { length } = this.clock.begun
    const bounds = Object.values(patienceMs)
    let over = false
    const edited = this.edit(changes).finally(() => (over = true))
    await until(() => over || this.clock.begun.slice(length).some((ms) => bounds.includes(ms)))
    while (!over) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (!over && this.clock.asleep > 0) await this.clock.turn(100)
    }
    return { report: await edited, waited: this.clock.elapsed() - began }
  }

  /** The notes of the server. */
  journal(folder = this.bin): string[] {
    const path = join(folder, 'journal')
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  }

  /** The process of the server that was started last. */
  pid(): number {
    return Number(
      this.journal()
        .findLast((line) => line.startsWith('initialize '))!
        .split(' ')[2],
    )
  }
}
