// A person's shell that attaches to a terminal of its own: `node attach-person.ts <command>`, says how they left.
import { realClock } from '../../src/base/clock.ts'
import { ptyHost } from '../../src/terminals/pty/pty-host.ts'
import { attach } from '../../src/faces/attach/attach-terminal.ts'

const ended = new AbortController()
process.on('SIGTERM', () => ended.abort())
process.on('SIGUSR2', () => process.exit(9))
process.stdout.write('what was there before\r\n')
const host = ptyHost({ env: process.env, clock: realClock })
const terminal = await host.open(process.argv[2]!, { cwd: process.cwd(), title: '2 claude busy' })
const io = { in: process.stdin, out: process.stdout, clock: realClock, signal: ended.signal }
const how = await attach(terminal, io)
const { rows, cols } = await terminal.screen()
await host.close()
console.log(`left: ${how} ${cols}x${rows.length} touched ${(await terminal.touched()) > 0}`)
