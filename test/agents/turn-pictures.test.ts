import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { handOverPictures, handOverTyped } from '../../src/agents/turn-pictures.ts'
import { linkedPicture } from '../../src/core/talk/pictures.ts'
import { FileBlobs } from '../../src/store/files/file-blobs.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { entryMaker } from '../core/made.ts'
import { png } from '../picture-bodies.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { ground } from './acp-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A project, and where its pictures are kept. */
async function place(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-pictures-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const blobs = new FileBlobs(join(folder, 'output'))
  const keep = (bytes: Buffer) => blobs.put(bytes, 'image/png')
  const path = (sha: string) => join(folder, 'output', 'pictures', `${sha.slice(0, 16)}.png`)
  return { cwd: folder, blobs, keep, path }
}

const sent = (bytes: Buffer) => ({ media: 'image/png', data: bytes.toString('base64') })
const bodies = [png(1, 1), png(2, 2), png(3, 3)] as const

test('an agent that takes pictures gets those of the history, the prompt and the typed text, in this order', async (t) => {
  const { cwd, blobs, keep } = await place(t)
  const [a, b, c] = [await keep(bodies[0]), await keep(bodies[1]), await keep(bodies[2])]
  const make = entryMaker()
  const history = [make('1', 'user', { type: 'prompt', text: 'old [picture 1: a.png, 1×1]', files: [a] })]
  const typed = `also ${linkedPicture({ number: 1, name: 'c.png', width: 3, height: 3 }, c)}`
  const told = { prompt: 'see [picture 1: b.png, 2×2]', files: [b], history, steered: [typed], cwd }
  assert.deepEqual(await handOverPictures(told, { name: 'x', takes: {}, blobs }), {
    prompt: 'see [picture 1: b.png, 2×2]',
    history,
    steered: ['also [picture 1: c.png, 3×3]'],
    pictures: bodies.map(sent),
    notes: [],
  })
})

test('an agent that takes no pictures is told where each is: in the project while it is the same, else as a copy', async (t) => {
  const { cwd, blobs, keep, path } = await place(t)
  const [a, b] = [await keep(bodies[0]), await keep(bodies[1])]
  writeFileSync(join(cwd, 'a.png'), bodies[0])
  writeFileSync(join(cwd, 'b.png'), 'changed')
  const told = {
    prompt: '[picture 1: a.png, 1×1] [picture 2: b.png, 2×2]',
    files: [a, b],
    history: [],
    steered: [],
    cwd,
  }
  golden(t, await handOverPictures(told, { name: 'x', takes: undefined, blobs }), { [cwd]: '<cwd>' })
  assert.deepEqual(readFileSync(path(b.sha)), bodies[1])
})

test('a file outside of the project is not named, and an agent that changes the copy changes nothing that is kept', async (t) => {
  const { cwd, blobs, keep, path } = await place(t)
  const outside = join(cwd, 'out.png')
  writeFileSync(outside, bodies[0])
  mkdirSync(join(cwd, 'project', '.git'), { recursive: true })
  const ref = await keep(bodies[0])
  const told = {
    prompt: `[picture 1: ${outside}, 1×1]`,
    files: [ref],
    history: [],
    steered: [],
    cwd: join(cwd, 'project'),
  }
  const given = await handOverPictures(told, { name: 'x', takes: undefined, blobs })
  assert.equal(given.prompt, `[picture 1: ${outside}, 1×1; the picture is at ${path(ref.sha)}]`)
  writeFileSync(path(ref.sha), 'changed')
  assert.deepEqual(readFileSync(blobs.place(ref)), bodies[0])
})

test('a picture beyond the limits is named with the reason, and so is one that is lost', async (t) => {
  const { cwd, blobs, keep } = await place(t)
  const [heavy, wide] = [await keep(png(1, 1, 2000)), await keep(png(50, 1))]
  const lost = { sha: 'f'.repeat(64), media: 'image/png', bytes: 3 }
  const told = {
    prompt: '[picture 1: h.png, 1×1] [picture 2: w.png, 50×1] [picture 3: l.png, 1×1]',
    files: [heavy, wide, lost],
    history: [],
    steered: [],
    cwd,
  }
  const given = await handOverPictures(told, { name: 'x', takes: { bytes: 1024, points: 40 }, blobs })
  golden(t, [given.prompt, given.pictures, given.notes.length], { [cwd]: '<cwd>' })
})

test('the oldest of very many are named by their path, and a picture without a mention goes along', async (t) => {
  const { cwd, blobs, keep, path } = await place(t)
  const make = entryMaker()
  const files = await Promise.all(Array.from({ length: 21 }, (_, at) => keep(png(at + 1, 1))))
  const history = files.map((ref, at) =>
    make(`${at}`, 'user', { type: 'prompt', text: `[picture 1: ${at}.png, ${at + 1}×1]`, files: [ref] }),
  )
  const last = await keep(bodies[2])
  const given = await handOverPictures(
    { prompt: 'go', files: [last], history, steered: [], cwd },
    { name: 'x', takes: {}, blobs },
  )
  assert.equal(given.pictures.length, 20)
  assert.deepEqual(given.pictures.at(-1), sent(bodies[2]))
  assert.deepEqual(
    given.history.slice(0, 3).map((entry) => (entry as { text: string }).text),
    [
      `[picture 1: 0.png, 1×1; the picture is at ${path(files[0]!.sha)}]`,
      `[picture 1: 1.png, 2×1; the picture is at ${path(files[1]!.sha)}]`,
      '[picture 1: 2.png, 3×1]',
    ],
  )
  const blind = await handOverPictures(
    { prompt: 'go', files: [last], history: [], steered: [], cwd },
    { name: 'x', takes: undefined, blobs },
  )
  golden(t, blind.prompt, { [cwd]: '<cwd>' })
})

test('text that is typed during a turn is handed over like a prompt', async (t) => {
  const { cwd, blobs, keep, path } = await place(t)
  const ref = await keep(bodies[0])
  const typed = `wait, ${linkedPicture({ number: 4, name: 'a.png', width: 1, height: 1 }, ref)}`
  assert.deepEqual(await handOverTyped(typed, cwd, { name: 'x', takes: {}, blobs }), {
    text: 'wait, [picture 1: a.png, 1×1]',
    pictures: [sent(bodies[0])],
    notes: [],
  })
  const told = await handOverTyped(typed, cwd, { name: 'x', takes: undefined, blobs })
  assert.equal(told.text, `wait, [picture 1: a.png, 1×1; the picture is at ${path(ref.sha)}]`)
})

test('over ACP a picture is a block for an agent that says that it takes pictures, and a note for any other', async (t) => {
  const blobs = memoryStore().blobs('pictures')
  const files = [await blobs.put(bodies[0], 'image/png')]
  for (const takesPictures of [true, false]) {
    await using it = await ground()
    const script = { steps: [{ say: 'Here.' }], takesPictures }
    const turn = { prompt: 'see [picture 1: a.png, 1×1]', files }
    const agent = it.agent(script, {}, 'ask', { blobs })
    const events = await eventsOf(agent, turnOf({ cwd: it.cwd, leash: 'ask', ...turn }))
    await agent.close()
    const [, ...blocks] = (await it.sent()).find(({ method }) => method === 'session/prompt').params.prompt
    const notes = events.flatMap((event) => (event.type === 'note' ? [event.text] : []))
    golden(t, { blocks, notes })
  }
})
