import { test } from 'node:test'
import assert from 'node:assert/strict'
import { InnerWorks } from '../../src/core/work/inner-work.ts'
import { take } from '../../src/core/work/verbs.ts'
import { raceAgent } from '../../src/race/race.ts'
import { raceTable } from '../../src/race/race-report.ts'
import { until } from '../until.ts'
import { drained } from '../core/made.ts'
import { json, thinkingRig } from '../think/rig.ts'
import { chooser, edits, fails, hangs, notesIn, racing, ranks } from './race-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const red = { command: 'npm test', passed: false, evidence: '`npm test` exited with 1' }
const green = { command: 'npm test', passed: true, evidence: '`npm test` exited with 0' }

test('every agent works in its own copy, the checks know what failed before, and the chosen result alone is brought in', async (t) => {
  const rig = racing({
    racers: { claude: edits({ sum: 'right' }, 'mended'), codex: edits({ sum: 'worse' }, 'tried') },
    judge: [ranks('A', 'B')],
  })
  const person = chooser('1')
  const { check } = rig.parts
  rig.parts.check = (...args) => {
    if (rig.checked.length === 0) assert.deepEqual(rig.seats, [], 'no agent works before the untouched copy is checked')
    return check(...args)
  }
  const { result, race, events } = await rig.run({ ask: person.ask })
  assert.deepEqual(rig.checked, ['/copies/0 false', '/copies/1 true', '/copies/2 false'])
  assert.deepEqual(race, {
    type: 'race',
    by: 'termaite',
    request: 'make it right',
    base: '[["sum","wrong"]]',
    before: [red],
    racers: [
      {
        racer: 1,
        agent: 'claude',
        state: 'done',
        files: [{ path: 'sum', added: 1, removed: 1 }],
        tree: '[["sum","right"]]',
        checks: [green],
        // With `random` at 0 the two results swap their places, so that claude's is B.
        judged: { place: 2, why: 'why B' },
        ms: 0,
        tokens: race!.racers[0]!.tokens,
        reply: 'mended',
        folder: '/copies/1',
      },
      {
        racer: 2,
        agent: 'codex',
        state: 'done',
        files: [{ path: 'sum', added: 1, removed: 1 }],
        tree: '[["sum","worse"]]',
        checks: [red],
        judged: { place: 1, why: 'why A' },
        ms: 0,
        tokens: race!.racers[1]!.tokens,
        reply: 'tried',
        folder: '/copies/2',
      },
    ],
    judge: 'judge',
    winner: 1,
    chosen: 1,
  })
  assert.deepEqual([...rig.project], [['sum', 'right']])
  assert.deepEqual(rig.fates, ['/copies/0 dropped', '/copies/1 dropped', '/copies/2 kept'])
  golden(t, notesIn(events))
  const seen = rig.seats.map(({ turns, closed }) => ({ leash: turns[0]!.leash, cwd: turns[0]!.cwd, closed }))
  assert.deepEqual(seen, [
    { leash: 'edit', cwd: '/copies/1', closed: true },
    { leash: 'edit', cwd: '/copies/2', closed: true },
  ])
  assert.equal(result.ok, true)
  golden(t, result.ok ? result.text : '')
})

test('the words of the chosen agent are its reply, so that a later thumb, undo or correction is about that agent', async () => {
  const rig = racing({ racers: { claude: edits({ sum: 'right' }, 'mended'), codex: edits({}) }, apply: true })
  const { events } = await rig.run()
  const replies = events.flatMap((event) => (event.type === 'reply' ? [[event.by, event.text]] : []))
  assert.deepEqual([replies.length, replies[0]], [2, ['claude', 'mended']])
  assert.equal(replies[1]![0], 'termaite')
})

test('the results are kept before anybody chooses, and the card shows all of them with the best one first in hand', async (t) => {
  const rig = racing({
    racers: { claude: edits({ sum: 'right' }), codex: edits({ sum: 'right', more: 'x' }) },
    judge: [ranks('A', 'B')],
  })
  const order: string[] = []
  const { events } = await drained(
    take(
      raceAgent(rig.parts),
      rig.turn({
        ask: async (question) => {
          order.push('asked')
          assert.equal(question.enter, '2')
          assert.equal(question.escape, 'none')
          golden(
            t,
            question.options.map(({ label }) => label),
          )
          assert.deepEqual(question.shows!.slice(1), [
            { type: 'text', text: 'Result 1 (claude):\n-wrong\n+right' },
            { type: 'text', text: 'Result 2 (codex):\n-\n+x\n-wrong\n+right' },
          ])
          return ['none']
        },
      }),
      (event) => void order.push(event.type),
    ),
  )
  assert.deepEqual(
    order.filter((what) => what === 'race' || what === 'asked'),
    ['race', 'asked'],
  )
  assert.deepEqual([...rig.project], [['sum', 'wrong']])
  assert.deepEqual(rig.fates, ['/copies/0 dropped', '/copies/1 kept', '/copies/2 kept'])
  assert.equal(events.filter(({ type }) => type === 'race').length, 1)
})

