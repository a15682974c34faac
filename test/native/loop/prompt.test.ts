import { test } from 'node:test'
import assert from 'node:assert/strict'
import { systemText } from '../../../src/native/loop/session-opening.ts'
import { metaInstruction } from '../../../src/core/talk/transcript.ts'

const day = { date: '2026-11-15', cwd: '/p' }

test('the same parts give the same bytes, and the parts that change soonest stand last', () => {
  const parts = {
    ...day,
    mode: 'agent' as const,
    meta: 'Close well.',
    skills: '<skills>\n- a\n</skills>',
    subagents: '<subagents>\n- @b\n</subagents>',
    instructions: '<instructions path="/p/AGENTS.md">\nTabs.\n</instructions>',
    system: '## System Capabilities\nSystem: Linux',
    wall: 'Commands run without a sandbox.',
  }
  const text = systemText(parts)
  assert.equal(systemText({ ...parts }), text)
  const [own, rest] = text.split('Other agents may take turns in this conversation.\n\n')
  assert.match(own!, /^You are termaite, a coding agent/)
  assert.equal(
    rest,
    [
      parts.meta,
      parts.subagents,
      parts.skills,
      parts.instructions,
      parts.system,
      parts.wall,
      "Project directory: /p\nToday's date: 2026-11-15",
    ].join('\n\n'),
  )
  const tomorrow = systemText({ ...parts, date: '2026-11-16' })
  assert.equal(tomorrow.slice(0, -2), text.slice(0, -2))
})

test("the agent's system text is shorter than 2.5 kB", () => {
  const text = systemText({ ...day, mode: 'agent', meta: metaInstruction })
  assert.ok(Buffer.byteLength(text) < 2500, `${Buffer.byteLength(text)} bytes`)
})

test('a subagent is the agent with a part, and the part of a user’s own follows', () => {
  const agent = systemText({ ...day, mode: 'coordinator' }).split('\n\nOther agents')[0]!
  const text = systemText({ ...day, mode: 'subagent', role: 'You review.' })
  assert.ok(text.startsWith(`${agent}\n\n<subagent>\nYou are a subagent`))
  assert.ok(
    text.endsWith(`</subagent>\n\n<part>\nYou review.\n</part>\n\nProject directory: /p\nToday's date: 2026-11-15`),
  )
})

test('the planner has a prompt of its own: boundaries, tools, process and five sections', () => {
  const text = systemText({ ...day, mode: 'plan' })
  const blocks = [...text.matchAll(/^<(\w+)>$/gm)].map(([, name]) => name)
  assert.deepEqual(blocks, [
    'role',
    'plan_mode_boundaries',
    'tool_guidance',
    'planning_process',
    'quality_bar',
    'output_format',
  ])
  assert.match(text, /^<role>\nYou are termaite in plan mode\./)
  assert.deepEqual(
    [...text.matchAll(/^\*\*(.+)\*\*:/gm)].map(([, name]) => name),
    ['Summary', 'Implementation Changes', 'Public APIs / Interfaces', 'Tests', 'Assumptions & Risks'],
  )
  assert.equal(text.includes('You are termaite, a coding agent'), false)
})
