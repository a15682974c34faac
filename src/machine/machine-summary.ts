import type { SystemSpec } from '../core/profile/system-spec.ts'
import { frameworkNames } from '../core/talk/framework.ts'

/** Programs that almost every machine has: a model is only informed of them if they are missing. */
const usual = ['curl', 'git', 'make', 'perl', 'wget']

/** Programs that agents often plan with: only these are listed as missing. */
const missed = ['docker', 'ffmpeg', 'google-chrome', 'libreoffice', 'pandoc', ...usual]

/** Programs that termaite itself uses and agents do not. */
const ours = ['bwrap']

/**
 * Describes the machine in a few lines, each with its heading, without the programs in `untold`. The same machine always gets the same
 * text.
 */
export function machineFacts(spec: SystemSpec, untold: readonly string[] = []): [name: string, words: string][] {
  const { os, shell, runtimes, binaries, packageManagers, sudoAvailable, network } = spec
  const missing = [...missed.filter((name) => !(name in binaries)), ...(runtimes.python ? [] : ['python'])]
  return [
    ['System', `${versioned(os.name, os.version)} (${os.arch}), ${versioned(shell.type, shell.version)}`],
    ['Runtimes', listed(runtimesOf(spec))],
    ['Programs', listed(Object.keys(binaries).filter((name) => name !== shell.type && !untold.includes(name)))],
    ...(missing.length > 0 ? [['Not installed', listed(missing)] satisfies [string, string]] : []),
    ['Package managers', listed(packageManagers)],
    ['Root', sudoAvailable ? 'without a password' : 'no'],
    [
      'Network',
      `${network.hasInternet ? 'yes' : 'no'}${network.proxy === undefined ? '' : `, proxy ${network.proxy}`}`,
    ],
  ]
}

/** Facts that a model assumes about every machine, so that they are left out. */
const expected = ['Root: no', 'Network: yes']

/** Returns the description of the machine that every model gets; short, because every session begins with it. */
function capabilities(spec: SystemSpec): string {
  const facts = machineFacts(spec, [...usual, ...ours]).map((fact) => fact.join(': '))
  return ['## System Capabilities', ...facts.filter((fact) => !expected.includes(fact))].join('\n')
}

/** Lists only the names of the frameworks; the agent that chooses one gets more information about each. */
const availableFrameworks = `## Available Frameworks\n${frameworkNames.join(', ')}`

/** Returns the machine and the frameworks as a part of a prompt. */
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