test('the judge sees letters and changes, and neither names nor what the agents say of their work', async () => {
  const asked: string[] = []
  const mind = thinkingRig({ agents: { claude: [ranks('B', 'A')], judge: [ranks('B', 'A')] } })
  const rig = racing({
    racers: { claude: edits({ sum: 'right' }, 'I am claude'), codex: edits({ sum: 'right', more: 'x' }, 'I am codex') },
    readers: async () => mind.resources,
    random: () => 0.99,
  })
  const { race } = await rig.run()
  asked.push(...mind.told('judge'))
  assert.deepEqual(mind.names(), ['judge'], 'a reader that did not race is asked before one that did')
  assert.equal(asked.length, 1)
  assert.doesNotMatch(asked[0]!, /claude|codex/i)
  assert.match(
    asked[0]!,
    /Before: npm test fails\.[^]*Result A \(npm test passes\):[^]*\+right[^]*Result B \(npm test passes\):[^]*\+x/,
  )
  assert.deepEqual(
    race!.racers.map(({ judged }) => judged),
    [
      { place: 2, why: 'why A' },
      { place: 1, why: 'why B' },
    ],
  )
  assert.equal(race!.winner, 2)
})

test('the words of the judge name the results by number, and an answer that cannot be read is said to be one', async (t) => {
  const racers = { claude: edits({ sum: 'right' }), codex: edits({ sum: 'right', more: 'x' }) }
  const words = {
    best_first: ['B', 'A'].map((label) => ({ label, why: `Result ${label} is smaller than result A, not Z.` })),
  }
  const read = await racing({ racers, judge: [json(words)], random: () => 0.99 }).run()
  assert.deepEqual(
    read.race!.racers.map(({ judged }) => judged?.why),
    ['Result 1 is smaller than result 1, not Z.', 'Result 2 is smaller than result 1, not Z.'],
  )
  const unread = await racing({ racers, judge: [[{ say: 'Both are fine.' }], [{ say: 'Both are fine.' }]] }).run()
  golden(t, notesIn(unread.events))
})

test('checks come before the judge: a result that fails them does not win, whatever the judge says', async () => {
  const rig = racing({
    racers: { claude: edits({ sum: 'worse' }), codex: edits({ sum: 'right' }) },
    judge: [ranks('B', 'A')],
    random: () => 0.99,
  })
  assert.equal((await rig.run()).race!.winner, 2)
})

test('with --yes the winner is brought in without a question; without a right result nothing is', async (t) => {
  const won = racing({
    racers: { claude: edits({ sum: 'worse' }), codex: edits({ sum: 'right' }) },
    judge: [ranks('A', 'B')],
    apply: true,
  })
  const nobody = chooser()
  const { result, race } = await won.run({ ask: nobody.ask })
  assert.deepEqual([nobody.asked, race!.chosen, won.project.get('sum'), result.ok], [[], 2, 'right', true])

  const lost = racing({ racers: { claude: edits({ sum: 'worse' }), codex: edits({ sum: 'bad' }) }, apply: true })
  const none = await lost.run()
  golden(t, none.result)
  assert.deepEqual([none.race!.winner, lost.project.get('sum')], [undefined, 'wrong'])
  golden(t, notesIn(none.events).at(-1))
})

test('when several results pass and none can be judged, none is the best, and the person chooses', async (t) => {
  const rig = racing({
    racers: {
      claude: edits({ sum: 'right' }),
      codex: (files) => {
        files.set('sum', 'right').set('more', 'x')
        return [{ type: 'end', outcome: { ok: true, text: 'done', denials: ['npm install'] } }]
      },
    },
    apply: true,
  })
  const { result, race } = await rig.run()
  assert.deepEqual(
    [race!.winner, race!.racers[1]!.denials, rig.project.get('sum')],
    [undefined, ['npm install'], 'wrong'],
  )
  golden(t, result.ok ? result.text : '')
})

