import type { TestContext } from 'node:test'
import type { ChatEnd } from '../../src/chat/chat.ts'
import type { Script } from './scripted-desk.ts'
import { HandClock } from '../hand-clock.ts'
import { openChat } from '../../src/chat/chat.ts'
import { ScriptedDesk } from './scripted-desk.ts'
import { VirtualTerminal } from './virtual-terminal.ts'

export type Sitting = {
  desk: ScriptedDesk
  terminal: VirtualTerminal
  clock: HandClock
  end: Promise<ChatEnd>
  /** The screen as soon as that can be read on it. */
  seen(words: string | RegExp): Promise<string[]>
  /** The screen as soon as that can no longer be read on it. */
  gone(words: string): Promise<string[]>
  abort(): void
}

export type Place = {
  columns?: number
  rows?: number
  env?: Record<string, string>
  altScreen?: boolean
  background?: string
}

/** A person at the chat, at a terminal in memory, until the test is over. */
export function sit(test: TestContext, script: Script = {}, place: Place = {}): Sitting {
  const desk = new ScriptedDesk(script)
  const terminal = new VirtualTerminal(place.columns ?? 80, place.rows ?? 24, place.background)
  const clock = new HandClock()
  const over = new AbortController()
  const end = openChat(desk, {
    clock,
    env: place.env ?? { NO_COLOR: '1', TERM: 'xterm' },
    signal: over.signal,
    altScreen: place.altScreen ?? true,
    terminal,
  })
  test.after(() => over.abort())
  const until = async (fits: (lines: string[]) => boolean): Promise<string[]> => {
    for (;;) {
      const lines = await terminal.lines()
      if (fits(lines)) return lines
      if (test.signal.aborted) throw new Error(`it never came to that:\n${lines.join('\n')}`)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const has = (lines: string[], words: string | RegExp) =>
    typeof words === 'string' ? lines.join('\n').includes(words) : words.test(lines.join('\n'))
  return {
    desk,
    terminal,
    clock,
    end,
    seen: (words) => until((lines) => has(lines, words)),
    gone: (words) => until((lines) => !has(lines, words)),
    abort: () => over.abort(),
  }
}
