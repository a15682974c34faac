import type { AgentContext, SessionUpdate } from '@agentclientprotocol/sdk'
import type { AcpScript, AcpStep } from './acp-rig.ts'
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { RequestError, agent, methods, ndJsonStream } from '@agentclientprotocol/sdk'

/** An ACP agent that does what its script says; all that goes over its pipes stands in two files of the given folder. */
const place = process.cwd()
const script = JSON.parse(process.argv[2]!.replaceAll('$CWD', place)) as AcpScript
const log = (name: string, chunk: Uint8Array) => appendFileSync(`${process.argv[3]}/${name}.jsonl`, chunk)

const output = new WritableStream<Uint8Array>({
  write(chunk) {
    log('out', chunk)
    return new Promise((resolve) => process.stdout.write(chunk, () => resolve()))
  },
})
const input = new ReadableStream<Uint8Array>({
  start(controller) {
    process.stdin.on('data', (chunk) => {
      log('in', chunk)
      controller.enqueue(chunk)
    })
    process.stdin.on('end', () => controller.close())
  },
})

let cancelled = new AbortController()
let prompts = 0
const sessionId = script.session ?? 'session-1'
const fault = (wrong: NonNullable<AcpScript['newError']>) => new RequestError(wrong.code, wrong.message, wrong.data)
const tell = (client: AgentContext, update: object) =>
  client.notify(methods.client.session.update, { sessionId, update: update as SessionUpdate })
const forever = new Promise<never>(() => {})
const held = setInterval(() => {}, 1 << 30)

/** The terminals so far: `$1` stands for the first. */
const terminals: string[] = []

async function act(written: AcpStep, client: AgentContext): Promise<void> {
  const step = JSON.parse(
    JSON.stringify(written)
      .replaceAll(/"\$(\d)"/g, (_, at) => `"${terminals[at - 1]}"`)
      .replaceAll('$PID', String(process.pid))
      .replaceAll('$N', String(prompts)),
  ) as AcpStep
  if ('say' in step) {
    const content = { type: 'text', text: step.say }
    return tell(client, { sessionUpdate: 'agent_message_chunk', content })
  }
  if ('update' in step) return tell(client, step.update)
  if ('raw' in step) {
    log('out', Buffer.from(`${step.raw}\n`))
    return void process.stdout.write(`${step.raw}\n`)
  }
  if ('complain' in step) return void process.stderr.write(`${step.complain}\n`)
  if ('exit' in step) process.exit(step.exit)
  if ('freeze' in step) return void process.kill(process.pid, 'SIGSTOP')
  if ('spawn' in step) return void spawn('bash', ['-c', step.spawn], { stdio: 'ignore' })
  if ('error' in step) throw fault(step.error)
  if ('hang' in step) {
    if (step.hang === 'deaf') process.on('SIGTERM', () => {})
    return step.hang === 'deaf' || cancelled.signal.aborted
      ? forever
      : new Promise((resolve) => cancelled.signal.addEventListener('abort', () => resolve(), { once: true }))
  }
  const { request, params, fails } = step
  const done = client.request(request, { sessionId, ...params })
  const answer = (await (fails ? done.catch(() => {}) : done)) as { terminalId?: string } | undefined
  if (answer?.terminalId) terminals.push(answer.terminalId)
}

/** The test makes this file when the first turn is over. A process that is started later has missed that moment. */
const go = `${process.argv[3]}/go`

/** Acts by itself once the test says that the turn is over. */
async function actBetween(steps: readonly AcpStep[], client: AgentContext): Promise<void> {
  while (!existsSync(go)) await setTimeout(10)
  for (const step of steps) await act(step, client)
}

void agent({ name: 'scripted' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: script.version ?? 1,
    agentCapabilities: {
      loadSession: script.loads ?? false,
      promptCapabilities: { image: script.takesPictures ?? false },
      sessionCapabilities: {
        ...(script.resumes ? { resume: {} } : {}),
        ...(script.takesFolders ? { additionalDirectories: {} } : {}),
      },
    },
  }))
  .onRequest(methods.agent.session.new, () => {
    if (script.newError) throw fault(script.newError)
    return { sessionId, ...script.made }
  })
  .onRequest(methods.agent.session.load, async ({ client }) => {
    if (script.loadError) throw fault(script.loadError)
    for (const update of script.replays ?? []) void tell(client, update)
    return { ...script.made }
  })
  .onRequest(methods.agent.session.resume, () => {
    if (script.loadError) throw fault(script.loadError)
    return { ...script.made }
  })
  .onRequest(methods.agent.session.setMode, async ({ client, params }) => {
    if (script.modeError) throw fault(script.modeError)
    const content = { type: 'text', text: `[mode ${params.modeId}]` }
    await tell(client, { sessionUpdate: 'agent_message_chunk', content })
  })
  .onRequest(methods.agent.session.setConfigOption, () => ({ configOptions: script.options ?? [] }))
  .onRequest(methods.agent.session.prompt, async ({ client }) => {
    cancelled = new AbortController()
    const { later = [] } = script
    const steps = prompts++ === 0 ? script.steps : (later[prompts - 2] ?? later.at(-1) ?? script.steps)
    for (const step of steps) await act(step, client)
    clearInterval(held)
    if (prompts === 1 && script.between && !existsSync(go)) void actBetween(script.between, client)
    return { stopReason: cancelled.signal.aborted ? 'cancelled' : (script.stop ?? 'end_turn'), ...script.reply }
  })
  .onNotification(methods.agent.session.cancel, () => cancelled.abort())
  .connect(ndJsonStream(output, input))
  .closed.then(() => (script.stays ? forever : process.exit(0)))
