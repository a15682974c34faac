import type { TestContext } from 'node:test'
import type { Question } from '../../../../src/core/talk/question.ts'
import type { ToolCall, ToolOutput } from '../../../../src/core/work/tool.ts'
import type { ServerConfig } from '../../../../src/native/tools/mcp/server-config.ts'
import type { McpParts } from '../../../../src/native/tools/mcp/remote-server.ts'
import type { McpServers } from '../../../../src/native/tools/mcp/remote-servers.ts'
import type { Script } from './scripted.ts'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nobody } from '../../../../src/core/talk/question.ts'
import { openServers } from '../../../../src/native/tools/mcp/remote-servers.ts'
import { realClock } from '../../../../src/base/time/clock.ts'
import { failed } from '../../../../src/core/talk/outcome.ts'
import { memoryStore } from '../../../../src/store/memory-store.ts'
import { secretsInMemory } from './memory-logins.ts'

/** A configured server that runs scripted.ts. */
export function scripted(name: string, script: Script = {}, env: Record<string, string> = {}): ServerConfig {
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--require',
    join(import.meta.dirname, '../../../fixtures/cached.cjs'),
    join(import.meta.dirname, 'scripted.ts'),
    JSON.stringify(script),
  ]
  const shown = 'node scripted.ts'
  return {
    name,
    from: 'settings',
    shown,
    timeoutSeconds: 20,
    kind: 'stdio',
    command: process.execPath,
    args,
    cwd: tmpdir(),
    env,
  }
}

export function partsOf(parts: Partial<McpParts> = {}): McpParts {
  return {
    root: tmpdir(),
    env: { PATH: process.env.PATH, HOME: '/nowhere', SECRET_OF_OURS: 'not for servers' },
    clock: realClock,
    version: '1.2.3',
    blobs: memoryStore().blobs('output'),
    secrets: secretsInMemory(),
    browse: async () => {},
    ...parts,
  }
}

/** Opened, and closed after the test. */
export function opened(t: TestContext, servers: ServerConfig[], parts: Partial<McpParts> = {}): McpServers {
  const open = openServers({ servers, warnings: [] }, partsOf(parts))
  t.after(() => open.close())
  return open
}

export async function ready(
  t: TestContext,
  servers: ServerConfig[],
  parts: Partial<McpParts> = {},
): Promise<McpServers> {
  const open = opened(t, servers, parts)
  await open.settled(t.signal)
  return open
}

export function callOf(part: Partial<ToolCall> = {}): ToolCall {
  const signal = new AbortController().signal
  const consult = async () => failed('crash', 'nobody is there')
  return { cwd: tmpdir(), signal, ask: nobody, progress() {}, consult, until: Number.MAX_SAFE_INTEGER, ...part }
}

/** The output of a tool, or the words of its failure. */
export async function use(
  open: McpServers,
  name: string,
  input: unknown = {},
  call: Partial<ToolCall> = {},
): Promise<ToolOutput> {
  const tool = open.find(name)
  if (!tool) return `no tool ${name}`
  try {
    return await tool.run(tool.parse(input), callOf(call))
  } catch (error) {
    return `! ${(error as Error).message}`
  }
}

/** A person who answers with these picks, one question after the other. */
export function answering(...picks: (string[] | undefined)[]) {
  const questions: Question[] = []
  return {
    questions,
    ask: async (question: Question) => {
      questions.push(question)
      return picks.shift()
    },
  }
}