test('without a person and without --yes the winner is named, nothing is brought in, and the way to choose is said', async (t) => {
  const rig = racing({ racers: { claude: edits({ sum: 'right' }), codex: edits({ sum: 'worse' }) } })
  const { result, race } = await rig.run()
  assert.deepEqual([race!.winner, race!.chosen, rig.project.get('sum')], [1, undefined, 'wrong'])
  golden(t, result.ok ? result.text : '')
})

test('--first stops the others once a result is right, and they are rows that say so', async () => {
  const rig = racing({
    racers: { claude: hangs, codex: edits({ sum: 'right' }), own: hangs },
    first: true,
    apply: true,
  })
  const { race } = await rig.run()
  assert.deepEqual(
    race!.racers.map(({ state, why }) => [state, why]),
    [
      ['stopped', undefined],
      ['done', undefined],
      ['stopped', undefined],
    ],
  )
  assert.equal(race!.judge, undefined, 'one result needs no judge')
  assert.deepEqual([race!.winner, race!.chosen], [2, 2])
  assert.deepEqual(
    rig.seats.map(({ running, closed }) => [running, closed]),
    [
      [false, true],
      [false, true],
      [false, true],
    ],
  )
  assert.deepEqual(rig.fates.sort(), [
    '/copies/0 dropped',
    '/copies/1 dropped',
    '/copies/2 dropped',
    '/copies/3 dropped',
  ])
})

test('--first goes on after a wrong result, and after one that changed nothing where the checks passed before', async () => {
  const wrong = racing({ racers: { claude: edits({ sum: 'worse' }), codex: edits({ sum: 'right' }) }, first: true })
  assert.deepEqual(
    (await wrong.run()).race!.racers.map(({ state }) => state),
    ['done', 'done'],
  )
  const idle = racing({ racers: { claude: edits({}), codex: edits({ more: 'x' }) }, passes: () => true, first: true })
  const { race } = await idle.run()
  assert.deepEqual(
    race!.racers.map(({ state, files }) => [state, files.length]),
    [
      ['done', 0],
      ['done', 1],
    ],
  )
  assert.equal(race!.winner, 2)
})

test('agents that fail, are out of quota, ask back or hang are rows that say so, and the one that is left still wins', async (t) => {
  const rig = racing({
    racers: {
      claude: fails('crash', 'it broke'),
      codex: fails('quota', 'the limit is spent', 5_000),
      gemini: () => [{ type: 'end', outcome: { ok: true, text: 'Which?', asks: 'Which?' } }],
      qwen: hangs,
      own: edits({ sum: 'right' }),
    },
    apply: true,
  })
  const run = rig.run()
  await until(() => rig.checked.length === 2)
  await rig.clock.turn(60_000)
  const { race } = await run
  golden(
    t,
    race!.racers.map(({ state, why }) => [state, why]),
  )
  assert.deepEqual([race!.winner, race!.chosen, rig.project.get('sum')], [5, 5, 'right'])
})

test('a race in which no agent comes to an end fails as its agents do, and says when the first of them is back', async (t) => {
  const away = racing({ racers: { claude: fails('quota', 'spent', 9_000), codex: fails('quota', 'spent too', 5_000) } })
  golden(t, (await away.run()).result)
  const broken = racing({ racers: { claude: fails('quota', 'spent'), codex: fails('crash', 'broke') } })
  assert.equal(((await broken.run()).result as { failure: { kind: string } }).failure.kind, 'unmet')
  const refused = racing({ racers: { claude: fails('denied', 'no'), codex: fails('denied', 'no') } })
  assert.equal(((await refused.run()).result as { failure: { kind: string } }).failure.kind, 'denied')
})

test('two results that are the same are said to be so, are judged once, and count as one', async (t) => {
  const rig = racing({ racers: { claude: edits({ sum: 'right' }), codex: edits({ sum: 'right' }) }, apply: true })
  const { race, result, events } = await rig.run()
  assert.deepEqual(
    race!.racers.map(({ sameAs }) => sameAs),
    [undefined, 1],
  )
  assert.deepEqual([race!.winner, race!.judge], [1, undefined])
  golden(t, result.ok ? result.text : '')
  assert.equal(
    notesIn(events).some((text) => text.includes('not judged')),
    false,
  )
})

