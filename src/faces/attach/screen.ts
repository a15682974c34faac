import { writeSync } from 'node:fs'
import type { Writable } from 'node:stream'

/** A screen beside the person's own, so that theirs is there again afterwards. */
const enter = '\u001b[?1049h\u001b[2J\u001b[H'

/** Everything that a program may have switched on, off: whoever comes back types in a terminal as it was. */
export const restored = [
  // Synchronized updates, mouse, focus, pastes, wrapping, cursor keys, keypad, insert mode, margins, letters.
  '\u001b[?2026l\u001b[?9l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1005l\u001b[?1006l\u001b[?1015l\u001b[?1016l\u001b[?1004l\u001b[?2004l',
  '\u001b[?7h\u001b[?1l\u001b>\u001b[4l\u001b[?6l\u001b[r\u001b(B\u000f',
  // The keyboards that programs ask for, the shape of the cursor, colours, and the screen itself.
  '\u001b[<u\u001b[=0u\u001b[>4;0m\u001b[0 q\u001b[?25h\u001b[0m\u001b[?1049l',
].join('')

/** Takes the person's screen, and gives it back once: at the end, or when this process ends on the way. */
export function takeScreen(out: Writable & { fd?: number }): () => void {
  let taken = true
  const crashed = () => {
    if (taken && out.fd !== undefined) writeSync(out.fd, restored)
  }
  process.once('exit', crashed)
  out.write(enter)
  return () => {
    if (taken) out.write(restored)
    taken = false
    process.off('exit', crashed)
  }
}
