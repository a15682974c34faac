import type { Event } from '../../src/core/talk/entry.ts'
import type { Script } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { acpAgent } from '../../src/agents/acp/acp-agent.ts'
import { roomyPool } from '../agents/warm-acp-rig.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { outcomeOf, talk } from './talk.ts'
import { skipped } from './turns.ts'

const prompts = ['The first question.', 'The second question.', 'The third question.']

/** Answers the last of the questions that it got; what a CLI asks beside the turn has no tools. */
const answering: Script = ({ body, text }) => {
  if (!body.tools?.length && !text.includes('question.')) return { text: 'Aside.' }
  return { text: `Answer ${prompts.findLastIndex((prompt) => text.includes(prompt)) + 1}.` }
}

const tokens = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'usage' ? [{ input: event.input, output: event.output }] : []))

const times = (text: string, part: string) => text.split(part).length - 1

/** The leash of the second turn: an agent without modes of its own gets a new process for another leash. */
const second = { gemini: 'edit', qwen: 'edit', opencode: 'ask', copilot: 'ask' } as const

for (const [cli, leash] of Object.entries(second)) {
  const skip = skipped(cli)

  test(`${cli} over ACP takes turn after turn in one process, and each is counted by itself`, { skip }, async () => {
    const warm = roomyPool()
    await using it = await talk(cli, answering, { warm, open: acpAgent })
    const turns = [await it.say(prompts[0]!, 'ask')]
    const first = await it.left()
    turns.push(await it.say(prompts[1]!, leash))
    await it.sayTo(scriptedAgent('other', [[{ say: 'The other answer.' }]]), 'A question in between.')
    turns.push(await it.say(prompts[2]!, 'ask'))
    const last = await it.left()
    await warm.close()
    const asked = it.server.turns().findLast(({ text }) => text.includes(prompts[2]!))!.text
    const told = [...prompts, 'A question in between.', 'The other answer.']
    const counted = turns.map(tokens)
    assert.deepEqual(
      {
        outcomes: turns.map(outcomeOf),
        isSame: first.length > 0 && first.every((pid) => last.includes(pid)),
        told: told.map((text) => times(asked, text)),
        counted,
        left: await it.left(),
      },
      {
        outcomes: [1, 2, 3].map((count) => ({ ok: true, text: `Answer ${count}.` })),
        isSame: true,
        told: told.map(() => 1),
        counted: counted.map(() => counted[0]),
        left: [],
      },
    )
  })
}
