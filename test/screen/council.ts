import type { TestContext } from 'node:test'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { KeptSpec } from '../../src/machine/machine.ts'
import { markOf } from '../../src/machine/machine.ts'
import { Machine } from '../cli/program.ts'
import { machines } from '../think/machines.ts'

const approach = (name: string, how: string) => ({ name, how, needs: [] })
const pandoc = approach('pandoc', 'pandoc notes.md -o notes.pdf')
const chrome = approach('headless browser', 'print the page to notes.pdf')
const script = approach('python script', 'write the pages with the standard library')

/** The answer of each role, by a word of its prompt. */
const advice: Record<string, unknown> = {
  enumerator: { approaches: [pandoc, chrome, script] },
  'pattern matcher': { approach: pandoc, rationale: 'everybody who publishes from a shell has settled on it' },
  'dependency scanner': {
    approaches: [{ ...pandoc, viable: true, reason: 'it is installed' }],
  },
  'fallback chain': { approaches: [pandoc, chrome] },
  'code generator': { script: null, why: 'it would only wrap one command' },
}

const verdict = (path: string) => {
  const check = { kind: 'file', path }
  return {
    approaches: [
      { ...pandoc, why: 'one command that all of them know', check },
      { ...chrome, why: 'it fails for other reasons', check },
    ],
    dropped: [{ name: 'python script', why: 'too much for one page' }],
    dissent: '',
  }
}

/**
 * A machine with three commands that only read when they are asked, and do as the approach says when they act: the first
 * one never works, the second does unless the request says `in vain`. Two of the five wait until they may go on.
 */
export function council(t: TestContext): { machine: Machine; goOn(): void } {
  const machine = new Machine(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  writeFileSync(join(machine.project, 'notes.md'), '# notes\n')
  const go = join(machine.folder, 'go')
  const told = (name: string, value: unknown) => {
    const file = join(machine.folder, name.replaceAll(' ', '-'))
    writeFileSync(file, `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``)
    return `cat ${file}`
  }
  const wait = `echo 'I look at what is there'; until [ -e ${go} ]; do sleep 0.05; done`
  const says = Object.entries(advice).map(([role, value]) => {
    const first = role === 'dependency scanner' || role === 'fallback chain' ? `${wait}; ` : ''
    return `*"You are the ${role}."*) ${first}${told(role, value)};;`
  })
  const command = `case "$(cat)" in
    ${says.join('\n')}
    *'You chair five advisors'*'in vain'*) ${told('no', verdict('never.pdf'))};;
    *'You chair five advisors'*) ${told('yes', verdict('notes.pdf'))};;
    *'in vain'*'<approach>'*) echo 'I did what I was told.';;
    *'<approach>
headless browser'*) echo pdf > notes.pdf; echo '**notes.pdf** is printed.';;
    *) echo 'pandoc ran.';;
    esac`
  const agents = ['alpha', 'beta', 'gamma'].map((name) => ({
    name,
    command,
    leash: 'read',
    wall: false,
    contextWindowTokens: 100_000,
  }))
  machine.settings({ agents, rotationStrategy: 'exhaustion', metaInstruction: false })
  // The tokens are counted from the prompts, which describe this machine: the test gives it fixed facts.
  const kept: KeptSpec = { scannedAt: Date.now(), of: markOf(hostname(), process.env.PATH), spec: machines.tex }
  writeFileSync(join(machine.home, 'system-spec.json'), JSON.stringify(kept))
  return { machine, goOn: () => writeFileSync(go, '') }
}
