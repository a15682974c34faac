import type { Io } from '../../core/io.ts'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { isMissing } from '../../base/files/files.ts'
import { findOutside } from '../../base/process/program-path.ts'

/** An agent that systemd keeps running for the person: its name, folder and command. */
type AgentUnit = { name: string; about: string; cwd: string; command: readonly string[]; home: string }

type Ran = { code: number; said: string }

/** Runs a program of the machine to its end; for a missing program the exit code is 127. */
export function runProgram(io: Io, word: string, args: readonly string[], timeoutMs = 60_000): Promise<Ran> {
  const path = word.includes('/') ? word : findOutside(word, io.env, io.cwd)
  if (path === undefined) return Promise.resolve({ code: 127, said: `there is no program ${word}` })
  return new Promise((resolve) => {
    execFile(path, args, { cwd: io.cwd, env: io.env, timeout: timeoutMs }, (error, out, err) => {
      const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0
      resolve({ code, said: `${err}${out}`.trim() })
    })
  })
}

/** The units of the person's own systemd, for agents that run without a terminal. */
export class AgentUnits {
  #io: Io

  constructor(io: Io) {
    this.#io = io
  }

  /** Whether the person has a systemd instance here. */
  async isThere(): Promise<boolean> {
    return (await this.#systemctl('show-environment')).code === 0
  }

  fileOf(name: string): string {
    const { HOME = '/', XDG_CONFIG_HOME = join(HOME, '.config') } = this.#io.env
    return join(XDG_CONFIG_HOME, 'systemd', 'user', unitOf(name))
  }

  /**
   * Writes the unit and starts it, or restarts it if it runs already. Returns messages for the person; throws systemd's error message.
   */
  async start(unit: AgentUnit): Promise<string[]> {
    const file = this.fileOf(unit.name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, unitText(unit, this.#io.env), { mode: 0o600 })
    const service = unitOf(unit.name)
    for (const args of [['daemon-reload'], ['enable', service], ['restart', service]]) {
      const { code, said } = await this.#systemctl(...args)
      if (code !== 0) throw new Error(`systemctl --user ${args.join(' ')} failed: ${said}`)
    }
    const linger = await runProgram(this.#io, 'loginctl', ['enable-linger'])
    const stays =
      linger.code === 0
        ? []
        : [
            `The agent stops when ${userInfo().username} logs out, because systemd may not keep it running: ${linger.said}. To keep it running: sudo loginctl enable-linger ${userInfo().username}`,
          ]
    return [`Its log: journalctl --user -u ${service} -f`, ...stays]
  }

  /** Stops the unit and removes it; false if it did not exist. */
  async remove(name: string): Promise<boolean> {
    const file = this.fileOf(name)
    try {
      readFileSync(file)
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
    await this.#systemctl('disable', '--now', unitOf(name))
    rmSync(file, { force: true })
    await this.#systemctl('daemon-reload')
    return true
  }

  #systemctl(...args: string[]): Promise<Ran> {
    return runProgram(this.#io, 'systemctl', ['--user', ...args])
  }
}

const unitOf = (name: string) => `termaite-agent-${name}.service`

/** Quotes a word for systemd, to which percent signs and dollars are special. */
const quoteWord = (word: string) =>
  `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$').replaceAll('\n', '\\n')}"`

/** The text of a unit. It contains no secret: the key is in a file that its command names. */
function unitText({ name, about, cwd, command, home }: AgentUnit, env: Io['env']): string {
  const variables = defined({ PATH: env.PATH, TERMAITE_HOME: home })
  const set = Object.entries(variables).map(
    ([each, value]) => `Environment=${quoteWord(`${each}=${value}`).replaceAll('$$', '$')}`,
  )
  return [
    `# Written by termaite agent join; termaite agent leave removes it.`,
    '[Unit]',
    `Description=termaite agent ${name} (${about.replaceAll('%', '%%')})`,
    '',
    '[Service]',
    `WorkingDirectory=${cwd.replaceAll('%', '%%')}`,
    ...set,
    `ExecStart=${command.map(quoteWord).join(' ')}`,
    'Restart=always',
    'RestartSec=10',
    'TimeoutStopSec=60',
    'UMask=0077',
    'NoNewPrivileges=yes',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n')
}
