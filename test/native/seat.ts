import type { TestContext } from 'node:test'
import type { Tool, ToolCall, ToolOutput } from '../../src/core/work/tool.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import type { ToolParts } from '../../src/native/tools/shared/tool-parts.ts'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { FileBlobs } from '../../src/store/files/file-blobs.ts'
import { nativeTools } from '../../src/native/tools/all-tools.ts'

export type Told = { text: string; data?: unknown; files?: unknown[] }

/** A folder that is gone after the test. */
export function folder(t: Pick<TestContext, 'after'>): string {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-tools-')))
  t.after(() => rmSync(place, { recursive: true, force: true }))
  return place
}

/** The tools of one seat in a fresh project, and a way to call them as a loop does. */
export function seat(t: Pick<TestContext, 'after'>, more: Partial<ToolParts> = {}) {
  const place = folder(t)
  const root = join(place, 'project')
  mkdirSync(root)
  const env = { PATH: process.env.PATH, HOME: place, TMPDIR: place }
  const blobs = new FileBlobs(join(place, 'output'))
  const { tools, own, news, close, jobs } = nativeTools({ root, env, clock: realClock, blobs, ...more })
  t.after(close)
  const tool = (name: string): Tool => tools.find((one) => one.name === name)!
  return {
    place,
    root,
    blobs,
    tools,
    own,
    news,
    jobs,
    tool,
    close,
    at: (path: string) => join(root, path),
    write(path: string, body: string | Uint8Array) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), body)
    },
    /** All that the tool gives. */
    whole: async (name: string, input: unknown, part: Partial<ToolCall> = {}): Promise<Told> =>
      told(await tool(name).run(tool(name).parse(input), { ...callIn(root), ...part })),
    /** The words alone: of its answer, or of why there is none. */
    say: async (name: string, input: unknown, part: Partial<ToolCall> = {}): Promise<string> => {
      try {
        return told(await tool(name).run(tool(name).parse(input), { ...callIn(root), ...part })).text
      } catch (error) {
        return `! ${(error as Error).message}`
      }
    },
  }
}

const told = (output: ToolOutput): Told => (typeof output === 'string' ? { text: output } : output)

export function callIn(cwd: string): ToolCall {
  return {
    cwd,
    signal: new AbortController().signal,
    ask: nobody,
    consult: async () => failed('crash', 'nobody is there'),
    progress() {},
    until: Number.MAX_SAFE_INTEGER,
  }
}
