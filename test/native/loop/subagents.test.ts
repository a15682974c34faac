import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { chosenSubagent, findSubagents, subagentList } from '../../../src/native/loop/subagent-files.ts'
import { groundOf } from './ground.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

test('the person’s own subagents, as other agents write them too', (t) => {
  const { at, ground } = groundOf(t, {
    'home/agents/reviewer.md':
      '---\nname: code-reviewer\ndescription: Reviews\n  changes.\ntools: file_reader, grep_search bash\nmodel: groq/x\neffort: high\npermissionMode: plan\nmaxTurns: 7\nhooks:\n  Stop: []\n---\nYou review.\n',
    'home/agents/plain.md': 'You are plain.',
    'home/agents/list.md': '---\nmodel: inherit\ntools:\n  - ls\n  - Bash(git log:*)\n---\nYou list.',
    'home/agents/twin.md': '---\nname: plain\n---\nAgain.',
    'home/agents/empty.md': '---\nname: empty\n---\n',
    'home/agents/torn.md': '---\nname: torn',
    'home/agents/odd.md': '---\nname: a b\n---\nx',
    'home/agents/notes.txt': 'not one',
  })
  const found = findSubagents(ground)
  const own = (file: string) => ({ path: at(`home/agents/${file}`), place: at(`home/agents/${file}`), from: 'user' })
  const reviewer = {
    name: 'code-reviewer',
    description: 'Reviews changes.',
    tools: ['file_reader', 'grep_search', 'bash'],
    model: 'groq/x',
    effort: 'high',
    mode: 'plan',
    steps: 7,
    role: 'You review.',
    ...own('reviewer.md'),
    unknown: ['hooks'],
  }
  golden(t, found, { [ground.home]: '<home>' })
  golden(t, subagentList(found.subagents))
  const chosen = (task: string, type?: string) => chosenSubagent({ task, ...(type ? { type } : {}) }, found.subagents)
  assert.deepEqual(chosen('@code-reviewer: look at a.ts'), { subagent: reviewer, task: 'look at a.ts' })
  assert.deepEqual(chosen('look at a.ts', 'code-reviewer'), { subagent: reviewer, task: 'look at a.ts' })
  assert.deepEqual(chosen('look at a.ts', 'general-purpose'), { task: 'look at a.ts' })
  assert.deepEqual(chosen('@someone look'), { task: '@someone look' })
  golden.throws(t, () => chosen('look', 'someone'))
  assert.deepEqual(findSubagents({ ...ground, home: at('outside') }), { subagents: [], warnings: [], unused: [] })
  assert.equal(subagentList([]), '')
})

test('the subagents of a project: termaite’s folder first, then Claude Code’s and OpenCode’s, then the person’s own', (t) => {
  const { at, ground } = groundOf(t, {
    'repo/.termaite/agents/reviewer.md': 'Termaite’s.',
    'repo/.claude/agents/reviewer.md': 'Claude’s.',
    'repo/.claude/agents/team/tester.md': '---\nname: tester\ndescription: Tests.\n---\nYou test.',
    'repo/.opencode/agents/writer.md':
      '---\ndescription: Writes.\nmode: subagent\ntools:\n  bash: false\n  read: true\npermission:\n  edit: deny\n  webfetch:\n    "*": ask\n    "evil.com": deny\ntemperature: 0.1\n---\nYou write.',
    'repo/.opencode/agent/primary.md': '---\nmode: primary\n---\nI am chosen.',
    'repo/.opencode/agent/off.md': '---\ndisable: true\n---\nOff.',
    'home/agents/tester.md': 'The person’s.',
    'home/agents/own.md': 'Own.',
  })
  const project = (place: string) => ({ path: at(`repo/${place}`), place, from: 'project' })
  const found = findSubagents(ground)
  assert.deepEqual(found.subagents, [
    {
      name: 'own',
      description: '',
      role: 'Own.',
      path: at('home/agents/own.md'),
      place: at('home/agents/own.md'),
      from: 'user',
    },
    { name: 'reviewer', description: '', role: 'Termaite’s.', ...project('.termaite/agents/reviewer.md') },
    { name: 'tester', description: 'Tests.', role: 'You test.', ...project('.claude/agents/team/tester.md') },
    {
      name: 'writer',
      description: 'Writes.',
      without: ['bash', 'edit', 'webfetch'],
      role: 'You write.',
      ...project('.opencode/agents/writer.md'),
      unknown: ['temperature'],
    },
  ])
  golden(t, found.warnings, { [ground.home]: '<home>' })
  const untrusted = findSubagents({ ...ground, trusted: false })
  assert.deepEqual(
    [untrusted.subagents.map(({ name }) => name), untrusted.unused],
    [
      ['own', 'tester'],
      [
        '.termaite/agents/reviewer.md',
        '.claude/agents/reviewer.md',
        '.claude/agents/team/tester.md',
        '.opencode/agents/writer.md',
        '.opencode/agent/off.md',
        '.opencode/agent/primary.md',
      ],
    ],
  )
})

test('hostile files of a project are bounded, and warnings name them', (t) => {
  const { at, ground, write } = groundOf(t, {
    'outside/secret.md': 'secret',
    'outside/far/agents/far.md': 'far',
    'repo/.claude/agents/huge.md': 'x'.repeat(10 * 1024 * 1024),
    'repo/.claude/agents/binary.md': Buffer.from([0, 1, 2, 0]),
    'repo/.claude/agents/loud.md': '---\ndescription: "a\u001b]0;owned\u0007b\u202ec \u001b[31mred"\n---\nx',
    'repo/.claude/agents/wild.md': '---\n: : :\n- [ { unclosed\n\ttabs: [1,\n---\nfine',
  })
  symlinkSync(at('outside/secret.md'), at('repo/.claude/agents/link.md'))
  symlinkSync(at('outside/far'), at('repo/.opencode'))
  symlinkSync('.', at('repo/.claude/agents/loop'))
  execFileSync('mkfifo', [at('repo/.claude/agents/pipe.md')])
  const { subagents, warnings } = findSubagents(ground)
  assert.deepEqual(
    subagents.map(({ name, description }) => [name, description]),
    [
      ['loud', 'ab⟨U+202E⟩c red'],
      ['wild', ''],
    ],
  )
  golden(t, warnings, { [at('.')]: '<folder>' })
  for (let i = 0; i < 300; i++)
    write(`repo/.termaite/agents/n${String(i).padStart(3, '0')}.md`, `---\ndescription: ${'d'.repeat(300)}\n---\nx`)
  const many = findSubagents(ground)
  assert.equal(many.subagents.length, 200)
  golden(t, many.warnings[0]!)
  assert.ok(subagentList(many.subagents).length < 7_000)
})
