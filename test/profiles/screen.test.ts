import { test } from 'node:test'
import assert from 'node:assert/strict'
import { optionKeys } from '../../src/core/talk/consent.ts'
import { read } from '../../src/core/screen/reading.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { askedOf, goldensOf } from '../chat/golden-screens.ts'

/** The state that each recorded scene must be read as; `left` is the output of a program that ended. */
const states: Record<string, 'busy' | 'idle' | 'asking'> = {
  trust: 'asking',
  login: 'asking',
  choice: 'asking',
  ready: 'idle',
  draft: 'idle',
  'busy-at-once': 'busy',
  busy: 'busy',
  stopped: 'idle',
  shell: 'asking',
  done: 'idle',
  edit: 'asking',
  declined: 'idle',
  long: 'idle',
  fault: 'idle',
}

const clis = ['claude', 'gemini', 'codex', 'qwen', 'copilot']
const goldens = clis.flatMap(goldensOf)
const factsOf = (cli: string) => profileNamed(cli)!.screen!
const name = ({ cli, scene, size }: { cli: string; scene: string; size: string }) => `${cli} ${scene} ${size}`

test('every recorded screen is read by its state', () => {
  const known = goldens.filter(({ scene }) => states[scene])
  assert.deepEqual(
    known.map((golden) => {
      const { cli, screen } = golden
      return [name(golden), read({ screen, children: 1, quietMs: 60_000 }, factsOf(cli).reader)]
    }),
    known.map((golden) => [name(golden), { state: states[golden.scene], by: 'pattern' }]),
  )
  for (const cli of clis) {
    const scenes = new Set(goldens.filter((golden) => golden.cli === cli).map(({ scene }) => scene))
    assert.deepEqual(
      ['ready', 'busy', 'shell', 'edit', 'done', 'long', 'fault', 'left'].filter((scene) => !scenes.has(scene)),
      [],
      cli,
    )
  }
})

test('a dialog is a question with the options that it shows, whatever the size', () => {
  const asking = goldens.filter(({ scene }) => states[scene] === 'asking')
  assert.deepEqual(
    asking.map((golden) => [name(golden), factsOf(golden.cli).dialog!(golden.screen)?.question]),
    asking.map((golden) => [name(golden), askedOf(golden)?.question]),
  )
})

test('the keys of a dialog pick the chosen option, and decline it without one', () => {
  const asking = goldens.filter(({ scene }) => states[scene] === 'asking')
  assert.deepEqual(
    asking.map((golden) => {
      const dialog = factsOf(golden.cli).dialog!(golden.screen)!
      const options = dialog.question.options.map(({ id }) => dialog.keys([id]))
      return [name(golden), { options, nothing: dialog.keys(), stranger: dialog.keys(['no such option']) }]
    }),
    asking.map((golden) => {
      const { options, nothing } = askedOf(golden)!.keys
      return [name(golden), { options, nothing, stranger: nothing }]
    }),
  )
})

test('an answer has the number that stands before it on the screen', () => {
  const asking = goldens.filter(({ scene }) => states[scene] === 'asking')
  const numbersOf = ({ cli, screen }: (typeof goldens)[number]) => {
    const { options } = factsOf(cli).dialog!(screen)!.question
    const keys = optionKeys(options)
    const numbered = screen.rows.flatMap((row) => {
      const [, number, words] =
        /^[\s│┃❯›●]*(\d+)\. +(.*?)(?: \((?:[a-z]|esc|Esc to stop|shift\+tab)\))?[\s│┃█]*$/.exec(row) ?? []
      return number === undefined ? [] : [{ number, words: words! }]
    })
    // A label that was folded is longer than its first row.
    const longestFirst = numbered.toSorted((a, b) => b.words.length - a.words.length)
    return options.map(({ label }, at) => {
      const shown = longestFirst.find(({ words }) => label.startsWith(words))?.number
      return { label, shown, key: shown === undefined ? undefined : String(keys[at]) }
    })
  }
  assert.deepEqual(
    asking.map((golden) => [name(golden), numbersOf(golden)]),
    asking.map((golden) => [name(golden), numbersOf(golden).map((one) => ({ ...one, key: one.shown }))]),
  )
  const numbered = asking.filter((golden) => numbersOf(golden).every(({ shown }) => shown !== undefined))
  assert.deepEqual([...new Set(numbered.map(({ cli }) => cli))], clis)
})

