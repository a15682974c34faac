// An agent at the hub, in nothing but HTTP. Run it with the address of the hub and a key of the role agent:
//   TERMAITE_HUB=http://localhost:3456 TERMAITE_HUB_KEY=… node hub-agent.mjs <name of the key> <workspace>
import { randomUUID } from 'node:crypto'

const { TERMAITE_HUB: hub = 'http://localhost:3456', TERMAITE_HUB_KEY: key } = process.env
const [name = 'my-agent', workspace = process.cwd()] = process.argv.slice(2)

/** Sends one request, and sends it again while the hub is away: a repeated request does nothing twice. */
async function ask(path, body) {
  for (let pause = 250; ; pause = Math.min(pause * 2, 10_000)) {
    const answer = await fetch(`${hub}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).catch(() => undefined)
    if (answer && answer.status < 500 && answer.status !== 429)
      return { status: answer.status, body: await answer.json() }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

await ask('/api/agents', { id: name, role: 'developer', capabilities: [], workspace })

// `asked` says which request for work is the newest: one that was given up and arrives late gets nothing.
const run = randomUUID()
for (let number = 1; ; number++) {
  const { status, body: given } = await ask(`/api/agents/${name}/wait`, { timeout: 60, asked: { run, number } })
  if (status !== 200 || given.type === 'evict') {
    console.error(given.error ?? given.why)
    break
  }
  if (given.type !== 'task') continue
  // The ticket, and not the id of the task, names this one time that the task was given out. When the task is given out
  // again, because this agent was silent for too long, the old ticket is refused with 409: drop the work then.
  const { ticket, task } = given
  const taken = await ask(`/api/tasks/${ticket}/ack`, {})
  if (taken.status !== 200) continue
  const message = `done: ${task.prompt}`
  const answered = await ask(`/api/tasks/${ticket}/respond`, { status: 'COMPLETED', message })
  console.log(answered.status, task.id, answered.body.state ?? answered.body.error)
}
