import type { Argv, WallHost } from './limits.ts'
import { access, readFile } from 'node:fs/promises'
import { collect } from '../../base/process/collect.ts'

/**
 * A trial that takes longer counts as failed. A busy machine needs many seconds for the namespaces of the first wall, and a process that
 * then considers the wall missing runs everything without one until the process ends.
 */
const trialMs = 30_000

/**
 * Runs a command behind the widest wall, because containers often have the program but forbid the system calls that it needs. Returns why
 * it failed.
 */
export async function failedTrial(argv: Argv, host: WallHost, input?: Uint8Array): Promise<string | undefined> {
  const [program, ...args] = argv
  const signal = AbortSignal.timeout(trialMs)
  const ran = await collect(program, args, { cwd: '/', env: host.env, signal, ...(input && { input }) })
  if (ran.code === 0) return undefined
  if (host.platform === 'darwin') return `sandbox-exec does not work here: ${ran.error?.message ?? lastLine(ran.err)}`
  const said = lastLine(ran.err)
  return [`bubblewrap does not work here: ${said}`, ...(await remedyFor(said, thisSystem))].join('. ')
}

export const notInstalled =
  'bubblewrap (bwrap) is not installed; install the package "bubblewrap" with the package manager of this system'

const lastLine = (text: string) => text.trim().split('\n').at(-1) || `it did not start within ${trialMs / 1000} s`

/** Information that a system provides about itself. */
type System = {
  /** A setting of the kernel; undefined if the kernel does not have it. */
  setting(name: string): Promise<string | undefined>
  exists(path: string): Promise<boolean>
}

const thisSystem: System = {
  setting: (name) =>
    readFile(`/proc/sys/${name}`, 'utf8').then(
      (text) => text.trim(),
      () => undefined,
    ),
  exists: (path) =>
    access(path).then(
      () => true,
      () => false,
    ),
}

/** Messages of bubblewrap if the system forbids namespaces; AppArmor allows their creation but forbids their use. */
const forbidden = /new namespace|uid map|mount proc|RTM_NEWADDR|clone|unshare/i

/** Returns a sentence that says what forbids namespaces here and how to allow them; empty if that is not known. */
export async function remedyFor(failure: string, system: System): Promise<string[]> {
  if (forbidden.test(failure)) for (const { applies, words } of remedies) if (await applies(system)) return [words]
  return []
}

const remedies: readonly { applies(system: System): Promise<boolean>; words: string }[] = [
  {
    applies: async ({ exists }) => (await exists('/.dockerenv')) || (await exists('/run/.containerenv')),
    words:
      'This is a container that forbids namespaces: start it with "--security-opt seccomp=unconfined --security-opt systempaths=unconfined" to allow them',
  },
  {
    applies: async ({ setting }) => (await setting('kernel/apparmor_restrict_unprivileged_userns')) === '1',
    words:
      'AppArmor forbids user namespaces, as on Ubuntu since 23.10: allow them for /usr/bin/bwrap with an AppArmor profile, or for all programs with "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"',
  },
  {
    applies: async ({ setting }) => (await setting('kernel/unprivileged_userns_clone')) === '0',
    words: 'The kernel forbids user namespaces: allow them with "sudo sysctl kernel.unprivileged_userns_clone=1"',
  },
  {
    applies: async ({ setting }) => (await setting('user/max_user_namespaces')) === '0',
    words: 'The kernel forbids user namespaces: allow them with "sudo sysctl user.max_user_namespaces=15000"',
  },
]