test('blanks after a row change nothing', () => {
  const facts = ({ cli, screen }: (typeof goldens)[number]) => {
    const { reader, dialog, composer } = factsOf(cli)
    const ready = reader.ready?.test(screen.rows.join('\n'))
    const reading = read({ screen, children: 1, quietMs: 60_000 }, reader)
    return { reading, ready, question: dialog!(screen)?.question, composer: composer!(screen) }
  }
  const padded = (golden: (typeof goldens)[number]) => {
    const rows = golden.screen.rows.map((row) => row.padEnd(golden.screen.cols))
    return { ...golden, screen: { ...golden.screen, rows } }
  }
  assert.deepEqual(
    goldens.map((golden) => [name(golden), facts(padded(golden))]),
    goldens.map((golden) => [name(golden), facts(golden)]),
  )
})

test('a composer that is shown too early is not ready', () => {
  const seen = goldens.filter(({ scene }) => scene === 'early' || scene === 'ready')
  assert.deepEqual(
    seen.map((golden) => [name(golden), factsOf(golden.cli).reader.ready?.test(golden.screen.rows.join('\n')) ?? true]),
    seen.map((golden) => [name(golden), golden.scene === 'ready']),
  )
  assert.deepEqual(
    [...new Set(seen.filter(({ scene }) => scene === 'early').map(({ cli }) => cli))],
    ['gemini', 'codex'],
  )
})

test('no screen that is not asking has a dialog', () => {
  assert.deepEqual(
    goldens.filter(({ cli, scene, screen }) => states[scene] !== 'asking' && factsOf(cli).dialog!(screen)).map(name),
    [],
  )
})

test('a screen that is drawn by half is never idle while it is busy or asks', () => {
  const wrong = goldens
    .filter(({ scene }) => states[scene] === 'busy' || states[scene] === 'asking')
    .flatMap((golden) => {
      const { rows } = golden.screen
      return rows.map((_, cut) => {
        const screen = { ...golden.screen, rows: [...rows.slice(0, cut), ...rows.slice(cut).map(() => '')] }
        const { state } = read({ screen, children: 1, quietMs: 60_000 }, factsOf(golden.cli).reader)
        return state === 'idle' ? [`${name(golden)} cut at ${cut}`] : []
      })
    })
  assert.deepEqual(wrong.flat(), [])
})

test('a menu is read from its first number, and the keys of one with two-digit numbers walk to the option', () => {
  const { dialog } = factsOf('claude')
  const asked = (numbers: readonly number[], at: number) => {
    const options = numbers.map((number, index) => `${index === at ? '❯' : ' '} ${number}. option ${number}`)
    const rows = ['─'.repeat(60), ' ☐ Number', '', 'Which one?', '', ...options, '', 'Enter to select · Esc to cancel']
    return dialog!({ rows, cols: 80, cursor: { row: 0, col: 0 } })!
  }
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const seen = (numbers: readonly number[], at: number, pick: string) => {
    const { question, keys } = asked(numbers, at)
    return { numbers: optionKeys(question.options), keys: keys([pick]) }
  }
  assert.deepEqual(seen(upTo(9), 0, '9'), { numbers: upTo(9), keys: ['9'] })
  assert.deepEqual(seen(upTo(11), 0, '11'), { numbers: upTo(11), keys: [...Array(10).fill('Down'), 'Enter'] })
  assert.deepEqual(seen(upTo(11), 2, '1'), { numbers: upTo(11), keys: ['Up', 'Up', 'Enter'] })
  for (const at of [0, 1, 2]) assert.deepEqual(seen(upTo(2, 0), at, '0'), { numbers: [0, 1, 2], keys: ['0'] })
})
