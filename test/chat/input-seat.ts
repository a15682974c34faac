import type { Pasted } from '../../src/chat/input/clipboard.ts'
import type { TUI } from '@earendil-works/pi-tui'
import type { Script } from './scripted-desk.ts'
import type { Command } from '../../src/core/talk/command.ts'
import { stripTerminalSequences } from '@earendil-works/pi-tui'
import { HandClock } from '../hand-clock.ts'
import { InputBox } from '../../src/chat/input/input-box.ts'
import { plain } from '../../src/chat/style/theme.ts'
import { ScriptedDesk } from './scripted-desk.ts'

/** The keys as terminals send them: without a protocol, and by Kitty's. */
export const legacy = {
  enter: '\r',
  shiftEnter: '\x1b[27;2;13~',
  altEnter: '\x1b\r',
  ctrlJ: '\n',
  up: '\x1b[A',
  down: '\x1b[B',
  tab: '\t',
  escape: '\x1b',
  ctrlG: '\x07',
  ctrlR: '\x12',
  backspace: '\x7f',
  undo: '\x1f',
}
export const kitty: typeof legacy = {
  enter: '\x1b[13u',
  shiftEnter: '\x1b[13;2u',
  altEnter: '\x1b[13;3u',
  ctrlJ: '\x1b[106;5u',
  up: '\x1b[1;1A',
  down: '\x1b[1;1B',
  tab: '\x1b[9u',
  escape: '\x1b[27u',
  ctrlG: '\x1b[103;5u',
  ctrlR: '\x1b[114;5u',
  backspace: '\x1b[127u',
  undo: '\x1b[45;5u',
}

export const pasted = (text: string) => `\x1b[200~${text}\x1b[201~`

export const command = (name: string, more: Partial<Command> = {}): Command => ({
  name,
  help: `what ${name} does`,
  run: async () => {},
  ...more,
})

/** A person in front of an input: the test can ask for the sent prompts and the visible rows. */
export function seat(script: Script = {}, parts: { desk?: ScriptedDesk; rows?: number } = {}) {
  const desk = parts.desk ?? new ScriptedDesk(script)
  const clock = new HandClock()
  const sent: string[] = []
  const palettes: string[] = []
  const said: string[] = []
  const clipboards: ((pasted: Pasted) => void)[] = []
  const edits: { text: string; done(text?: string): void }[] = []
  const tui = { terminal: { rows: parts.rows ?? 24, columns: 80 }, requestRender() {} } as unknown as TUI
  const box = new InputBox({
    tui,
    theme: plain,
    desk,
    clock,
    onSubmit: (text) => sent.push(text),
    openPalette: (query) => palettes.push(query),
    showKeys: () => palettes.push('the keys'),
    clipboard: () => new Promise((done) => clipboards.push(done)),
    say: (words) => said.push(words),
    wsl: false,
    edit: (text) => new Promise((done) => edits.push({ text, done })),
  })
  box.focused = true
  return {
    desk,
    clock,
    box,
    sent,
    palettes,
    edits,
    said,
    clipboards,
    press: (...keys: string[]) => keys.forEach((key) => box.handleInput(key)),
    type: (text: string) => [...text].forEach((key) => box.handleInput(key)),
    lines: (width = 48) => box.render(width).map(stripTerminalSequences),
  }
}
