import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chosenSubagent, subagentList, userSubagents } from '../../../src/agents/native/user-subagents.ts'
import { groundOf } from './ground.ts'

test('the person’s own subagents, as other agents write them too', (t) => {
  const { at, ground } = groundOf(t, {
    'home/agents/reviewer.md':
      '---\nname: code-reviewer\ndescription: Reviews\n  changes.\ntools: file_reader, grep_search bash\nmodel: groq/x\n---\nYou review.\n',
    'home/agents/plain.md': 'You are plain.',
    'home/agents/list.md': '---\nmodel: inherit\ntools:\n  - ls\n  - glob\n---\nYou list.',
    'home/agents/twin.md': '---\nname: plain\n---\nAgain.',
    'home/agents/empty.md': '---\nname: empty\n---\n',
    'home/agents/torn.md': '---\nname: torn',
    'home/agents/odd.md': '---\nname: a b\n---\nx',
    'home/agents/notes.txt': 'not one',
  })
  const found = userSubagents(ground.home)
  const reviewer = {
    name: 'code-reviewer',
    description: 'Reviews changes.',
    tools: ['file_reader', 'grep_search', 'bash'],
    model: 'groq/x',
    role: 'You review.',
    path: at('home/agents/reviewer.md'),
  }
  assert.deepEqual(found, {
    subagents: [
      { name: 'list', description: '', tools: ['ls', 'glob'], role: 'You list.', path: at('home/agents/list.md') },
      { name: 'plain', description: '', role: 'You are plain.', path: at('home/agents/plain.md') },
      reviewer,
    ],
    warnings: [
      `${at('home/agents/empty.md')} is not used: it has no text below the frontmatter that says what its role is.`,
      `${at('home/agents/odd.md')} is not used: its name may hold only letters, digits, "-" and "_".`,
      `${at('home/agents/torn.md')} is not used: its frontmatter is not closed.`,
      `${at('home/agents/twin.md')} is not used: another file already defines the subagent plain.`,
    ],
  })
  assert.equal(
    subagentList(found.subagents),
    '<subagents>\nTo hand a task to one of these subagents, call the tool subagent with a task that begins with its name:\n- @list\n- @plain\n- @code-reviewer: Reviews changes.\n</subagents>',
  )
  assert.deepEqual(chosenSubagent('@code-reviewer: look at a.ts', found.subagents), {
    subagent: reviewer,
    task: 'look at a.ts',
  })
  assert.deepEqual(chosenSubagent('@someone look', found.subagents), { task: '@someone look' })
  assert.deepEqual(userSubagents(at('outside')), { subagents: [], warnings: [] })
  assert.equal(subagentList([]), '')
})
