import type { SystemSpec } from '../core/work/system-spec.ts'
import { frameworks } from '../core/talk/framework.ts'

/** What an agent plans with before it looks: only of these it is said that they are not there. */
const missed = ['docker', 'ffmpeg', 'git', 'google-chrome', 'libreoffice', 'pandoc']

/** The machine in a few lines, each with what it is about; the same words for the same machine. */
export function machineFacts(spec: SystemSpec): [name: string, words: string][] {
  const { os, shell, runtimes, binaries, packageManagers, sudoAvailable, network } = spec
  const missing = [...missed.filter((name) => !(name in binaries)), ...(runtimes.python ? [] : ['python'])]
  return [
    ['System', `${versioned(os.name, os.version)} (${os.arch}), ${versioned(shell.type, shell.version)}`],
    ['Runtimes', listed(runtimesOf(spec))],
    ['Programs', listed(Object.keys(binaries).filter((name) => name !== shell.type))],
    ...(missing.length > 0 ? [['Not installed', listed(missing)] satisfies [string, string]] : []),
    ['Package managers', listed(packageManagers)],
    ['Root', sudoAvailable ? 'without a password' : 'no'],
    [
      'Network',
      `${network.hasInternet ? 'yes' : 'no'}${network.proxy === undefined ? '' : `, proxy ${network.proxy}`}`,
    ],
  ]
}

/** What every model is told of the machine: short, so that a session can begin with it. */
export function capabilities(spec: SystemSpec): string {
  return ['## System Capabilities', ...machineFacts(spec).map((fact) => fact.join(': '))].join('\n')
}

/** How a task may be thought through. */
export const availableFrameworks = [
  '## Available Frameworks',
  Object.entries(frameworks)
    .map(([name, how]) => `${name} (${how})`)
    .join(', '),
].join('\n')

/** Both, as they stand in a prompt. */
export const machineSummary = (spec: SystemSpec) => `${capabilities(spec)}\n\n${availableFrameworks}`

function runtimesOf({ runtimes: { node, python, ...others } }: SystemSpec): string[] {
  return [
    ...(node ? [versioned('node', node.version, node.npm === undefined ? [] : [`npm ${node.npm}`])] : []),
    ...(python
      ? [versioned('python', python.version, [...part('pip', python.pip), ...part('venv', python.venv)])]
      : []),
    ...Object.entries(others).map(([name, { version }]) => versioned(name, version)),
  ]
}

function versioned(name: string, version: string | undefined, parts: readonly string[] = []): string {
  return `${name}${version === undefined ? '' : ` ${version}`}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
}

const part = (name: string, there: boolean | undefined) => (there === undefined ? [] : [there ? name : `no ${name}`])

const listed = (words: readonly string[]) => [...words].sort().join(', ') || 'none'