test('an agent that is named twice races against itself under two numbers', async (t) => {
  let times = 0
  const rig = racing({
    racers: { claude: (files) => edits({ sum: ++times === 1 ? 'worse' : 'right' })(files, undefined!) },
    agents: ['claude', 'claude'],
    apply: true,
  })
  const { race, result } = await rig.run()
  assert.deepEqual([race!.winner, race!.chosen], [2, 2])
  golden(t, result.ok ? result.text : '')
})

test('a tree that changed in the same place is not overwritten: the person is asked again, and nothing is lost', async (t) => {
  const rig = racing({ racers: { claude: edits({ sum: 'right' }), codex: edits({ other: 'x' }) }, passes: null })
  const asked: string[] = []
  const { result } = await rig.run({
    ask: async ({ text, options }) => {
      rig.project.set('sum', 'typed meanwhile')
      asked.push(`${text} [${options.map(({ id }) => id).join(' ')}]`)
      return asked.length === 1 ? ['1'] : ['2']
    },
  })
  golden(t, asked)
  assert.deepEqual(
    [...rig.project],
    [
      ['sum', 'typed meanwhile'],
      ['other', 'x'],
    ],
  )
  assert.equal(result.ok, true)
  assert.deepEqual(rig.fates, ['/copies/0 kept', '/copies/1 dropped'])

  const forced = racing({ racers: { claude: edits({ sum: 'right' }), codex: edits({ other: 'x' }) }, passes: null })
  let times = 0
  await forced.run({
    ask: async () => {
      forced.project.set('sum', 'typed meanwhile')
      return times++ === 0 ? ['1'] : ['over']
    },
  })
  assert.equal(forced.project.get('sum'), 'right')

  const alone = racing({ racers: { claude: edits({ sum: 'right' }), codex: edits({}) }, apply: true })
  const bring = alone.parts.bringIn
  alone.parts.bringIn = async (...args) => {
    alone.project.set('sum', 'typed meanwhile')
    return bring(...args)
  }
  golden(t, (await alone.run()).result)
  assert.deepEqual(alone.fates, ['/copies/0 dropped', '/copies/1 kept', '/copies/2 dropped'])
})

test('cancelling ends every racer and removes every copy, in every phase', async () => {
  for (const phase of ['untouched', 'racing', 'judging', 'choosing'] as const) {
    const stop = new AbortController()
    const rig = racing({
      racers: {
        claude: phase === 'racing' ? hangs : edits({ sum: 'right' }),
        codex: edits({ sum: 'right', more: 'x' }),
      },
      judge: [() => (phase === 'judging' && stop.abort(), [{ hang: true }])],
    })
    if (phase === 'untouched') {
      const { check } = rig.parts
      rig.parts.check = (...args) => (stop.abort(), check(...args))
    }
    const run = rig.run({
      signal: stop.signal,
      ask: async () => {
        stop.abort()
        return undefined
      },
    })
    if (phase === 'racing') {
      await until(() => rig.checked.length === 2)
      stop.abort()
    }
    if (phase === 'choosing') await until(() => rig.checked.length === 3).then(() => rig.clock.turn(400_000))
    const { result } = await run
    assert.deepEqual(result, { ok: false, failure: { kind: 'aborted', message: 'cancelled' } }, phase)
    assert.deepEqual(
      rig.fates.toSorted(),
      [...rig.copies.keys()].map((root) => `${root} dropped`),
      phase,
    )
    assert.equal(
      rig.seats.some(({ running }) => running),
      false,
      phase,
    )
    assert.equal(rig.project.get('sum'), 'wrong', phase)
  }
})

test('a person stops one racer by its role, and the others go on', async () => {
  const inside = new InnerWorks()
  const rig = racing({ racers: { claude: hangs, codex: edits({ sum: 'right' }) }, apply: true })
  const run = rig.run({ inside })
  await until(() => rig.checked.length === 2)
  assert.deepEqual(inside.roles, ['racer 1'])
  await inside.get('racer 1')!.stop()
  const { race } = await run
  assert.deepEqual(
    race!.racers.map(({ state, why }) => [state, why]),
    [
      ['failed', 'you stopped it'],
      ['done', undefined],
    ],
  )
  assert.equal(race!.chosen, 2)
})

