// Opens a terminal as a process of its own that is killed: `node keeper.ts <tmux|pty> <ground as JSON> <command>`.
import { realClock } from '../../src/base/time/clock.ts'
import { ptyHost } from '../../src/terminals/pty/pty-host.ts'
import { tmuxHost } from '../../src/terminals/tmux/tmux-host.ts'
import { stubbornOnes } from '../contract/terminal-program.ts'

const [kind, ground, command] = process.argv.slice(2)
const parts = { ...JSON.parse(ground!), clock: realClock }
const host = kind === 'tmux' ? tmuxHost(parts) : ptyHost(parts)
const terminal = await host.open(command!, { cwd: parts.cwd, ...(parts.id && { id: parts.id }) })
console.log(JSON.stringify({ keeper: process.pid, id: terminal.id, pids: await stubbornOnes(terminal) }))
// A busy keeper asks tmux all the time.
setInterval(() => parts.busy && void terminal.screen().catch(() => {}), parts.busy ? 5 : 1e6)
