import { realClock } from '../src/base/time/clock.ts'
import { ptyHost } from '../src/terminals/pty/pty-host.ts'
import { attach } from '../src/wire/attach/attach-terminal.ts'

/** A person at a terminal of this process: `attached.ts <command>`. */
const host = ptyHost({ env: process.env, clock: realClock })
const terminal = await host.open(process.argv[2]!, { cwd: process.cwd() })
const { stdin, stdout } = process
await attach(terminal, { in: stdin, out: stdout, clock: realClock, signal: new AbortController().signal })
await host.close()
process.exit(0)
