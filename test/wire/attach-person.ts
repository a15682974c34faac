// A person's shell that attaches to a terminal of its own: `node attach-person.ts <command> [<lost>]`, says how they left. The output
// that ends with the text <lost> does not reach them.
import type { Terminal } from '../../src/core/screen/terminal.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { ptyHost } from '../../src/terminals/pty/pty-host.ts'
import { attach } from '../../src/wire/attach/attach-terminal.ts'

const ended = new AbortController()
process.on('SIGTERM', () => ended.abort())
process.on('SIGUSR2', () => process.exit(9))
process.stdout.write('what was there before\r\n')
const host = ptyHost({ env: process.env, clock: realClock })
const terminal = await host.open(process.argv[2]!, { cwd: process.cwd(), title: '2 claude busy' })
const io = { in: process.stdin, out: process.stdout, clock: realClock, signal: ended.signal }
const lost = process.argv[3]
const how = await attach(lost === undefined ? terminal : losing(terminal, lost), io)
const { rows, cols } = await terminal.screen()
await host.close()
console.log(`left: ${how} ${cols}x${rows.length} touched ${(await terminal.touched()) > 0}`)

function losing(whole: Terminal, lost: string): Terminal {
  let isLost = false
  const output: Terminal['output'] = async function* (after) {
    for await (const { at, bytes } of whole.output(after)) {
      const found = isLost ? -1 : Buffer.from(bytes).indexOf(lost)
      isLost ||= found >= 0
      const gone = found < 0 ? 0 : found + lost.length
      if (gone < bytes.length) yield { at: at + gone, bytes: bytes.subarray(gone) }
    }
  }
  return new Proxy(whole, {
    get(target, name) {
      if (name === 'output') return output
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
