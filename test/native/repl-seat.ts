import type { TestContext } from 'node:test'
import type { ToolCall, ToolOutput } from '../../src/core/work/tool.ts'
import type { ShellParts } from '../../src/native/tools/shell/shell-command.ts'
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { FileBlobs } from '../../src/store/files/file-blobs.ts'
import { replTool } from '../../src/native/tools/repl.ts'
import { turning } from '../base/alive.ts'
import { callIn, folder } from './seat.ts'

/** Why tests that need Python cannot run here; false where they can. */
export const noPython = spawnSync('python3', ['-c', '']).status === 0 ? false : 'there is no python3 here'

export type Sent = { timeout_seconds?: number; fresh?: boolean }

/** Interpreters in a fresh project, and a way to send them code. */
export function repl(t: Pick<TestContext, 'after'>, more: Partial<ShellParts> = {}) {
  const place = folder(t)
  const root = join(place, 'project')
  mkdirSync(root)
  const env = { PATH: process.env.PATH, HOME: place, TMPDIR: place }
  const { tool, close } = replTool({ env, clock: realClock, blobs: new FileBlobs(join(place, 'output')), ...more })
  t.after(() => (more.clock instanceof HandClock ? turning(more.clock, close()) : close()))
  const send =
    (language: string) =>
    (code: string, sent: Sent = {}, part: Partial<ToolCall> = {}): Promise<ToolOutput> =>
      tool.run(tool.parse({ language, code, ...sent }), { ...callIn(root), ...part })
  return { root, tool, close, python: send('python'), node: send('node') }
}

/** The output of a piece of code that came to its end. */
export const ran = (text: string, exit: number | string = 0): ToolOutput => ({ text, data: { exit } })

/** Without the marks below a line of code, which each Python sets in its own way. */
export function plain(output: ToolOutput): ToolOutput {
  const { text, ...rest } = output as { text: string }
  return { text: text.replaceAll(/^ *[~^]+ *\n/gm, ''), ...rest }
}
