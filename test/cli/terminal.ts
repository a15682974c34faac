import { spawn, spawnSync } from 'node:child_process'
import { codeCache, ended, program, type Machine, type Ran } from './program.ts'

/** For tests that need a terminal of their own. */
export const inTerminal = {
  skip: spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1) here',
}

/** The program in a terminal: each key is typed when what it waits for is on the screen. */
export async function typed(
  machine: Machine,
  args: readonly string[],
  keys: readonly [waitsFor: RegExp, key: string][],
  env: Record<string, string> = {},
  /** Told before each key is typed. */
  before: (key: string) => void = () => {},
): Promise<Ran> {
  const command = [process.execPath, program, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
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
  const result = ended(child)
  const left = [...keys]
  let seen = ''
  child.stdout.on('data', (chunk: string) => {
    seen += chunk
    if (!left[0]?.[0].test(seen)) return
    seen = ''
    before(left[0][1])
    child.stdin.write(left.shift()![1])
  })
  return result
}
