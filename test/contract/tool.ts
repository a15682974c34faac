import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Tool, ToolCall } from '../../src/core/work/tool.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { nobody } from '../../src/core/talk/question.ts'

export type ToolMaker = {
  /** A fresh tool and a call's surroundings. */
  make(): Promise<{ tool: Tool; cwd: string }> | { tool: Tool; cwd: string }
  good: unknown
  bad: readonly unknown[]
}

/** The contract of every Tool. */
export function toolContract(name: string, { make, good, bad }: ToolMaker): void {
  const call = (cwd: string, part: Partial<ToolCall> = {}): ToolCall => ({
    cwd,
    signal: new AbortController().signal,
    ask: nobody,
    progress() {},
    consult: async () => failed('crash', 'nobody is there'),
    until: Number.MAX_SAFE_INTEGER,
    ...part,
  })

  test(`${name}: the tool describes itself, in a form that goes over a wire`, async () => {
    const { tool } = await make()
    // The form of names that every provider takes.
    assert.match(tool.name, /^[a-z][A-Za-z0-9_-]{0,63}$/)
    assert.ok(tool.description.length > 10)
    assert.equal(tool.schema.type, 'object')
    assert.deepEqual(JSON.parse(JSON.stringify(tool.schema)), tool.schema)
    assert.ok(['read', 'write', 'run'].includes(tool.risk))
  })

  test(`${name}: a good input gives words, and is not changed`, async () => {
    const { tool, cwd } = await make()
    const input = structuredClone(good)
    const output = await tool.run(tool.parse(input), call(cwd))
    assert.equal(typeof (typeof output === 'string' ? output : output.text), 'string')
    assert.deepEqual(input, good)
  })

  test(`${name}: a bad input is refused in words that say what to send`, async () => {
    const { tool } = await make()
    for (const input of bad)
      assert.throws(
        () => tool.parse(input),
        (error: Error) => error.message.length > 5,
      )
  })

  test(`${name}: a call that is aborted comes to an end`, async () => {
    const { tool, cwd } = await make()
    await tool.run(tool.parse(structuredClone(good)), call(cwd, { signal: AbortSignal.abort() })).then(
      () => {},
      () => {},
    )
  })
}
