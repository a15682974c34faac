import type { Question } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import { sit } from '../faces/chat/sitting.ts'
import { frameOf } from './frame.ts'
import { golden } from './golden.ts'
import { looks, sizes } from './looks.ts'

/** Cards that no agent of this test brings about, as their makers word them. */
const cards: Readonly<Record<string, Omit<Question, 'from'>>> = {
  trust: {
    about: 'trust',
    text: 'This project brings settings of its own. They are used only when you trust them.',
    shows: [{ type: 'text', text: '.termaite/settings.json\n.mcp.json: 2 servers' }],
    options: [
      {
        id: 'yes',
        label: 'Trust them',
        grants: 'these files as they are now; they are asked for again when they change',
      },
      { id: 'no', label: 'Do not use them' },
    ],
  },
  login: {
    about: 'login',
    text: 'gemini is not logged in.',
    agent: 'gemini',
    shows: [{ type: 'command', command: 'gemini' }],
    options: [
      { id: 'retry', label: 'I have logged in: try again' },
      { id: 'next', label: 'Continue with claude' },
    ],
  },
  silence: {
    about: 'silence',
    text: 'gemini has said and done nothing for 5 minutes.',
    agent: 'gemini',
    options: [
      { id: 'wait', label: 'Wait on' },
      { id: 'switch', label: 'Go on with claude' },
      { id: 'stop', label: 'Stop the turn' },
    ],
  },
  denied: {
    about: 'denied',
    text: 'gemini was not allowed to do everything it wanted.',
    agent: 'gemini',
    shows: [
      { type: 'text', text: 'Bash: npm test' },
      { type: 'text', text: 'Write: src/add.ts' },
    ],
    options: [
      {
        id: 'allow',
        label: 'Allow it for this turn and try again',
        grants: 'leash edit: changes files of the project',
      },
      { id: 'leave', label: 'Leave it as it is' },
    ],
  },
  'always-prefix': {
    about: 'permission',
    text: 'bash: it sends commits away; it would run outside the sandbox',
    agent: 'native',
    shows: [{ type: 'command', command: 'git push origin main', cwd: '/project' }],
    options: [
      { id: 'once', label: 'Yes, once' },
      { id: 'always', label: 'Yes, always', grants: 'bash(git push origin main)' },
      { id: 'prefix', label: 'Yes, always, also with other arguments', grants: 'bash(git push:*)' },
      { id: 'no', label: 'No' },
    ],
  },
  'sandbox-refused': {
    about: 'permission',
    text: 'bash: The sandbox refused to write /opt/tool: only the project can be written. Outside the sandbox it has your files, your keys and the network.',
    agent: 'native',
    shows: [{ type: 'command', command: 'make install PREFIX=/opt/tool', cwd: '/project' }],
    options: [
      { id: 'once', label: 'Run it once outside the sandbox' },
      {
        id: 'always',
        label: 'Always run it outside, in this project',
        grants: 'bash(make install PREFIX=/opt/tool)',
      },
      { id: 'no', label: 'No' },
    ],
  },
  sharing: {
    about: 'sharing',
    text: 'This conversation has been with Anthropic alone. gemini would send it to Google.',
    agent: 'gemini',
    options: [
      { id: 'yes', label: 'Share it', grants: 'this conversation, from now on' },
      { id: 'no', label: 'No: go on with claude' },
    ],
  },
}

for (const [look, { env, background }] of Object.entries(looks))
  test(`the other cards, ${look}`, { timeout: 60_000 }, async (t) => {
    const place = { env: { TERM: 'xterm', ...env }, ...(background ? { background: `rgb:${background}` } : {}) }
    for (const [name, card] of Object.entries(cards)) {
      const { desk, terminal, seen, gone, clock, end } = sit(t, {}, place)
      await seen('Welcome to')
      const question: Question = { from: [], ...card }
      desk.turn(
        't',
        { type: 'prompt', text: 'Make the tests pass.', by: 'user' },
        { type: 'question', ask: 'q', question },
      )
      for (const { cols, rows } of sizes) {
        terminal.resize(cols, rows)
        await clock.turn(250)
        const lines = await seen(/waits for your answer[^]*Esc: /)
        if (lines[0]!.length !== cols || lines.length !== rows) await seen(new RegExp(`^╭.{${cols - 2}}╮`))
        golden(`${name}-${cols}x${rows}`, look, frameOf(terminal.emulator))
      }
      desk.turn('t', { type: 'end', outcome: { ok: true, text: 'done' } })
      await gone('Esc: ')
      terminal.press('\x04')
      await end
    }
  })
