import type { Answer, Asked } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { alive, labelled } from '../base/alive.ts'
import { ended } from '../cli/program.ts'
import { machine } from './three.ts'
import { until } from '../until.ts'

const told = (value: unknown) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` })

const node = { name: 'a node script', how: 'write out.txt with node', needs: ['node'] }
const latex = { name: 'latex', how: 'typeset it', needs: ['no-such-latex'] }

const check = { kind: 'file', path: 'out.txt', holds: 'made' }

/** The answer of each role. */
const answers: Record<string, Answer> = {
  enumerator: told({ approaches: [node, latex] }),
  'pattern matcher': told({ approach: latex, rationale: 'it is usual' }),
  'dependency scanner': told({ approaches: [{ ...node, viable: true, reason: 'node is there' }] }),
  'fallback chain': told({ approaches: [node, latex] }),
  'code generator': told({ script: null, why: 'one command does it' }),
  chair: told({
    approaches: [{ ...node, why: 'it is there', check }],
    dropped: [{ name: latex.name, why: 'no-such-latex is not installed' }],
    dissent: 'the pattern matcher would typeset it',
  }),
}

function roleOf({ text }: Asked): string | undefined {
  if (text.includes('You chair five advisors')) return 'chair'
  return Object.keys(answers).find((role) => text.includes(`You are the ${role}.`))
}

test('five advisors on three vendors, one chair, one agent acts: the conversation holds one prompt, the notes and one reply', async (t) => {
  const asked: [role: string, wire: string][] = []
  let acted = 0
  const { run, history } = await machine(t, (request) => {
    const role = roleOf(request)
    asked.push([role ?? 'actor', request.wire])
    if (role) return answers[role]!
    const write = { tool: 'Bash', input: { command: 'echo made > out.txt', description: 'makes it' } }
    return acted++ === 0 ? { call: write } : { text: 'out.txt is made.' }
  })
  const { code, out, err } = await run('-p', 'make out.txt, by any means', '--think', 'consensus', '--leash', 'all')
  assert.deepEqual({ code, out }, { code: 0, out: 'out.txt is made.\n' }, err)
  const advisors = asked.filter(([role]) => role !== 'actor' && role !== 'chair').sort()
  assert.deepEqual(advisors, [
    ['code generator', 'gemini'],
    ['dependency scanner', 'responses'],
    ['enumerator', 'anthropic'],
    ['fallback chain', 'anthropic'],
    ['pattern matcher', 'gemini'],
  ])
  assert.deepEqual(
    asked.slice(advisors.length).map(([role]) => role),
    ['chair', 'actor', 'actor'],
  )
  const kept = history()
  const [verdict] = kept.filter(({ type }) => type === 'verdict')
  assert.deepEqual(
    kept.filter(({ type }) => ['prompt', 'reply', 'end'].includes(type)).map(({ type, by }) => [type, by]),
    [
      ['prompt', 'user'],
      ['reply', 'claude'],
      ['end', 'rotation'],
    ],
  )
  assert.deepEqual(
    verdict?.type === 'verdict' && { by: verdict.by, passed: verdict.passed, calls: verdict.calls, why: verdict.why },
    { by: 'claude', passed: true, calls: 6, why: 'you chose it' },
  )
  const notes = kept.flatMap((entry) => (entry.type === 'note' ? [entry.text] : []))
  assert.deepEqual(
    notes.map((text) => text.replace(/about .*/, 'about so much')),
    [
      'thinking: consensus, you chose it; 6 extra calls (claude: lists options, plan B; gemini: best practice, script draft; codex: what works here, chair), about so much',
      'advice: lists options (claude), best practice (gemini), what works here (codex), plan B (claude), script draft (gemini)',
      'chosen by codex: a node script (it is there); not latex (no-such-latex is not installed)',
      'dissent: the pattern matcher would typeset it',
    ],
  )
  const usage = kept.filter(({ type }) => type === 'usage').map(({ by }) => by)
  assert.deepEqual([...new Set(usage)].sort(), ['claude', 'codex', 'gemini'])
})

test('a cancel while five advise ends the real CLIs of all of them', async (t) => {
  const waiting = new Set<string>()
  const { start, history } = await machine(t, (request) => {
    waiting.add(roleOf(request) ?? 'somebody else')
    return { hang: true }
  })
  const { label } = labelled()
  const child = start(['-p', 'make out.txt, by any means', '--think', 'consensus'], { TEST_LABEL: label })
  const over = ended(child)
  await until(() => waiting.size === 5)
  const working = await alive(label)
  assert.ok(working.length > 5, working.join('\n'))
  child.kill('SIGINT')
  const { code, out } = await over
  assert.deepEqual({ code, out, alive: await alive(label) }, { code: 130, out: '', alive: [] })
  const last = history().at(-1)
  assert.deepEqual(last?.type === 'end' && !last.outcome.ok && last.outcome.failure.kind, 'aborted')
})
