import type { Script } from '../agents/scripted-agent.ts'
import type { Rigged } from './rig.ts'
import { json, thinkingRig, says } from './rig.ts'

type Role = keyof ReturnType<typeof answers>

/** Three ways to make a PDF of a document, each for another machine. */
export const office = { name: 'LibreOffice', how: 'soffice --headless --convert-to pdf', needs: ['libreoffice'] }
export const tex = { name: 'pandoc', how: 'pandoc a.docx -o a.pdf', needs: ['pandoc', 'latex'] }
export const python = { name: 'python-docx', how: 'run the script', needs: ['python>=3.9', 'pip:python-docx'] }

/** The answer of each role; the same on every machine. */
const answers = () => ({
  enumerator: json({ approaches: [office, tex, python] }),
  'pattern matcher': json({ approach: office, rationale: 'it keeps the layout' }),
  'dependency scanner': json({ approaches: [{ ...python, viable: true, reason: 'python is there' }] }),
  'fallback chain': json({ approaches: [{ ...office, fails: 'it is slow to start' }, tex, python] }),
  'code generator': json({ script: { ...python, language: 'python', code: 'print(1)' }, why: 'it is short' }),
  chair: json({
    approaches: [
      { ...office, why: 'it keeps the layout', check: { kind: 'command', command: 'file a.pdf' } },
      { ...tex, why: 'it is fast', check: { kind: 'command', command: 'file a.pdf' } },
      { ...python, why: 'it needs no program', check: { kind: 'command', command: 'file a.pdf' } },
    ],
    dropped: [{ name: 'by hand', why: 'a person is slow' }],
    dissent: '',
  }),
  judge: json({ passed: true, quote: 'done', why: 'it says so' }),
})

/** Whom a prompt is for. */
export function roleOf(prompt: string): string {
  if (prompt.startsWith('You chair')) return 'chair'
  return prompt.startsWith('You judge') ? 'judge' : /^You are the ([a-z ]+)\./m.exec(prompt)![1]!
}

/** One agent in every role, as those are asked; `over` says what somebody does instead. */
export const council =
  (over: Partial<Record<Role, Script>> = {}): Script =>
  (turn) => {
    const script = { ...answers(), ...over }[roleOf(turn.prompt) as Role]
    return typeof script === 'function' ? script(turn) : script
  }

/** Three vendors who all answer so, somebody who acts, and a check that passes. */
export const sitting = (over: Partial<Record<Role, Script>> = {}, o: Rigged = {}) => {
  const one = council(over)
  return thinkingRig({
    agents: { claude: [one], gemini: [one], codex: [one] },
    actor: [says('done')],
    commands: { 'file a.pdf': 0 },
    ...o,
  })
}

/** The prompts of the acting agent from now on, one by one. */
export function overheard({ resources: made }: ReturnType<typeof thinkingRig>): string[] {
  const heard: string[] = []
  const { actor } = made
  made.actor = { ...actor, turn: (turn) => (heard.push(turn.prompt), actor.turn(turn)) }
  return heard
}
