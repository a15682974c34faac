import type { Agent } from '../../src/core/work/agent.ts'
import { test } from 'node:test'
import { scrapedWords } from '../../src/core/talk/outcome.ts'
import { plainPrompt } from '../../src/core/talk/plain-prompt.ts'
import assert from 'node:assert/strict'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { settled } from '../hand-clock.ts'
import { artifactText, keepArtifact, longestArtifact } from '../../src/crew/artifact.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { readText } from '../../src/core/talk/store.ts'
import { nonceOf, fenceMarks } from '../../src/core/screen/fence.ts'
import { Crew } from '../../src/crew/crew.ts'
import { HandClock } from '../hand-clock.ts'
import { crewOf, machine, place } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('an artifact of a megabyte is kept whole; a longer one is cut between two characters and says so', async () => {
  const blobs = memoryStore().blobs('b')
  const most = 'a'.repeat(longestArtifact)
  const whole = await keepArtifact(blobs, 't', { text: most }, { fenced: true, by: 'fence' })
  assert.deepEqual([whole.truncated, whole.fenced, (await readText(blobs, whole.ref)) === most], [false, true, true])
  for (const text of [`${most}b`, 'é'.repeat(longestArtifact / 2) + '.']) {
    const cut = await keepArtifact(blobs, 't', { text })
    const kept = await readText(blobs, cut.ref)
    assert.equal(cut.truncated, true)
    assert.ok(cut.ref.bytes <= longestArtifact && cut.ref.bytes > longestArtifact - 4)
    assert.equal(kept.includes('\ufffd'), false)
    assert.match(kept, /\n\[cut: this is the beginning of 1048577 bytes\]$/)
  }
})

test('an answer in a blob is read only as far as it can be kept', async () => {
  const blobs = memoryStore().blobs('b')
  const text = 'x'.repeat(3 * longestArtifact)
  const cut = await keepArtifact(blobs, 't', { text: 'short', whole: await blobs.put(text, 'text/plain') })
  assert.match(await readText(blobs, cut.ref), /^x{1048000}x*\n\[cut: this is the beginning of 3145728 bytes\]$/)
})

test('the last artifact survives a failed turn, and a long one is filled in whole', async (context) => {
  const long = 'y'.repeat(longestArtifact + 1)
  const failure = { kind: 'crash' as const, message: 'broke' }
  const writer = scriptedAgent('writer', [[{ say: long }], [{ fail: failure }]])
  const reader = scriptedAgent('reader', [[{ say: 'read' }]])
  const { crew } = crewOf(context, { writer: () => writer, reader: () => reader })
  await crew.spawn({ ...place, agent: 'writer', task: 'write' })
  await settled()
  await crew.spawn({ ...place, agent: 'reader', task: '{{slot_1.output}}', dependsOn: [1] })
  await settled()
  await crew.send(1, 'again')
  await settled()
  const answer = await crew.artifact(1)
  assert.ok('earlier' in answer)
  const { output, ...earlier } = answer.earlier
  const now = { ...answer, earlier }
  assert.deepEqual(now, {
    output: '',
    truncated: false,
    fenced: false,
    state: 'failed',
    why: 'broke',
    earlier: { truncated: true, fenced: false },
  })
  assert.equal(output.length, longestArtifact)
  const handed = `<output slot="1">\n[${scrapedWords('slot 1')}]\n${output}\n</output>`
  assert.equal(reader.turns[0]!.prompt, plainPrompt(handed))
})

test('an answer whose beginning scrolled out of the terminal says so', async (t) => {
  const blobs = memoryStore().blobs('b')
  const cut = await keepArtifact(blobs, 't', { text: 'the end' }, { fenced: true, by: 'fence', whole: false })
  assert.deepEqual([cut.truncated, cut.fenced], [true, true])
  golden(t, await readText(blobs, cut.ref))
})

/** An agent whose turns end without a fence. */
function unfenced(agent: Agent): Agent {
  return {
    ...agent,
    async *turn(turn) {
      for await (const event of agent.turn(turn))
        if (event.type === 'end' && event.outcome.ok)
          yield { ...event, outcome: { ...event.outcome, seen: { fenced: false, by: 'quiet' } } }
        else yield event
    },
  }
}

