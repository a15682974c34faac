import type { TestContext } from 'node:test'
import type { Size } from './program-window.ts'
import type { Sitting } from '../chat/sitting.ts'
import type { Question } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import { sit } from '../chat/sitting.ts'
import type { Frame } from './frame.ts'
import { frameOf } from './frame.ts'
import { everyCard } from '../app/every-card.ts'
import { consentOptions } from '../../src/core/talk/consent.ts'
import { golden } from './golden.ts'
import { looks, sizes } from './looks.ts'

const every = await everyCard()
const named = [
  'trust',
  'login',
  'silence',
  'denied',
  'always-prefix',
  'sharing',
  'think-cost',
  'long-turn',
  'gemini-edit',
  'setup-agents',
  'left-processes',
  'leash-all',
  'absent',
  'was-quota',
  'worker-stray',
  'worker-conflict',
]

/** Cards that no agent of this test brings about, as their makers word them. */
const cards: Readonly<Record<string, Question>> = {
  ...Object.fromEntries(named.map((name) => [name, every[name]!])),
  'sandbox-refused': {
    about: 'permission',
    text: 'bash: The sandbox refused to write /opt/tool: commands may write only in the project. Outside the sandbox it can use your files, your keys and the network.',
    agent: 'native',
    from: [],
    shows: [{ type: 'command', command: 'make install PREFIX=/opt/tool', cwd: '/project' }],
    options: consentOptions({
      once: { id: 'once', label: 'Yes, run it once outside the sandbox' },
      always: {
        id: 'always',
        label: 'Yes, always run it outside the sandbox in this project',
        grants: 'bash(make install PREFIX=/opt/tool)',
      },
      no: { id: 'no', label: 'No' },
    }),
  },
}

type Look = (size: string, screen: Pick<Sitting, 'seen'> & { frame(): Frame; press(key: string): void }) => unknown

/** A screen with one card, at each of the sizes. */
async function framed(t: TestContext, look: string, question: Question, at: readonly Size[], see: Look) {
  const { env, background } = looks[look]!
  const place = { env: { TERM: 'xterm', ...env }, ...(background ? { background: `rgb:${background}` } : {}) }
  const { desk, terminal, seen, gone, clock, end } = sit(t, {}, place)
  await seen('Welcome to')
  desk.turn('t', { type: 'prompt', text: 'Make the tests pass.', by: 'user' }, { type: 'question', ask: 'q', question })
  for (const { cols, rows } of at) {
    terminal.resize(cols, rows)
    const card = `^── [^\\n]{${cols - 4}}─$[^]*`
    // The card takes keys after a pause.
    await seen(/until you pause|Esc: /)
    await clock.turn(500)
    await seen(new RegExp(`${card}Esc: `, 'm'))
    await see(`${cols}x${rows}`, { frame: () => frameOf(terminal.emulator), press: (key) => terminal.press(key), seen })
  }
  desk.turn('t', { type: 'end', outcome: { ok: true, text: 'done' } })
  await gone('Esc: ')
  terminal.press('\x04')
  await end
}

for (const look of Object.keys(looks)) {
  test(`the other cards, ${look}`, { timeout: 60_000 }, async (t) => {
    for (const [name, question] of Object.entries(cards))
      await framed(t, look, question, sizes, (size, { frame }) => golden(`${name}-${size}`, look, frame()))
  })

  test(`a script of 125 lines, ${look}`, { timeout: 60_000 }, async (t) => {
    const sizes = [
      { cols: 80, rows: 24 },
      { cols: 100, rows: 30 },
      { cols: 160, rows: 50 },
      { cols: 200, rows: 50 },
    ]
    await framed(t, look, every['long-script']!, sizes, async (size, { frame, press, seen }) => {
      await seen('lines 1–')
      golden(`long-script-${size}`, look, frame())
      press('\x1b[6~')
      await seen(/lines (?!1–)\d+–\d+ of 131/)
      golden(`long-script-middle-${size}`, look, frame())
      for (let page = 0; page < 9; page++) press('\x1b[6~')
      await seen('of 131')
      await seen('exit')
      golden(`long-script-end-${size}`, look, frame())
      for (let page = 0; page < 9; page++) press('\x1b[5~')
    })
  })
}
