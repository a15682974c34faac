import type { SystemSpec } from '../core/work/system-spec.ts'
import { frameworks } from '../core/talk/framework.ts'

/** Programs that agents often plan with: only these are listed as missing. */
const missed = ['docker', 'ffmpeg', 'git', 'google-chrome', 'libreoffice', 'pandoc']

/** Describes the machine in a few lines, each with its heading. The same machine always gets the same words. */
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

/** Returns what every model is told about the machine; short, because every session begins with it. */
export function capabilities(spec: SystemSpec): string {
  return ['## System Capabilities', ...machineFacts(spec).map((fact) => fact.join(': '))].join('\n')
}

/** Lists the frameworks, as a model is told of them. */
const availableFrameworks = [
  '## Available Frameworks',
  Object.entries(frameworks)
    .map(([name, how]) => `${name} (${how})`)
    .join(', '),
].join('\n')

/** Returns the machine and the frameworks, as they stand in a prompt. */
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