test('an answer that is marked after its turn was taken for finished replaces the artifact, also for the slots that wait', async (context) => {
  const { host, find, seat, print, answer, pasted } = machine()
  const { crew, clock } = crewOf(context, { claude: (wanted) => unfenced(seat('claude')(wanted)) }, { find })
  context.after(() => host.close())
  await crew.spawn({ ...place, agent: 'claude', task: 'look' })
  await clock.turn(300)
  answer(1, 'half of it')
  await clock.turn(300)
  const scraped = await crew.artifact(1)
  assert.deepEqual(scraped, { output: 'half of it', truncated: false, fenced: false })
  const text = artifactText(1, scraped)
  const turn = (await crew.slot(1)).artifact!.turn
  const { open, close } = fenceMarks(nonceOf(turn))
  print(1, `${open}\nall of it\n${close}\n`)
  await crew.spawn({ ...place, agent: 'claude', task: 'sum up {{slot_1.output}}', dependsOn: [1] })
  await clock.turn(300)
  assert.deepEqual(pasted, ['look', 'sum up <output slot="1">'])
  assert.deepEqual(await crew.artifact(1), { output: 'all of it', truncated: false, fenced: true })
  const notes: string[] = []
  for await (const { item } of crew.log(1).back()) if (item?.type === 'note') notes.push(item.text)
  golden(context, { text, notes })
})

const none = { output: '', truncated: false, fenced: false }
const first = { output: 'first', truncated: false, fenced: true }

test('while a newer prompt waits or is under way, and after its turn failed, the answer before it is only an earlier one', async (context) => {
  const { host, find, seat, answer, exit } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  context.after(() => host.close())
  await crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await clock.turn(300)
  answer(1, 'first')
  await clock.turn(300)
  assert.deepEqual(await crew.artifact(1), first)
  const { turn } = (await crew.slot(1)).artifact!
  await crew.send(1, 'two')
  assert.deepEqual(await crew.artifact(1), { ...none, state: 'busy', earlier: first })
  await clock.turn(300)
  assert.deepEqual(await crew.artifact(1), { ...none, state: 'busy', earlier: first })
  await crew.send(1, 'three')
  answer(1, 'second')
  await clock.turn(300)
  const second = { ...first, output: 'second' }
  assert.deepEqual(await crew.artifact(1), { ...none, state: 'busy', earlier: second })
  assert.deepEqual(await crew.artifact(1, turn), first, 'of an older prompt that is asked for')
  exit(1, 9)
  await clock.turn(300)
  const why = 'it exited before it answered'
  assert.deepEqual(await crew.artifact(1), { ...none, state: 'failed', why, earlier: second })
})

test('an answer that is handed to another slot says if it was one to an earlier prompt, or was scraped from a screen', async (context) => {
  const { host, find, seat, answer } = machine()
  const { crew, clock } = crewOf(
    context,
    { claude: seat('claude'), scraper: (wanted) => unfenced(seat('scraper')(wanted)) },
    { find },
  )
  context.after(() => host.close())
  for (const [slot, agent] of ['claude', 'scraper'].entries()) {
    await crew.spawn({ ...place, agent, task: 'one' })
    await clock.turn(300)
    answer(slot + 1, 'first')
    await clock.turn(300)
  }
  const both = 'sum up {{slot_1.output}} {{slot_2.output}}'
  await crew.spawn({ ...place, agent: 'claude', task: both, dependsOn: [1, 2] })
  await clock.turn(300)
  await crew.send(1, 'two')
  await clock.turn(300)
  answer(3, 'done')
  await clock.turn(300)
  await crew.send(3, both)
  await clock.turn(300)
  const prompts: string[] = []
  for await (const { item } of crew.log(3).read()) if (item?.type === 'prompt') prompts.push(item.text)
  golden(context, prompts)
})

test('an agent that is killed before it answered has no answer to its last prompt, and a slot that waits for it does not start', async (context) => {
  const { host, find, seat, answer } = machine()
  const alone = { store: memoryStore(), clock: new HandClock(0), find }
  const { crew, clock, keeper, parts } = crewOf(context, { claude: seat('claude') }, alone)
  context.after(() => host.close())
  for (const task of ['one', 'two']) await crew.spawn({ ...place, agent: 'claude', task })
  await clock.turn(300)
  for (const slot of [1, 2]) answer(slot, 'first')
  await clock.turn(300)
  await crew.send(1, 'again')
  await clock.turn(300)
  await crew.kill(1)
  const killed = { ...none, state: 'exited', why: 'killed', earlier: first }
  assert.deepEqual(await crew.artifact(1), killed)
  await crew.send(2, 'again')
  await clock.turn(300)
  // The keeper is gone: the process that kills the agent ends the slot itself.
  await keeper.leave()
  const other = new Crew({ ...parts, owner: 'other', isKeeper: false, alive: (owner) => owner === 'other' })
  await other.kill(2)
  assert.deepEqual(await other.artifact(2), killed)
  await golden.rejects(context, other.spawn({ ...place, agent: 'claude', task: '{{slot_2.output}}', dependsOn: [2] }))
})