test('racers are shown as inner events under their roles, from their start to their end', async () => {
  const rig = racing({ racers: { claude: edits({ sum: 'right' }), codex: fails('crash', 'broke') } })
  const { events } = await rig.run()
  const shown = events.flatMap((event) =>
    event.type === 'inner' ? [[event.role, event.event.type, event.event.by ?? '']] : [],
  )
  const of = (role: string) => shown.filter(([one]) => one === role).map(([, type, by]) => `${type} ${by}`)
  assert.deepEqual(of('untouched copy'), ['state termaite', 'call termaite', 'end termaite'])
  assert.deepEqual(of('racer 1'), [
    'state claude',
    'text claude',
    'reply claude',
    'usage claude',
    'call claude',
    'end claude',
  ])
  assert.deepEqual(of('racer 2'), ['state codex', 'end codex'])
})

test('a request that changes nothing ends with the answers of all agents', async (t) => {
  const rig = racing({
    racers: { claude: edits({}, 'Because of A.'), codex: edits({}, 'Because of s3cret.') },
    passes: null,
  })
  const { result, events } = await rig.run()
  golden(t, result.ok ? result.text : '')
  golden(t, notesIn(events)[1]!)
})

test('a result that takes back the person’s uncommitted work does not win, and changes outside of the copies are told', async (t) => {
  const rig = racing({
    racers: { claude: edits({ sum: 'right' }), codex: edits({ sum: 'worse' }) },
    tree: { mark: async () => 'm', changed: async (mark) => (mark === 'm' ? ['a.txt'] : []) },
    apply: true,
  })
  const { open } = rig.parts.copies
  rig.parts.copies = {
    open: async (signal) => {
      const copy = await open(signal)
      return {
        ...copy,
        changed: async () => ({ ...(await copy.changed()), reverted: ['sum'], notes: ['It made a commit.'] }),
      }
    },
  }
  const { race, events, result } = await rig.run()
  golden(t, [race!.winner, race!.racers[0]!.strays, rig.project.get('sum')])
  golden(t, result)
  golden(t, notesIn(events).slice(2, 5))
})

test('a result with a file from which programs could start by themselves needs a yes, also where the best is brought in unasked', async (t) => {
  const rig = racing({
    racers: { claude: edits({ sum: 'right', '.envrc': 'x' }), codex: edits({ sum: 'worse' }) },
    apply: true,
  })
  const { open } = rig.parts.copies
  rig.parts.copies = {
    open: async (signal) => {
      const copy = await open(signal)
      return { ...copy, changed: async () => ({ ...(await copy.changed()), settings: ['.envrc'] }) }
    },
  }
  const { race, result } = await rig.run()
  golden(t, [race!.winner, race!.racers[0]!.strays, rig.project.get('.envrc')])
  golden(t, result)
})

test('every checked result is a judgement of its agent, and agents that came to no end have none', async () => {
  const rig = racing({
    racers: {
      claude: edits({ sum: 'right' }),
      codex: edits({ sum: 'worse' }),
      own: fails('quota', 'spent'),
      qwen: edits({}),
    },
  })
  const { events } = await rig.run()
  const judged = (agent: string, good: boolean) => ({
    type: 'judgement',
    source: 'race',
    agent,
    good,
    ms: 0,
    by: 'termaite',
  })
  assert.deepEqual(
    events.filter(({ type }) => type === 'judgement'),
    [judged('claude', true), judged('codex', false), judged('qwen', false)],
  )
})

test('the table has a row for the project as it was and one for each racer', async () => {
  const rig = racing({
    racers: {
      claude: edits({ sum: 'right' }),
      codex: edits({ sum: 'right' }),
      own: fails('crash', 'broke'),
      qwen: edits({ sum: 'worse', more: 'x' }),
    },
    judge: [ranks('A', 'B')],
  })
  const { race } = await rig.run()
  const plain = { ...race!, racers: race!.racers.map((one) => ({ ...one, ms: 61_000, tokens: 12_345, cost: 0.456 })) }
  assert.equal(
    raceTable(plain),
    `     agent   changes        checks  judge    time       tokens  cost
     before                 fail
1 *  claude  1 file +1 −1   pass    place 2  1 min 1 s  12k     $0.46
2    codex   the same as 1  pass    place 2  1 min 1 s  12k     $0.46
3    own     no result                       1 min 1 s  12k     $0.46
4    qwen    2 files +2 −1  fail    place 1  1 min 1 s  12k     $0.46`,
  )
})
