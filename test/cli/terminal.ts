import { spawn, spawnSync } from 'node:child_process'
import { stripAnsi } from '../../src/base/text/ansi.ts'
import { codeCache, ended, start, type Machine, type Ran } from './program.ts'

/** For tests that need a terminal of their own. */
export const inTerminal = {
  skip: spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1) here',
}

/** Longer than any screen takes to come, and shorter than a test may take. */
const patienceMs = 40_000

/** The program in a terminal: each key is typed when what it waits for is on the screen. */
export async function typed(
  machine: Machine,
  args: readonly string[],
  keys: readonly [waitsFor: RegExp, key: string][],
  env: Record<string, string> = {},
  /** Told before each key is typed. */
  before: (key: string) => void = () => {},
): Promise<Ran> {
  const command = [...start, ...args].map((word) => `'${word}'`).join(' ')
  const script = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: machine.project,
    env: {
      PATH: process.env.PATH,
      HOME: machine.folder,
      TERMAITE_KEYCHAIN: 'off',
      NODE_COMPILE_CACHE: codeCache,
      TERMAITE_HOME: machine.home,
      TERM: 'xterm',
      ...env,
    },
  })
  const child = machine.own(script)
  const left = [...keys]
  let seen = ''
  const never = Promise.withResolvers<never>()
  const patience = setTimeout(
    () => never.reject(new Error(`it never showed ${left[0]?.[0]}, but:\n${seen}`)),
    patienceMs,
  )
  child.stdout.on('data', (chunk: string) => {
    seen += chunk
    if (!left[0]?.[0].test(stripAnsi(seen))) return
    patience.refresh()
    seen = ''
    before(left[0][1])
    child.stdin.write(left.shift()![1])
  })
  return Promise.race([ended(child), never.promise]).finally(() => clearTimeout(patience))
}
