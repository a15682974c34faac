// Another process of the same home, with an agent in an embedded terminal: `node lender.ts <env as JSON> <terminal> <command>`.
import { terminalsOf } from '../../../../src/crew/machine/crew-terminals.ts'
import { homeOf } from '../../../../src/home/place.ts'
import { noteProcess } from '../../../../src/border/running-processes.ts'
import { realClock } from '../../../../src/base/time/clock.ts'

const [env, id, command] = process.argv.slice(2)
const io = { env: JSON.parse(env!) as Record<string, string>, clock: realClock }
const terminals = terminalsOf(io, { terminals: { host: 'pty' } }, { lends: true })
await (await terminals.host()).open(command!, { cwd: io.env.HOME!, id, size: { cols: 70, rows: 20 } })
const terminal = { id: id!, agent: 'gemini', root: '/shop' }
noteProcess(homeOf(io.env), { process: 'agent', project: '/shop/copy', about: 'gemini-abc123', terminal }, realClock)
console.log('ready')
process.stdin.once('end', async () => {
  await terminals.close()
  process.exit(0)
})
process.stdin.resume()
