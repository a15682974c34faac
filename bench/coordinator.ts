import type { Answer, Asked } from '../test/real/model-server.ts'
import type { Row } from './measure.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../test/real/model-server.ts'
import { start, time, withMachine } from './measure.ts'

const workers = 10

/** The work of each part: the number of files to read, and the bytes of each. */
type Size = { files: number; bytes: number }

const pathOf = (part: number, file: number) => `part-${part}/file-${file}.txt`

const handoff = (part: number, { files }: Size) => ({
  what_was_done: `I read the ${files} files of part ${part} and followed each name to its last use.`,
  evidence: Array.from({ length: files }, (_, file) => `${pathOf(part, file)}:3 names the next one`),
  unresolved_risks: [],
  exact_next_step: 'None.',
  status: 'completed',
})

/**
 * Measures the tokens that a coordinator with ten workers sends to its models, against one agent that does the same work in one context.
 */
export async function coordinator(): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of [
    { files: 4, bytes: 8_000 },
    { files: 1, bytes: 2_000 },
  ]) {
    const alone = await sent(size, ['-p', 'Read every part.', '--mode', 'agent'])
    const led = await sent(size, ['-p', 'Read every part.', '--mode', 'coordinator'])
    const work = `ten parts of ${size.files} ${size.files === 1 ? 'file' : 'files'} with ${size.bytes / 1000} kB`
    rows.push(
      {
        what: `bytes sent by a coordinator with ten workers against one context, ${work}`,
        value: led.sum / alone.sum,
        unit: 'ratio',
        detail: `${led.sum} bytes in ${led.requests} requests against ${alone.sum} in ${alone.requests}`,
      },
      {
        what: `largest request of a coordinator and its workers against that of one context, ${work}`,
        value: led.largest / alone.largest,
        unit: 'ratio',
        detail: `${led.largest} against ${alone.largest} bytes`,
      },
    )
  }
  return rows
}

/** The requests that reach a scripted model while our own agent does the work. */
async function sent(size: Size, args: readonly string[]): Promise<{ sum: number; largest: number; requests: number }> {
  return withMachine({}, async ({ home, project, env }) => {
    const model = await modelServer((asked) => answer(asked, size, project))
    const agent = {
      name: 'native',
      kind: 'native',
      model: 'anthropic/claude-sonnet-4-5',
      baseURL: `${model.url}/v1`,
      contextWindowTokens: 1_000_000,
    }
    const settings = { metaInstruction: false, thinking: 'off', agents: [agent] }
    writeFileSync(join(home, 'settings.json'), JSON.stringify(settings))
    for (let part = 0; part < workers; part++) {
      mkdirSync(join(project, `part-${part}`))
      for (let file = 0; file < size.files; file++)
        writeFileSync(join(project, pathOf(part, file)), `line ${file} of part ${part}\n`.repeat(size.bytes / 20))
    }
    try {
      await time([...start, ...args], { cwd: project, env: { ...env, ANTHROPIC_API_KEY: 'made-up' } })
      const sizes = model.turns().map(({ raw }) => raw.length)
      return { sum: sizes.reduce((sum, one) => sum + one, 0), largest: Math.max(...sizes), requests: sizes.length }
    } finally {
      await model.close()
    }
  })
}

function answer(asked: Asked, size: Size, project: string): Answer {
  const called = asked.text.split('"type":"tool_result"').length - 1
  const read = (part: number, file: number): Answer => ({
    call: { tool: 'file_reader', input: { file_path: join(project, pathOf(part, file)) } },
  })
  const part = Number(/Read part (\d+)\./.exec(asked.text)?.[1])
  if (asked.text.includes('You are a worker:'))
    return called < size.files ? read(part, called) : { text: JSON.stringify(handoff(part, size)) }
  const leads = asked.text.includes('"name":"spawn_workers_batch"')
  if (!leads && called < workers * size.files) return read(Math.floor(called / size.files), called % size.files)
  if (leads && called === 0) return { call: { tool: 'spawn_workers_batch', input: { workers: wishes() } } }
  if (leads && called === 1) return { call: { tool: 'await_workers', input: {} } }
  const named = Array.from({ length: workers }, (_, at) => `worker_${at + 1}`).join(', ')
  return { text: `Every name is used: ${leads ? named : 'all parts'}.` }
}

const wishes = () =>
  Array.from({ length: workers }, (_, part) => ({
    name: `part ${part}`,
    description: `Reads part ${part}.`,
    prompt: `Read part ${part}. Follow each name to its last use, and report where it is.`,
    role: 'explorer',
  }))
