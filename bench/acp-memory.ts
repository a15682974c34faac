import type { Row } from './measure.ts'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import * as acp from '@agentclientprotocol/sdk'
import { modelServer } from '../test/real/model-server.ts'
import { start, withMachine } from './measure.ts'

const turns = 45
const rounds = 10
const lines = Array.from({ length: 400 }, (_, line) => `line ${line} ${'x'.repeat(60)}\n`).join('')
const answer = Array.from({ length: 300 }, (_, at) => `Sentence ${at} of a long answer.`).join(' ')

/** Measures the memory of `termaite acp` after many long turns of our own agent, against its first turns. */
export async function acpMemory(): Promise<Row[]> {
  const step = (count: number) => (count - 1) % (rounds + 1)
  const model = await modelServer(({ count }) =>
    step(count) === rounds
      ? { text: answer }
      : { call: { tool: 'file_reader', input: { file_path: `file${step(count)}.txt`, limit: 200 + (count % 50) } } },
  )
  try {
    return await withMachine({}, async ({ home, project, env }) => {
      const native = {
        name: 'native',
        kind: 'native',
        model: 'anthropic/claude-sonnet-4-5',
        contextWindowTokens: 200_000,
      }
      writeFileSync(
        join(home, 'settings.json'),
        JSON.stringify({ agents: [{ ...native, baseURL: `${model.url}/v1` }] }),
      )
      for (let round = 0; round < rounds; round++) writeFileSync(join(project, `file${round}.txt`), lines)
      const child = spawn(start[0], [...start.slice(1), 'acp'], {
        cwd: project,
        env: { ...env, ANTHROPIC_API_KEY: 'made-up' },
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      const exited = once(child, 'exit')
      const prompt = await editorAt(child, project)
      let early = 0
      for (let turn = 1; turn <= turns; turn++) {
        await prompt(`turn ${turn}`)
        if (turn === 5) early = residentMB(child.pid!)
      }
      const late = residentMB(child.pid!)
      child.stdin.end()
      await exited
      return [
        {
          what: `memory of acp after ${turns} long turns against 5`,
          value: late / early,
          unit: 'ratio',
          bar: 1.4,
          detail: `${late.toFixed(0)} MB against ${early.toFixed(0)} MB, resident`,
        },
      ]
    })
  } finally {
    await model.close()
  }
}

/** An editor in a session of the program; returns how it sends a prompt. */
async function editorAt(child: ChildProcess, cwd: string): Promise<(text: string) => Promise<unknown>> {
  const { agent } = acp
    .client({ name: 'an editor' })
    .onRequest(acp.methods.client.session.requestPermission, () => ({ outcome: { outcome: 'cancelled' } }))
    .onNotification(acp.methods.client.session.update, () => {})
    .connect(
      acp.ndJsonStream(Writable.toWeb(child.stdin!), Readable.toWeb(child.stdout!) as ReadableStream<Uint8Array>),
    )
  await agent.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await agent.request(acp.methods.agent.session.new, { cwd, mcpServers: [] })
  return (text) => agent.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] })
}

const residentMB = (pid: number) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
