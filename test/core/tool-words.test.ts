import { test } from 'node:test'
import { toolDeed, toolWords } from '../../src/core/data/tool-words.ts'
import { handoffLines } from '../../src/chat/transcript/handoff-lines.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('tools are named as people say it, however an agent names them', (t) => {
  const names = [
    'mcp__termaite_turn__await_workers',
    'termaite_turn.spawn_worker',
    'spawn_workers_batch (termaite_turn MCP Server)',
    'mcp__termaite__unknown_tool',
    'mcp__github__create_issue',
    'mcp__my_server__a__b',
    'github.create-issue',
    'create_issue (github MCP Server)',
    'mcp__other__think',
    'file_editor',
    'web_search',
    'write_todos',
    'Bash',
    'WriteFile',
    'npm run build',
    '__proto__',
    'constructor',
    '',
  ]
  golden(t, Object.fromEntries(names.map((name) => [`"${name}"`, [toolWords(name), toolDeed(name)]])))
})

test('a handoff between agents is text, and other words stay as they are', (t) => {
  const handoff = {
    what_was_done: 'Read the code.\nIt is fine.',
    evidence: ['a.ts:1', 'npm test passes'],
    unresolved_risks: [],
    exact_next_step: 'Nothing.',
    status: 'completed',
  }
  const workers = [
    { id: 1, role: 'explorer', handoff },
    { id: 2, handoff: null },
  ]
  golden(t, {
    alone: handoffLines(JSON.stringify(handoff))!.split('\n'),
    fenced: handoffLines(`\`\`\`json\n${JSON.stringify(handoff, undefined, 2)}\n\`\`\``)!.split('\n'),
    inside: handoffLines(JSON.stringify({ workers }))!.split('\n'),
    others: ['{"a":1}', 'I did it: {"what_was_done":"x"}', '{"what_was_done":"cut off', ''].map(handoffLines),
  })
})
