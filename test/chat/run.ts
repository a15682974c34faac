// Opens the chat on a scripted desk, to be looked at: node test/chat/run.ts [--no-alt-screen] [--history N]
import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { ScriptedDesk as Desk } from './scripted-desk.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { openChat } from '../../src/chat/chat.ts'
import { ScriptedDesk } from './scripted-desk.ts'

const answer = `Here is **what** I found in \`src/main.ts\`:

1. It reads the arguments
2. It opens *one* face

- a list item with a [link](https://example.com/docs)
  - a nested one

| file | lines | why |
|---|---:|---|
| main.ts | 40 | entry |
| app.ts | 90 | wiring of everything that there is to wire in this program |

\`\`\`ts
// the loop
export async function main(argv: string[]): Promise<number> {
  const app = await open({ name: 'demo', count: 42 })
  return app.run(argv)
}
\`\`\`

> quoted words

That is all.
`

const before = 'one\ntwo\nthree\nfour\nfive\n'
const edit = { path: 'src/main.ts', before, after: before.replace('three', 'drei\nand more') }

const stories: Record<string, Event[]> = {
  fail: [
    { type: 'text', delta: 'Half an ans', by: 'gemini' },
    {
      type: 'attempt',
      failure: { kind: 'quota', message: 'You have exhausted your daily quota.', retryAt: Date.now() + 3_600_000 },
      ms: 1234,
      by: 'gemini',
    },
    { type: 'reply', text: 'I took over.', by: 'claude' },
    { type: 'end', outcome: { ok: true, text: 'I took over.' } },
  ],
  die: [
    { type: 'text', delta: 'Half an ans', by: 'gemini' },
    { type: 'end', outcome: { ok: false, failure: { kind: 'auth', message: 'You are not logged in.' } } },
  ],
  hostile: [
    {
      type: 'reply',
      text: '\x1b[2J\x1b]0;owned\x07\x1b]52;c;AAAA\x07red \x1b[31mred\x1b[0m \u202Etxt.exe\u202C עברית 你好 👨‍👩‍👧 e\u0301 \x9b5A\ttab\r\nnext',
      by: 'claude',
    },
    { type: 'reply', text: 'x'.repeat(1_000_000), by: 'gemini' },
    { type: 'end', outcome: { ok: true, text: '' } },
  ],
  ask: [
    {
      type: 'question',
      ask: 'q1',
      question: {
        about: 'permission',
        text: 'Run this command?',
        from: [],
        shows: [{ type: 'command', command: 'rm -rf build && npm test', cwd: '/tmp' }],
        options: [
          { id: 'once', label: 'Yes, once' },
          { id: 'always', label: 'Yes, always', grants: 'every `npm test` in this project' },
          { id: 'no', label: 'No' },
        ],
      },
      by: 'claude',
    },
  ],
}

const full: Event[] = [
  { type: 'thought', delta: 'I should look at the entry point.\nThen at the rest.', by: 'claude' },
  {
    type: 'plan',
    items: [
      { task: 'look', status: 'in_progress' },
      { task: 'change', status: 'pending' },
    ],
    by: 'claude',
  },
  { type: 'call', call: 'c1', tool: 'Read', input: { file_path: 'src/main.ts' }, by: 'claude' },
  { type: 'result', call: 'c1', ok: true, text: 'import …', by: 'claude' },
  { type: 'call', call: 'c2', tool: 'Bash', input: { command: 'npm test -- --watch=false' }, by: 'claude' },
  { type: 'progress', call: 'c2', delta: 'running…' },
  { type: 'result', call: 'c2', ok: false, text: 'Error: 3 tests failed\n  at foo', by: 'claude' },
  { type: 'call', call: 'c3', tool: 'Edit', input: { path: 'src/main.ts' }, by: 'claude' },
  { type: 'result', call: 'c3', ok: true, text: 'edited', data: [edit], by: 'claude' },
  { type: 'inner', role: 'advisor', event: { type: 'text', delta: 'I think it is fine.', by: 'codex' } },
  {
    type: 'plan',
    items: [
      { task: 'look', status: 'completed' },
      { task: 'change', status: 'completed' },
    ],
    by: 'claude',
  },
  { type: 'note', text: 'The snapshot before this turn is kept.' },
]

async function play(text: string, desk: Desk): Promise<void> {
  const turn = String(Date.now())
  desk.busy = true
  desk.turn(turn, { type: 'prompt', text, by: 'you' })
  for (const event of stories[text] ?? full) {
    await realClock.sleep(300)
    desk.turn(turn, event)
  }
  if (!stories[text]) {
    for (const delta of answer.match(/.{1,7}/gs)!) {
      await realClock.sleep(20)
      desk.turn(turn, { type: 'text', delta, by: 'claude' })
    }
    desk.turn(turn, { type: 'reply', text: answer, by: 'claude' }, { type: 'end', outcome: { ok: true, text: answer } })
  }
  desk.busy = false
  if (text === 'ask') return
  desk.happen({
    type: 'closing',
    closing: {
      turn,
      by: 'claude',
      why: 'next in rotation',
      ms: 4200,
      changed: { files: 1, added: 2, removed: 1 },
      tokens: 12_345,
      source: 'estimated',
    },
  })
}

function history(turns: number): Entry[] {
  return Array.from({ length: turns }, (_, at): Entry[] => {
    const common = { session: 's', turn: `t${at}` }
    return [
      { ...common, id: `p${at}`, at: at * 1000, by: 'you', type: 'prompt', text: `question ${at}` },
      { ...common, id: `r${at}`, at: at * 1000 + 500, by: at % 2 ? 'claude' : 'gemini', type: 'reply', text: answer },
      { ...common, id: `e${at}`, at: at * 1000 + 900, by: 'claude', type: 'end', outcome: { ok: true, text: answer } },
    ]
  }).flat()
}

const at = process.argv.indexOf('--history')
const desk = new ScriptedDesk({
  standing: {
    agents: [
      { name: 'claude', state: 'ready', left: 0.82 },
      { name: 'gemini', state: 'parked', until: Date.now() + 7_200_000, left: 0.95 },
      { name: 'codex', state: 'cooling down', until: Date.now() + 60_000 },
    ],
    tokens: { used: 45_678, cost: 0.3456, source: 'estimated' },
  },
  entries: at < 0 ? [] : history(Number(process.argv[at + 1])),
  ...(at < 0 ? {} : { shown: 60 }),
  files: ['src/main.ts', 'README.md'],
  commands: [
    { name: 'help', help: 'what there is', run: async () => {} },
    { name: 'switch', words: '[agent]', help: 'who takes the next turn', run: async () => {} },
  ],
  onSubmit: (text, here) => {
    if (text === '/exit') here.screen?.exit()
    else if (text.startsWith('/')) here.happen({ type: 'said', text: `what ${text} says`, how: 'text' })
    else void play(text, here)
  },
})
const end = await openChat(desk, {
  clock: realClock,
  env: process.env,
  signal: new AbortController().signal,
  altScreen: !process.argv.includes('--no-alt-screen'),
})
console.log(JSON.stringify(end))
