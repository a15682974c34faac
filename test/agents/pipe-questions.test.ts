import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Dialect, Step } from '../../src/core/profile/profile.ts'
import type { Question } from '../../src/core/talk/question.ts'
import { HandClock } from '../hand-clock.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { turning } from '../base/alive.ts'
import { testDialect } from './dialect.ts'
import { failureIn, piped, profileOf, running } from './pipe-rig.ts'
import { until } from '../until.ts'

const limit = { timeout: 20_000 }

/** A CLI that talks both ways, in lines; its last word is an `end`. */
function talker(over: Partial<Dialect> = {}) {
  return profileOf({ speaks: () => true, dialect: () => testDialect({ asks: true, ...over }) })
}

const saying = (command: string, over: Partial<Dialect> = {}) => piped({ command, profile: talker(over) })
const question = (text: string): Question => ({
  about: 'permission',
  text,
  from: [],
  options: [{ id: 'yes', label: 'Yes' }],
})
const asks = (text: string, id?: string) =>
  `echo '${JSON.stringify({ type: 'ask', ...(id ? { id } : {}), question: question(text) })}'`
const end = (text: string) => ({ type: 'end', outcome: { ok: true, text } })
const answered = `printf '{"type":"end","outcome":{"ok":true,"text":"%s"}}\\n' "\${said//\\"/}"; cat`

test('several questions are open at once, and each answer goes to stdin as it comes', limit, async () => {
  const first = Promise.withResolvers<string[]>()
  const ask = async ({ text }: Question) => {
    if (text === 'second?') return ['two']
    return first.promise
  }
  const command = `read -r prompt; ${asks('first?')}; ${asks('second?')}
read -r said; echo '{"type":"note","text":"heard"}'; read -r more; said="$said $more"; ${answered}`
  const events = []
  for await (const event of saying(command).turn(turnOf({ ask }))) {
    events.push(event)
    if (event.type === 'note') first.resolve(['one'])
  }
  assert.deepEqual(events.at(-1), end('[two] [one]'))
})

test('a question that the CLI takes back is withdrawn, and not answered', limit, async () => {
  const withdrawn: boolean[] = []
  const ask = (_question: Question, signal: AbortSignal) =>
    new Promise<undefined>((resolve) =>
      signal.addEventListener('abort', () => {
        withdrawn.push(signal.aborted)
        resolve(undefined)
      }),
    )
  const command = `read -r prompt; ${asks('still?', 'q1')}; echo '{"type":"unask","id":"other"}'; echo '{"type":"unask","id":"q1"}'
echo '{"type":"send","text":"go on\\n"}'; read -r said; ${answered}`
  const events = await eventsOf(saying(command), turnOf({ ask }))
  assert.deepEqual([events.at(-1), withdrawn], [end('go on'), [true]])
})

test('a question hides no character, and its time is not the time of the turn', limit, async () => {
  const clock = new HandClock()
  const asked: string[] = []
  const ask = async ({ text }: Question) => {
    asked.push(text)
    await clock.turn(3_600_000)
    return ['yes']
  }
  const events = await eventsOf(
    saying(`read -r prompt; ${asks('rm x\r')}; read -r said; ${answered}`),
    turnOf({ ask, clock }),
  )
  assert.deepEqual([asked, events.at(-1)], [['rm x\\u000d'], end('[yes]')])
})

test('a file that is to be written whole is shown beside its present content', limit, async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'termaite-shown-'))
  try {
    await writeFile(join(cwd, 'here.txt'), 'old\n')
    await writeFile(join(cwd, 'long.txt'), 'x'.repeat(300_000))
    const shows = [
      { type: 'diff', path: 'here.txt', after: 'new\n' },
      { type: 'diff', path: 'nowhere.txt', after: 'new\n' },
      { type: 'diff', path: 'here.txt', before: 'o', after: 'n' },
      { type: 'diff', path: 'long.txt', after: 'new\n' },
      { type: 'command', command: 'ls' },
    ] as const
    const step = { type: 'ask', question: { ...question('write?'), shows } }
    let seen: Question | undefined
    const ask = async (asked: Question) => {
      seen = asked
      return ['yes']
    }
    await eventsOf(
      saying(`read -r prompt; echo '${JSON.stringify(step)}'; read -r said; ${answered}`),
      turnOf({ ask, cwd }),
    )
    assert.deepEqual(seen?.shows, [
      { ...shows[0], before: 'old\n' },
      shows[1],
      shows[2],
      { ...shows[3], before: '[… 300000 bytes …]\n' },
      shows[4],
    ])
  } finally {
    await rm(cwd, { recursive: true })
  }
})

test('text typed during the turn goes to stdin as the dialect wants it, until the last word', limit, async () => {
  const typed = [['left', 'right'], ['back']]
  const ended: boolean[] = []
  const steer = async (over?: AbortSignal) => {
    const texts = typed.shift()
    if (texts) return texts
    await new Promise((resolve) => over?.addEventListener('abort', resolve, { once: true }))
    ended.push(over!.aborted)
    return []
  }
  const ids = new Set<string>()
  const agent = saying(
    `read -r prompt; read -r a; read -r b; read -r c; said="$a $b $c"; printf '{"type":"text","delta":"over"}\\n'; ${answered}`,
    {
      steer: (text, id) => {
        ids.add(id)
        return `<${text}>\n`
      },
    },
  )
  assert.equal(agent.traits.steers, true)
  const events = await eventsOf(agent, turnOf({ steer }))
  assert.deepEqual([events.at(-1), ids.size, ended], [end('<left> <right> <back>'), 3, [true]])
})

test('a CLI that cannot be steered is not asked for typed text', limit, async () => {
  let asked = 0
  const steer = async () => {
    asked++
    return []
  }
  const agent = saying(`read -r prompt; said=done; ${answered}`)
  await eventsOf(agent, turnOf({ steer }))
  assert.deepEqual([agent.traits.steers, asked], [false, 0])
})

test('stdin is closed once the dialect is over', limit, async () => {
  let over = false
  const line = (text: string): Step[] => {
    over ||= text === 'bye'
    return []
  }
  const dialect = { line, over: () => over, end: () => [end('done') as Step] }
  const events = await eventsOf(saying('read -r prompt; echo bye; cat >/dev/null', dialect), turnOf())
  assert.deepEqual(events.at(-1), end('done'))
})

test('a CLI that is told to stop may save its thread before it exits', limit, async () => {
  const abort = new AbortController()
  const command = `read -r prompt; echo '{"type":"text","delta":"at work "}'; read -r said; echo "{\\"type\\":\\"note\\",\\"text\\":\\"$said\\"}"`
  const events = []
  for await (const event of saying(command, { stop: () => 'stop\n' }).turn(turnOf({ signal: abort.signal }))) {
    events.push(event)
    abort.abort()
  }
  assert.deepEqual(
    [events.find(({ type }) => type === 'note'), failureIn(events), await running()],
    [{ type: 'note', text: 'stop' }, { kind: 'aborted', message: 'sayer was cancelled' }, []],
  )
})

test('a CLI that ignores the stop is ended', limit, async () => {
  const clock = new HandClock()
  const abort = new AbortController()
  const agent = saying(`echo '{"type":"text","delta":"at work "}'; sleep 77`, { stop: () => 'stop\n' })
  const turn = eventsOf(agent, turnOf({ clock, signal: abort.signal }))
  await until(async () => (await running()).includes('sleep 77'))
  abort.abort()
  assert.notDeepEqual(await running(), [])
  const events = await turning(clock, turn)
  assert.deepEqual([failureIn(events)?.kind, await running()], ['aborted', []])
})
